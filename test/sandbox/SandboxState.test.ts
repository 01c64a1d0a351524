/** What a sandbox stores for its next start (`Sandbox.layerServer` with a `stateFile`). */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Logger, Redacted } from "effect"
import { Sandbox, type SandboxOptions, SandboxStateError } from "effect-pix/sandbox"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { live } from "../support/effect.ts"
import { answer, serveRaw } from "../support/RawServer.ts"
import { ask, keyed, paying, socket } from "../support/doors.ts"

const stateFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "sandbox-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true }))
  ),
  (path) => join(path, "state.json")
)

/** A server on a file, from its start to its end. */
const on = (file: string, options: SandboxOptions = {}) => socket({ ...options, stateFile: file })
const makeId = Effect.map(
  Effect.flatMap(Sandbox, ({ charge }) => charge(2500)),
  ({ transactionId }) => transactionId
)
const pay = ask(paying({}, keyed("k")))

/** Why a server does not start on a file. */
const refusalOf = (file: string) =>
  Effect.map(Effect.flip(Effect.scoped(Effect.provide(Effect.void, on(file)))), (error) => {
    assert.instanceOf(error, SandboxStateError)
    assert.strictEqual(error.file, file)
    return error.problem
  })

describe("a restart", () => {
  live("a restart keeps the ledger, its keys, the credentials, the clock and the targets", function* () {
    const file = yield* stateFile
    const [first, second] = ["http://127.0.0.1:9/first", "http://127.0.0.1:9/second"]
    const before = yield* Effect.gen(function* () {
      const { advance, charge, markPaid, rotateCredentials, transactions, withdrawals } = yield* Sandbox
      yield* charge(700)
      yield* markPaid(yield* makeId, { amount: 2400 })
      const { json } = yield* pay
      yield* Effect.andThen(rotateCredentials, advance("1 hour"))
      return [yield* transactions, yield* withdrawals, json] as const
    }).pipe(Effect.provide(on(file, { balance: 100, webhookUrl: first })))
    assert.deepStrictEqual(readdirSync(dirname(file)), ["state.json"])
    assert.strictEqual(JSON.parse(readFileSync(file, "utf8")).version, 2)
    yield* Effect.gen(function* () {
      const { advance, credentials, transactions, withdrawals } = yield* Sandbox
      const key = Redacted.value((yield* credentials).apiKey)
      assert.strictEqual(key, "sandbox-key-1")
      const again = yield* ask(paying({}, { ...keyed("k"), "x-api-key": key }))
      assert.deepStrictEqual([yield* transactions, yield* withdrawals, again.json], before)
      const seen = { aheadSeconds: 3600, awaited: 700, balance: 1500, stateFile: file, targets: [first, second] }
      assert.deepInclude(yield* (yield* Sandbox).overview, seen)
      yield* advance("23 hours")
      assert.strictEqual((yield* transactions)[0]?.status, "Cancelled")
    }).pipe(Effect.provide(on(file, { balance: 500, webhookUrl: [second, first] })))
  })

  live("a restart answers as the sandbox before it, unless its options say otherwise", function* () {
    const file = yield* stateFile
    const kindOn = (as?: "documented" | "seen") =>
      Effect.gen(function* () {
        const { overview } = yield* Sandbox
        return [(yield* overview).as, (yield* makeId).length]
      }).pipe(Effect.provide(on(file, { as })))
    assert.deepStrictEqual(yield* kindOn(), ["documented", 36])
    assert.notProperty(JSON.parse(readFileSync(file, "utf8")), "as")
    assert.deepStrictEqual(yield* kindOn("seen"), ["seen", 26])
    assert.deepStrictEqual(yield* kindOn(), ["seen", 26])
    assert.deepStrictEqual(yield* kindOn("documented"), ["documented", 36])
  })

  live("a restart sends the webhooks that waited, and not those that were taken", function* () {
    const file = yield* stateFile
    const target = yield* serveRaw(answer(200, ""), answer(500, ""), answer(200, ""))
    const sent = Effect.gen(function* () {
      const { awaitWebhooks, webhooks } = yield* Sandbox
      yield* awaitWebhooks
      return (yield* webhooks).map(({ attempts }) => attempts.map(({ status }) => status))
    })
    const send = Effect.andThen(
      Effect.flatMap(Sandbox, ({ sendWebhook }) => sendWebhook({})),
      sent
    )
    const options = { webhookUrl: `${target.url}/hook` }
    assert.deepStrictEqual(yield* Effect.provide(Effect.andThen(send, send), on(file, options)), [[200], [500]])
    assert.deepStrictEqual(yield* Effect.provide(sent, on(file, options)), [[200], [500, 200]])
    assert.strictEqual(target.requests(), 3)
  })

  live("ids are new at each start and after a reset, unless a seed is given", function* () {
    const twice = Effect.gen(function* () {
      const first = yield* makeId
      yield* (yield* Sandbox).reset
      return [first, yield* makeId]
    })
    const countIn = (...ids: ReadonlyArray<string>) => new Set(ids).size
    assert.strictEqual(countIn(...(yield* Effect.provide(twice, socket())), yield* Effect.provide(makeId, socket())), 3)
    assert.strictEqual(countIn(...(yield* Effect.provide(twice, socket({ seed: "s" })))), 1)
    const [one, other] = yield* Effect.all([stateFile, stateFile])
    for (const file of [one, other]) yield* Effect.provide(makeId, on(file, { seed: "mine" }))
    const next = yield* Effect.provide(makeId, on(one, { seed: "mine" }))
    assert.strictEqual(yield* Effect.provide(makeId, on(other, { seed: "mine" })), next)
  })
})

describe("a state file", () => {
  const texts: ReadonlyArray<readonly [what: string, text: string]> = [
    ["is no JSON", "{"],
    ["is of another version", '{"version":1,"state":{}}'],
    ["is something else", "[]"]
  ]
  live.each(texts)("a state file that %s stops the start, and is not changed", function* ([, text]) {
    const file = yield* stateFile
    writeFileSync(file, text)
    assert.include(yield* refusalOf(file), "is not the state of a sandbox of this version")
    assert.strictEqual(readFileSync(file, "utf8"), text)
    assert.isFalse(existsSync(`${file}.lock`))
  })

  live("a state file that cannot be written or read stops the start", function* () {
    const file = yield* stateFile
    assert.include(yield* refusalOf(join(dirname(file), "missing", "state.json")), "cannot be written: ENOENT")
    assert.include(yield* refusalOf(dirname(file)), "cannot be read: EISDIR")
  })

  live("a state file that is in use stops the start, and is free at the end", function* () {
    const file = yield* stateFile
    const mine = yield* Effect.provide(refusalOf(file), on(file))
    assert.include(mine, `is used by another sandbox, of process ${process.pid}.`)
    writeFileSync(`${file}.lock`, String(process.ppid))
    assert.include(yield* refusalOf(file), `of process ${process.ppid}.`)
    // A lock that was cut off before it named a process, one with our number, and one of a process that does not run.
    for (const left of ["", String(process.pid), String(2 ** 30)]) {
      writeFileSync(`${file}.lock`, left)
      yield* Effect.provide(Effect.void, on(file))
      assert.isFalse(existsSync(`${file}.lock`))
    }
  })

  live("a change that could not be written is logged, and written at the end, if that is possible then", function* () {
    const file = yield* stateFile
    const failed = yield* Deferred.make<void>()
    const logger = Logger.make(() => Deferred.doneUnsafe(failed, Exit.void))
    yield* Effect.gen(function* () {
      mkdirSync(`${file}.next`)
      yield* makeId
      yield* Deferred.await(failed)
      rmSync(`${file}.next`, { recursive: true })
    }).pipe(Effect.provide(Layer.provideMerge(on(file), Logger.layer([logger]))))
    assert.lengthOf(JSON.parse(readFileSync(file, "utf8")).ledger.charges, 1)
  })

  live("a key whose row a person has deleted from the file is answered as one of no row", function* () {
    const file = yield* stateFile
    yield* Effect.provide(pay, on(file, { balance: 1000 }))
    const state = JSON.parse(readFileSync(file, "utf8"))
    writeFileSync(file, JSON.stringify({ ...state, ledger: { ...state.ledger, payouts: [] } }))
    assert.strictEqual((yield* Effect.provide(pay, on(file))).status, 404)
  })
})
