/** The seal of the stored requests: keys, their rotation, texts that were changed or moved, and what a reader of the rows finds. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Logger, Redacted } from "effect"
import { Credentials, IdempotencyKey, Money, Payments, PixKey } from "effect-pix"
import { Seal } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createDecipheriv, createHash, randomBytes } from "node:crypto"
import { effect } from "../support/effect.ts"
import { makeWarnings, payout, payouts, startClient, startWorker, world } from "../support/payoutQueue.ts"
import { stateOf } from "../support/payoutSeen.ts"

const bytes = randomBytes(32)
const key = Redacted.make(bytes.toString("base64"))
const other = Redacted.make(randomBytes(32).toString("base64"))
const text = '{"pixKey":"52998224725","description":"São João"}'

const at = (reference: string, account = "default", column: Seal.Place["column"] = "request"): Seal.Place => ({
  account,
  reference,
  column
})

/** The name and the message of the defect of an effect. */
const defectOf = <A>(effect: Effect.Effect<A>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    return error instanceof Error ? ([error.name, error.message] as const) : (["none", ""] as const)
  })

effect("Seal.aesGcm seals with AES-256-GCM under the place, and names its key by a hash", function* () {
  const { open, seal } = yield* Seal.aesGcm(key)
  const sealed = yield* seal(text, at("invoice-1"))
  const [version, id, encoded = ""] = sealed.split(".")
  assert.deepStrictEqual([version, id], ["v1", createHash("sha256").update(bytes).digest("hex").slice(0, 8)])
  const made = Buffer.from(encoded, "base64url")
  const decipher = createDecipheriv("aes-256-gcm", bytes, made.subarray(0, 12))
    .setAAD(Buffer.from('["default","invoice-1","request"]'))
    .setAuthTag(made.subarray(-16))
  assert.strictEqual(decipher.update(made.subarray(12, -16), undefined, "utf8") + decipher.final("utf8"), text)
  assert.strictEqual(yield* open(sealed, at("invoice-1")), text)
  assert.notStrictEqual(yield* seal(text, at("invoice-1")), sealed)
})

effect("a sealed text opens with its own key alone, in its own place, and not where it was changed", function* () {
  const before = yield* Seal.aesGcm(key)
  const after = yield* Seal.aesGcm(other, key)
  const [old, young] = [yield* before.seal(text, at("a")), yield* after.seal(text, at("a"))]
  for (const sealed of [old, young]) assert.strictEqual(yield* after.open(sealed, at("a")), text)
  const [name, message] = yield* defectOf(before.open(young, at("a")))
  assert.strictEqual(name, "UnknownSealKey")
  assert.include(message, young.split(".")[1] ?? "")
  const start = old.lastIndexOf(".") + 1
  const made = Buffer.from(old.slice(start), "base64url")
  const changed = [...made.keys()].map((at) => made.map((byte, index) => (index === at ? byte ^ 1 : byte)))
  for (const broken of [...changed, made.subarray(0, 9)]) {
    const sealed = `${old.slice(0, start)}${Buffer.from(broken).toString("base64url")}`
    assert.strictEqual((yield* defectOf(before.open(sealed, at("a"))))[0], "SealBroken")
  }
  const [moved, words] = yield* defectOf(before.open(old, at("b")))
  assert.strictEqual(moved, "SealBroken")
  assert.notInclude([message, words].join(), Redacted.value(key))
  for (const clear of [text, "", "v1.", old.slice(3)]) {
    const unsealed = yield* defectOf(before.open(clear, at("a")))
    assert.deepStrictEqual(unsealed, ["NotSealed", "The stored text was not sealed by Seal.aesGcm."])
  }
})

effect("who writes to the database moves no payee to another payout, account or column", world, function* () {
  const seal = Seal.aesGcm(key)
  const sql = yield* SqlClient.SqlClient
  const mercado = yield* startClient({ account: "mercado", seal })
  for (const reference of ["moved", "copied"])
    yield* mercado.submit({ reference, amount: Money.centavos(1000), pixKey: PixKey.email("mallory@example.com") })
  const padaria = yield* startClient({ account: "padaria", seal })
  for (const reference of ["moved", "other"]) yield* padaria.submit(payout(reference))
  const requestOf = (account: string, reference: string) =>
    sql`SELECT request FROM effect_pix_payouts WHERE account = ${account} AND reference = ${reference}`
  yield* sql`UPDATE effect_pix_payouts SET request = (${requestOf("mercado", "moved")}) WHERE account = 'padaria' AND reference = 'moved'`
  // One who submits in another account, and inserts his own row again.
  yield* sql`INSERT INTO effect_pix_payouts (account, idempotency_key, reference, amount, request)
    SELECT 'padaria', ${IdempotencyKey.fromReference("payout-account", "padaria/copied")}, reference, amount, request
    FROM effect_pix_payouts WHERE account = 'mercado' AND reference = 'copied'`
  yield* startWorker({ account: "padaria", seal })
  yield* TestClock.adjust("1 minute")
  for (const [reference, state] of [
    ["moved", "accepted Unreadable"],
    ["copied", "accepted Unreadable"],
    ["other", "posted"]
  ] as const)
    // prettier-ignore
    assert.strictEqual(yield* stateOf(padaria, reference), state)
  assert.lengthOf(yield* (yield* Sandbox).withdrawals, 1)
  yield* sql`UPDATE effect_pix_payouts SET payee = request WHERE account = 'padaria' AND reference = 'other'`
  assert.strictEqual((yield* defectOf(Effect.orDie(padaria.payee("other"))))[0], "SealBroken")
})

effect(
  "what a worker's key does not open waits for it, with a line a minute, and is sent with it",
  world,
  function* () {
    const { layer, lines } = makeWarnings((line, { logLevel }) => `${logLevel} ${line}`)
    const client = yield* startClient({ seal: Seal.aesGcm(key) })
    const count = 20
    for (const item of payouts(count)) yield* client.submit(item)
    yield* Effect.scoped(
      Effect.andThen(Effect.provide(startWorker({ seal: Seal.aesGcm(other) }), layer), TestClock.adjust("10 minutes"))
    )
    assert.strictEqual(yield* stateOf(client, "invoice-1"), "accepted Unreadable")
    assert.match(lines[0] ?? "", /^Error The stored request of a payout cannot be opened now \(UnknownSealKey\)/)
    assert.isAtMost(lines.length, 11)
    yield* startWorker({ seal: Seal.aesGcm(other, key) })
    yield* TestClock.adjust("10 minutes")
    assert.lengthOf(yield* (yield* Sandbox).withdrawals, count)
  }
)

effect("a key of a seal is 32 bytes in base64 or in hexadecimal, and is never shown", world, function* () {
  const { seal } = yield* Seal.aesGcm(key)
  const sealed = yield* seal(text, at("a"))
  const hex = bytes.toString("hex")
  for (const form of [hex, hex.toUpperCase(), bytes.toString("base64url"), `${bytes.toString("base64")}\n`]) {
    const { open } = yield* Seal.aesGcm(Redacted.make(form))
    assert.strictEqual(yield* open(sealed, at("a")), text)
  }
  for (const wrong of ["", "senha-secreta", bytes.subarray(1).toString("base64"), `${hex}00`, "é"].map((text) =>
    Redacted.make(text)
  ))
    for (const seal of [Seal.aesGcm(wrong), Seal.aesGcm(key, wrong)])
      assert.strictEqual(
        (yield* Effect.flip(startClient({ seal }))).message,
        "seal has a key that is not 32 bytes, as base64 or as 64 hexadecimal digits"
      )
})

effect("a worker with the key of the docs starts on a sandbox, and on no other gateway", world, function* () {
  const docs = Redacted.make(Buffer.from("0123456789abcdef0123456789abcdef").toString("base64"))
  assert.match(yield* (yield* Seal.aesGcm(docs)).seal(text, at("a")), /^v1\.3eb1bd43\./)
  const start = (account: string, baseUrl: string, seal: ReturnType<typeof Seal.aesGcm>) =>
    startWorker({ account, seal }).pipe(
      Effect.provide(
        Layer.provide(
          Payments.layer({ baseUrl, companyId: 1 }),
          Credentials.layer({ clientId: "client", apiKey: Redacted.make("secret-key") })
        )
      ),
      Effect.scoped
    )
  for (const seal of [Seal.aesGcm(docs), Seal.aesGcm(key, docs)]) {
    const error = yield* Effect.flip(start("a", "https://api.gateway.com.br", seal))
    assert.include(error.message, "seal has the key 3eb1bd43 of the documentation")
  }
  yield* startWorker({ seal: Seal.aesGcm(docs) })
  yield* start("b", "http://127.0.0.1:4010", Seal.aesGcm(docs))
  yield* start("a", "https://api.gateway.com.br", Seal.aesGcm(key))
})

effect("a queue without a seal says at its start that PIX keys and CPFs are stored in clear", world, function* () {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ logLevel, message }) => lines.push(`${logLevel}: ${String(message)}`))])
  for (const seal of [
    undefined,
    Seal.aesGcm(Redacted.make("0".repeat(64))),
    { seal: Effect.succeed, open: Effect.succeed }
  ])
    yield* Effect.provide(startClient({ account: "padaria", seal }), logger)
  assert.deepStrictEqual(lines, [
    "Warn: PayoutQueue: the requests of the account padaria are stored in clear, with the PIX keys and CPFs of their payees. Give the layer the option seal: Seal.aesGcm(key)."
  ])
})
