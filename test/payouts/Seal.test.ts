/** The seal of the stored requests: keys, their rotation, and texts that were changed. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, Redacted } from "effect"
import { Seal } from "effect-pix/payouts"
import { createDecipheriv, createHash, randomBytes } from "node:crypto"
import { effect } from "../support/effect.ts"
import { startClient, world } from "../support/payoutQueue.ts"

const bytes = randomBytes(32)
const key = Redacted.make(bytes.toString("base64"))
const other = Redacted.make(randomBytes(32).toString("base64"))
const text = '{"pixKey":"52998224725","description":"São João"}'

/** The name and the message of the defect of an effect. */
const defectOf = <A>(effect: Effect.Effect<A>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    return error instanceof Error ? ([error.name, error.message] as const) : (["none", ""] as const)
  })

effect("Seal.aesGcm seals with AES-256-GCM under the reference, and names its key by a hash", function* () {
  const { open, seal } = yield* Seal.aesGcm(key)
  const sealed = yield* seal(text, "invoice-1")
  const [version, id, encoded = ""] = sealed.split(".")
  assert.deepStrictEqual([version, id], ["v1", createHash("sha256").update(bytes).digest("hex").slice(0, 8)])
  const made = Buffer.from(encoded, "base64url")
  const decipher = createDecipheriv("aes-256-gcm", bytes, made.subarray(0, 12))
    .setAAD(Buffer.from("invoice-1"))
    .setAuthTag(made.subarray(-16))
  assert.strictEqual(decipher.update(made.subarray(12, -16), undefined, "utf8") + decipher.final("utf8"), text)
  assert.strictEqual(yield* open(sealed, "invoice-1"), text)
  assert.notStrictEqual(yield* seal(text, "invoice-1"), sealed)
})

effect("a sealed text opens with its own key alone, and not where it was changed or moved", function* () {
  const before = yield* Seal.aesGcm(key)
  const after = yield* Seal.aesGcm(other, key)
  const [old, young] = [yield* before.seal(text, "a"), yield* after.seal(text, "a")]
  for (const sealed of [old, young]) assert.strictEqual(yield* after.open(sealed, "a"), text)
  const [name, message] = yield* defectOf(before.open(young, "a"))
  assert.strictEqual(name, "UnknownSealKey")
  assert.include(message, young.split(".")[1] ?? "")
  const start = old.lastIndexOf(".") + 1
  const made = Buffer.from(old.slice(start), "base64url")
  const changed = [...made.keys()].map((at) => made.map((byte, index) => (index === at ? byte ^ 1 : byte)))
  for (const broken of [...changed, made.subarray(0, 9)]) {
    const sealed = `${old.slice(0, start)}${Buffer.from(broken).toString("base64url")}`
    assert.strictEqual((yield* defectOf(before.open(sealed, "a")))[0], "SealBroken")
  }
  const [moved, words] = yield* defectOf(before.open(old, "b"))
  assert.strictEqual(moved, "SealBroken")
  assert.notInclude([message, words].join(), Redacted.value(key))
  for (const clear of [text, "", "v1.", old.slice(3)]) {
    const unsealed = yield* defectOf(before.open(clear, "a"))
    assert.deepStrictEqual(unsealed, ["NotSealed", "The stored text was not sealed by Seal.aesGcm."])
  }
})

effect("a key of a seal is 32 bytes in base64 or in hexadecimal, and is never shown", world, function* () {
  const { seal } = yield* Seal.aesGcm(key)
  const sealed = yield* seal(text, "a")
  const hex = bytes.toString("hex")
  for (const form of [hex, hex.toUpperCase(), bytes.toString("base64url"), `${bytes.toString("base64")}\n`]) {
    const { open } = yield* Seal.aesGcm(Redacted.make(form))
    assert.strictEqual(yield* open(sealed, "a"), text)
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
