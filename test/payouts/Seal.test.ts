/** The seal of the stored requests: keys, their rotation, and texts that were changed. */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted } from "effect"
import { ConfigurationError } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutInsert, PayoutQueue, Seal } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { createDecipheriv, createHash, randomBytes } from "node:crypto"
import { gateway, payout } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

const bytes = randomBytes(32)
const key = Redacted.make(bytes.toString("base64"))
const other = Redacted.make(randomBytes(32).toString("base64"))
const text = '{"pixKey":"52998224725","description":"São João"}'

/** The name and the message of the defect of an effect. */
const defectOf = <A>(effect: Effect.Effect<A>) =>
  Effect.map(Effect.exit(effect), (exit) => {
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    return error instanceof Error ? [error.name, error.message] : ["none", ""]
  })

describe("Seal.aesGcm", () => {
  effect("seals with AES-256-GCM under the reference, and names its key by the first digits of its hash", function* () {
    const { open, seal } = yield* Seal.aesGcm(key)
    const sealed = yield* seal(text, "invoice-1")
    const [version, id, encoded = ""] = sealed.split(".")
    assert.deepStrictEqual([version, id], ["v1", createHash("sha256").update(bytes).digest("hex").slice(0, 8)])
    const stored = Buffer.from(encoded, "base64url")
    const decipher = createDecipheriv("aes-256-gcm", bytes, stored.subarray(0, 12))
      .setAAD(Buffer.from("invoice-1"))
      .setAuthTag(stored.subarray(-16))
    assert.strictEqual(decipher.update(stored.subarray(12, -16), undefined, "utf8") + decipher.final("utf8"), text)
    assert.strictEqual(yield* open(sealed, "invoice-1"), text)
    assert.notStrictEqual(yield* seal(text, "invoice-1"), sealed)
  })

  effect(
    "a text opens with the key that sealed it, also after another key came, and the first key seals",
    function* () {
      const before = yield* Seal.aesGcm(key)
      const after = yield* Seal.aesGcm(other, key)
      const old = yield* before.seal(text, "a")
      const young = yield* after.seal(text, "a")
      assert.strictEqual(yield* after.open(old, "a"), text)
      assert.strictEqual(yield* after.open(young, "a"), text)
      const [name, message] = yield* defectOf(before.open(young, "a"))
      assert.strictEqual(name, "UnknownSealKey")
      assert.include(message, young.split(".")[1])
      assert.notInclude(message, Redacted.value(key))
    }
  )

  effect(
    "no changed text opens, no other reference opens a text, and clear text is not taken for sealed",
    function* () {
      const { open, seal } = yield* Seal.aesGcm(key)
      const sealed = yield* seal(text, "invoice-1")
      const start = sealed.lastIndexOf(".") + 1
      const stored = Buffer.from(sealed.slice(start), "base64url")
      for (const at of stored.keys()) {
        const changed = Buffer.from(stored)
        changed[at] = (changed[at] ?? 0) ^ 1
        const broken = `${sealed.slice(0, start)}${changed.toString("base64url")}`
        assert.strictEqual((yield* defectOf(open(broken, "invoice-1")))[0], "SealBroken")
      }
      const [name, message] = yield* defectOf(open(sealed, "invoice-2"))
      assert.strictEqual(name, "SealBroken")
      assert.notInclude(message, "52998224725")
      assert.strictEqual((yield* defectOf(open(sealed.slice(0, start + 9), "invoice-1")))[0], "SealBroken")
      for (const clear of [text, "", "v1.", sealed.slice(3)])
        assert.strictEqual((yield* defectOf(open(clear, "invoice-1")))[0], "NotSealed")
    }
  )

  effect(
    "a key is 32 bytes in base64 of either alphabet, or in hexadecimal; another one is never shown",
    NodeSqlite.layer({ filename: ":memory:" }),
    function* () {
      const { seal } = yield* Seal.aesGcm(key)
      const sealed = yield* seal(text, "a")
      const forms = [
        bytes.toString("hex"),
        bytes.toString("hex").toUpperCase(),
        bytes.toString("base64url"),
        `${bytes.toString("base64")}\n`
      ]
      for (const form of forms) {
        const { open } = yield* Seal.aesGcm(Redacted.make(form))
        assert.strictEqual(yield* open(sealed, "a"), text)
      }
      for (const wrong of [
        "",
        "senha-secreta",
        bytes.subarray(1).toString("base64"),
        `${bytes.toString("hex")}00`,
        "é"
      ]) {
        for (const made of [Seal.aesGcm(Redacted.make(wrong)), Seal.aesGcm(key, Redacted.make(wrong))]) {
          const error = yield* Effect.flip(made)
          assert.instanceOf(error, ConfigurationError)
          assert.strictEqual(
            error.message,
            "seal has a key that is not 32 bytes, as base64 or as 64 hexadecimal digits"
          )
        }
      }
      const layer = PayoutQueue.layerClient({ seal: Seal.aesGcm(Redacted.make("senha-secreta")) })
      const error = yield* Effect.flip(Layer.build(layer))
      assert.strictEqual(error._tag, "ConfigurationError")
    }
  )

  effect(
    "a queue pays what it sealed, and what another program inserted sealed, and nothing of it is in clear",
    PayoutQueue.layer({ seal: Seal.aesGcm(other, key) }).pipe(
      Layer.provideMerge(gateway),
      Layer.provideMerge(NodeSqlite.layer({ filename: ":memory:" }))
    ),
    function* () {
      const queue = yield* PayoutQueue
      const sql = yield* SqlClient.SqlClient
      yield* queue.submit(payout("submitted"))
      const seal = yield* Seal.aesGcm(key)
      const insert = yield* PayoutInsert.makeSealed(payout("inserted"), { dialect: "sqlite", seal })
      yield* sql.unsafe(insert.text, insert.parameters)
      const rows = yield* sql<{ readonly request: string }>`SELECT * FROM effect_pix_payouts`
      assert.lengthOf(
        rows.filter(({ request }) => request.startsWith("v1.")),
        2
      )
      assert.notInclude(JSON.stringify(rows), "maria")
      assert.strictEqual((yield* queue.await("submitted")).state, "posted")
      yield* queue.submit(payout("inserted"))
      // The queue polls for rows of other programs.
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* queue.await("inserted")).state, "posted")
    }
  )
})
