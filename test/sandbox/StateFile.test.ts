/** The file of a sandbox: whose it is, what a start with other options does, and what a kill leaves. */
import { assert, describe } from "@effect/vitest"
import { Sandbox, SandboxOptions, SandboxStateError } from "effect-pix/sandbox"
import { Deferred, Effect, Exit, Layer, Logger } from "effect"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { live } from "../support/effect.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "sandbox-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const served = <A, E>(options: SandboxOptions, use: Effect.Effect<A, E, Sandbox>) =>
  Effect.provide(use, Layer.provide(Layer.fresh(Sandbox.layerServer), Layer.succeed(SandboxOptions, options)))

const steer = (method: string, path: string, body?: unknown) =>
  Effect.flatMap(Sandbox, ({ baseUrl }) =>
    Effect.promise(async () => {
      const sent =
        body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
      return (await fetch(`${baseUrl}/_sandbox${path}`, { method, ...sent })).json()
    })
  )

const createCharge = Effect.map(steer("POST", "/charge", { amount: 2500 }), ({ transactionId }) =>
  String(transactionId)
)

/** No process has this number. */
const nobody = 2 ** 30

describe("a sandbox that starts on its file with other options", () => {
  live(
    "a sandbox on a state file sends webhooks to the addresses of the file and of its options, to each once",
    function* () {
      const stateFile = join(yield* folder, "state.json")
      const [first, second] = ["http://127.0.0.1:9/first", "http://127.0.0.1:9/second"]
      yield* served({ stateFile, webhookUrl: first }, Effect.void)
      const targets = served(
        { stateFile, webhookUrl: [second, first] },
        Effect.map(steer("GET", "/overview"), ({ targets }) => targets)
      )
      assert.deepStrictEqual(yield* targets, [first, second])
      assert.deepStrictEqual(yield* targets, [first, second])
    }
  )

  live("a sandbox on a state file has the balance of the file", function* () {
    const stateFile = join(yield* folder, "state.json")
    yield* served({ stateFile, balance: 100 }, Effect.void)
    const read = Effect.flatMap(Sandbox, ({ balance }) => balance)
    assert.strictEqual(yield* served({ stateFile, balance: 500 }, read), 100)
  })

  live("a sandbox on a state file makes its ids from its own seed", function* () {
    const [one, other] = [join(yield* folder, "state.json"), join(yield* folder, "state.json")]
    yield* served({ stateFile: one, seed: "mine" }, createCharge)
    yield* served({ stateFile: other }, createCharge)
    const second = yield* served({ stateFile: one, seed: "mine" }, createCharge)
    assert.strictEqual(yield* served({ stateFile: other, seed: "mine" }, createCharge), second)
  })
})

describe("a sandbox that was killed", () => {
  live("a killed sandbox never makes the id of a lost charge again", function* () {
    const path = yield* folder
    const stateFile = join(path, "state.json")
    const saved = join(path, "saved.json")
    yield* served({ stateFile }, createCharge)
    copyFileSync(stateFile, saved)
    const lost = yield* served({ stateFile }, createCharge)
    // The file is as the last write before the kill left it, and the lock is still there.
    copyFileSync(saved, stateFile)
    writeFileSync(`${stateFile}.lock`, String(nobody))
    assert.notStrictEqual(yield* served({ stateFile }, createCharge), lost)
  })
})

describe("a state file that another sandbox uses", () => {
  live("a sandbox starts if the lock of its file was cut off before it named a process", function* () {
    const stateFile = join(yield* folder, "state.json")
    writeFileSync(`${stateFile}.lock`, "")
    yield* served({ stateFile }, Effect.void)
    assert.isFalse(existsSync(`${stateFile}.lock`))
  })

  live("a change that could not be written is written at the end, if that is possible then", function* () {
    const stateFile = join(yield* folder, "state.json")
    const failed = yield* Deferred.make<void>()
    const logger = Logger.make(() => Deferred.doneUnsafe(failed, Exit.void))
    const change = Effect.gen(function* () {
      mkdirSync(`${stateFile}.next`)
      yield* createCharge
      yield* Deferred.await(failed)
      rmSync(`${stateFile}.next`, { recursive: true })
    })
    yield* served({ stateFile }, change).pipe(Effect.provide(Logger.layer([logger])))
    const { total } = yield* served({ stateFile }, steer("GET", "/transactions"))
    assert.strictEqual(total, 1)
  })

  live("a state file that is in use stops the start, and is free after the other sandbox ends", function* () {
    const stateFile = join(yield* folder, "state.json")
    const second = served({ stateFile }, Effect.void)
    const error = yield* served({ stateFile }, Effect.flip(second))
    assert.instanceOf(error, SandboxStateError)
    assert.include(error.message, "another sandbox")
    yield* second
    assert.isFalse(existsSync(`${stateFile}.lock`))
  })

  live(
    "a state file that is in use stops the start of another process, and the error has the number of the first",
    function* () {
      const stateFile = join(yield* folder, "state.json")
      writeFileSync(`${stateFile}.lock`, String(process.ppid))
      const error = yield* Effect.flip(served({ stateFile }, Effect.void))
      assert.instanceOf(error, SandboxStateError)
      assert.include(error.message, String(process.ppid))
    }
  )
})
