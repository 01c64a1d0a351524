/**
 * Where a person's data is in the tables of the queue, and that it is gone when it should be: of the words of the service, after
 * `forget`, and after `forget.record`, on SQLite and on PostgreSQL.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Option, Redacted, Result, Schedule, type Scope, Stream } from "effect"
import { Document, Money, PaymentsPolicy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import {
  PayoutInsert,
  type PayoutItem,
  PayoutQueue,
  type PayoutQueueOptions,
  Payouts,
  type PayoutStatus,
  Seal
} from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeBank, type Misbehaviour } from "../support/bank.ts"
import { databases } from "../support/database.ts"
import { effect, live } from "../support/effect.ts"

const tables = [
  "effect_pix_payouts",
  "effect_pix_payout_history",
  "effect_pix_payout_accounts",
  "effect_pix_payout_days"
] as const

/** All that a reader of the tables sees. */
const stored = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    Effect.forEach(tables, (table) => sql`SELECT * FROM ${sql(table)}`),
    (rows) => JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
  )
)

/** What a queue may store of a payee, and what only the service writes. */
const marks = { pixKey: "52998224725", description: "Aluguel do apartamento da Beatriz", metadata: "metadado-77120" }
const words = ["ZULMIRA", "Quixad", "CONCEI", "mandado", "Vara"]
const sentence = "CPF de ZULMIRA DA CONCEICAO QUIXADA, filha de Ana Quixadá, mandado da 2a Vara de Familia"

const payout = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.cpf(marks.pixKey),
  description: marks.description,
  metadata: { contract: marks.metadata }
})

const fast: PayoutQueueOptions = { poll: "20 millis", lease: "2 seconds", drain: "100 millis" }

/** A queue at a bank that answers so; `layer` may be built again for another process. */
const queueAt = (decide: Parameters<typeof makeBank>[0], options: PayoutQueueOptions = {}) =>
  Effect.gen(function* () {
    const bank = makeBank(decide)
    const sql = yield* SqlClient.SqlClient
    const layerOf = (more: PayoutQueueOptions) =>
      PayoutQueue.layer({ ...fast, ...options, ...more }).pipe(
        Layer.provide([
          bank.makeClient("client-a").layer,
          PaymentsPolicy.layer(PaymentsPolicy.once),
          Layer.succeed(SqlClient.SqlClient, sql)
        ])
      )
    const queue = Context.get(yield* Layer.build(layerOf({})), PayoutQueue)
    const until = (reference: string, isSo: (status: PayoutStatus) => boolean) =>
      Effect.repeat(Effect.map(queue.status(reference), Option.getOrThrow), {
        until: (status) => isSo(status),
        schedule: Schedule.spaced("10 millis")
      })
    return { bank, layerOf, queue, sql, until }
  })

const posted = ({ state }: PayoutStatus) => state === "posted"
const refusal: Misbehaviour = { status: 422, body: { message: sentence, code: "PIX_BLOCKED" } }
const tagsOf = (queue: PayoutQueue["Service"], reference: string) =>
  Effect.map(queue.history(reference), (changes) => changes.map(({ _tag }) => _tag))

const answers: Record<string, Misbehaviour> = {
  "a 422": refusal,
  "a 422 of plain text": { status: 422, body: sentence },
  "a 422 whose code is a sentence": { status: 422, body: { message: sentence, code: sentence.replaceAll(" ", ":") } },
  "a 422 whose code is a name": { status: 422, body: { message: "Recusado", code: "ZULMIRA" } },
  "a 500 whose code is a name": { status: 500, body: { error: { code: "Zulmira-Quixada" } } },
  "a 422 with details": {
    status: 422,
    body: { message: "Recusado", errors: [{ detail: sentence, field: "ZULMIRA" }] }
  },
  "a 403": { status: 403, body: { message: sentence } },
  "a 402 about the balance": { status: 402, body: { message: `Saldo insuficiente: ${sentence}` } },
  "a 409": { status: 409, body: { message: `Duplicado: ${sentence}` } },
  "a 429": { status: 429, body: { message: sentence } },
  "a 500": { status: 500, body: { message: sentence } },
  "a success about another value": { status: 201, body: { id: 7, value: 99, enTransaction: "ZULMIRA QUIXADA" } },
  "a success that says it failed": {
    status: 201,
    body: { id: 7, value: 10, enTransaction: "Failed", message: sentence, success: false }
  },
  "a record whose status is a name": { status: 201, body: { id: 7, value: 10, enTransaction: "ZULMIRA QUIXADA" } },
  "a record whose status is a name of one word": { status: 201, body: { id: 7, value: 10, enTransaction: "ZULMIRA" } }
}

/** After one of these, one payout is tried at a time. */
const ofAll: Record<string, Misbehaviour> = {
  "a 401": { status: 401, body: { message: sentence } },
  "a redirect": { status: 307, body: { message: sentence }, headers: { location: "https://zulmira.example" } }
}

const kinds = [
  ["what it answers about one payout", Object.entries(answers)],
  ...Object.entries(ofAll).map(([title, answer]) => [title, [[title, answer]]] as const)
] as const

for (const { client, dialect, name, skip } of databases) {
  const test = (title: string, effect: Effect.Effect<void, unknown, SqlClient.SqlClient | Scope.Scope>) =>
    it.live.skipIf(skip)(title, () => effect.pipe(Effect.scoped, Effect.provide(Layer.fresh(client()))))

  describe(`what the service says, on ${name}`, () => {
    for (const [kind, list] of kinds) {
      test(
        `is in no row and in no entry of the history, also in doubt: ${kind}`,
        Effect.gen(function* () {
          const asked = new Set<string>()
          const { queue, until } = yield* queueAt(({ amount, key }) => {
            const isLost = amount >= 2000 && !asked.has(key)
            asked.add(key)
            return isLost ? "lose the answer" : list[amount % 1000]?.[1]
          })
          for (const base of [1000, 2000]) {
            const items = list.map(([title], index) => payout(`${title} ${base}`, base + index))
            yield* queue.submitMany(items)
            for (const { reference } of items) {
              if (base === 2000) {
                yield* until(reference, ({ state }) => state !== "accepted")
                yield* Effect.ignore(queue.retry(reference))
              }
              const isAnswered = Effect.map(
                queue.history(reference),
                (changes) => changes.filter(({ _tag }) => _tag === "Answered").length >= base / 1000
              )
              yield* Effect.repeat(isAnswered, { until: (is) => is, schedule: Schedule.spaced("10 millis") })
              yield* Effect.ignore(queue.park(reference))
              // A company that is not that of the account pauses it.
              yield* queue.setPaused(false)
            }
          }
          const text = (yield* stored).toLowerCase()
          assert.deepStrictEqual(
            words.filter((word) => text.includes(word.toLowerCase())),
            []
          )
          for (const [title] of list.filter(([title]) => title === "a 422")) {
            const answered = (yield* queue.history(`${title} 1000`)).find(({ _tag }) => _tag === "Answered")
            assert(answered?._tag === "Answered" && answered.error?._tag === "RequestRejected")
            assert.deepInclude(answered.error, { status: 422, serviceCode: "PIX_BLOCKED" })
          }
        })
      )
    }
  })

  describe(`forget of a payout on ${name}`, () => {
    test(
      "deletes the request, the payee and the check at once; the amount, the state and the history stay, with who and why",
      Effect.gen(function* () {
        const { bank, queue, sql, until } = yield* queueAt(({ key }) => ({
          status: 201,
          body: { id: 7, idempotencyKey: key, value: 10, enTransaction: "Awaiting", creditorDocument: marks.pixKey }
        }))
        yield* queue.submit(payout("a"))
        yield* until("a", posted)
        assert.isTrue(Option.isSome(yield* queue.payee("a")))
        assert.include(yield* stored, marks.pixKey)
        const status = yield* queue.forget("a", { by: "ana", note: "a request of the holder" })
        assert.deepInclude(status, { state: "posted", amount: Money.centavos(1000), withdrawalId: 7 })
        const text = yield* stored
        for (const mark of Object.values(marks)) assert.notInclude(text, mark)
        const [row] = yield* sql`SELECT request, payee, request_check FROM effect_pix_payouts`
        assert.deepStrictEqual({ ...row }, { request: null, payee: null, request_check: "" })
        assert.isTrue(Option.isNone(yield* queue.payee("a")))
        assert.deepInclude((yield* queue.history("a")).at(-1), {
          _tag: "Forgotten",
          state: "posted",
          by: "ana",
          note: "a request of the holder"
        })
        // Again, and the same reference again.
        yield* queue.forget("a", { by: "bia" })
        assert.deepStrictEqual(yield* tagsOf(queue, "a"), ["Submitted", "Marked", "Answered", "Forgotten"])
        assert.strictEqual((yield* queue.submit(payout("a"))).state, "posted")
        assert.strictEqual((yield* queue.submit({ reference: "a", amount: Money.centavos(1000) })).state, "posted")
        const other = yield* Effect.flip(queue.submit(payout("a", 2000)))
        assert.deepInclude(other, { _tag: "ReferenceConflict", differs: ["amount"] })
        assert.lengthOf(bank.received, 1)
        assert.notInclude(yield* stored, marks.pixKey)
      })
    )

    test(
      "is refused while the payout may still be sent or is in doubt or waits for a person, and done in each other state",
      Effect.gen(function* () {
        const { queue, until } = yield* queueAt(({ amount }) =>
          amount === 3000 ? refusal : amount === 4000 ? "lose the answer" : undefined
        )
        const refusalOf = (reference: string) =>
          Effect.flip(queue.forget(reference)).pipe(
            Effect.map((error) => (error._tag === "PayoutStateConflict" ? error.message : error._tag))
          )
        yield* queue.submit(payout("posted"))
        yield* until("posted", posted)
        yield* queue.submit(payout("refused", 3000))
        yield* until("refused", ({ state }) => state === "refused")
        yield* queue.submit(payout("unknown", 4000))
        yield* until("unknown", ({ state }) => state === "unknown")
        yield* queue.setPaused(true)
        yield* queue.submit(payout("accepted"))
        for (const as of ["parked", "settled", "failed"] as const) {
          yield* queue.submit(payout(as))
          yield* queue.park(as)
          if (as !== "parked") yield* queue.settle(as, { as })
        }
        const before = yield* stored
        for (const reference of ["accepted", "unknown"]) {
          assert.strictEqual(
            yield* refusalOf(reference),
            `forget changed nothing: the payout ${reference} is ${reference}. It may still be sent. Park it, settle it when you know how it ended, and then forget it.`
          )
        }
        assert.match(yield* refusalOf("parked"), /is parked\. It waits for a person: settle it/)
        assert.strictEqual(yield* refusalOf("nobody's"), "PayoutNotFound")
        const wrong = yield* Effect.flip(queue.forget("posted", { by: " " }))
        assert.strictEqual(wrong._tag, "InvalidRequest")
        assert.strictEqual(yield* stored, before)
        for (const state of ["posted", "settled", "failed", "refused"] as const)
          assert.strictEqual((yield* queue.forget(state)).state, state)
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql<{ reference: string }>`SELECT reference FROM effect_pix_payouts
          WHERE request IS NOT NULL OR request_check <> '' ORDER BY reference`
        assert.deepStrictEqual(
          left.map(({ reference }) => reference),
          ["accepted", "parked", "unknown"]
        )
      })
    )

    test(
      "leaves a refused one that no step sends: retry and resume say that its request was deleted",
      Effect.gen(function* () {
        const { bank, queue, until } = yield* queueAt(() => refusal)
        yield* queue.submit(payout("a"))
        yield* until("a", ({ state }) => state === "refused")
        yield* queue.forget("a")
        const retried = yield* Effect.flip(queue.retry("a"))
        assert.strictEqual(
          retried._tag === "PayoutStateConflict" && retried.problem,
          "Its request was deleted, so it cannot be sent."
        )
        yield* queue.park("a")
        const resumed = yield* Effect.flip(queue.resume("a"))
        assert.include(resumed._tag === "PayoutStateConflict" ? resumed.problem : "", "Its request was deleted")
        assert.strictEqual((yield* queue.settle("a", { as: "failed" })).state, "failed")
        assert.lengthOf(bank.received, 1)
      })
    )

    test(
      "is not undone by an answer that comes later: its record is stored without the payee",
      Effect.gen(function* () {
        let begin = () => {}
        const begun = new Promise<void>((done) => (begin = done))
        let answer = () => {}
        const answered = new Promise<void>((done) => (answer = done))
        const { queue, until } = yield* queueAt(
          ({ key }) => ({
            status: 201,
            body: { id: 7, idempotencyKey: key, value: 10, enTransaction: "Awaiting", creditorDocument: marks.pixKey }
          }),
          {
            seal: {
              // The payee of the record is sealed before it is stored.
              seal: (text) =>
                text.includes("creditorDocument")
                  ? Effect.as(
                      Effect.promise(() => (begin(), answered)),
                      text
                    )
                  : Effect.succeed(text),
              open: Effect.succeed
            }
          }
        )
        yield* queue.submit(payout("a"))
        yield* Effect.promise(() => begun)
        yield* queue.park("a")
        yield* queue.settle("a")
        yield* queue.forget("a")
        answer()
        yield* until("a", (status) => "withdrawalId" in status)
        assert.notInclude(yield* stored, marks.pixKey)
        assert.isTrue(Option.isNone(yield* queue.payee("a")))
      })
    )

    test(
      "a payee that is shown is an entry of who was shown it, which changes nothing else; a program that reads it leaves none",
      Effect.gen(function* () {
        const { queue, sql, until } = yield* queueAt(({ key }) => ({
          status: 201,
          body: { id: 7, idempotencyKey: key, value: 10, enTransaction: "Awaiting", creditorDocument: marks.pixKey }
        }))
        yield* queue.submit(payout("a"))
        const { updatedAt } = yield* until("a", posted)
        const before = yield* sql`SELECT * FROM effect_pix_payouts`
        const payee = Option.getOrThrow(yield* queue.payee("a"))
        assert.isTrue(Document.matches(payee.creditorDocument, Document.cpf(marks.pixKey)))
        assert.deepStrictEqual(yield* tagsOf(queue, "a"), ["Submitted", "Marked", "Answered"])
        yield* queue.payee("a", { by: "ana", note: "the holder asked" })
        const last = (yield* queue.history("a")).at(-1)
        assert.deepInclude(last, { _tag: "Shown", state: "posted", by: "ana", note: "the holder asked" })
        assert.isAtLeast(last?.at.epochMilliseconds ?? 0, updatedAt.epochMilliseconds)
        assert.deepStrictEqual(yield* sql`SELECT * FROM effect_pix_payouts`, before)
        assert.strictEqual((yield* Effect.flip(queue.payee("a", { by: "" })))._tag, "InvalidRequest")
      })
    )
  })

  describe(`the end of a record on ${name}`, () => {
    test(
      "leaves the account, the key, the state and times, so that the reference is never new again",
      Effect.gen(function* () {
        const { bank, layerOf, queue, sql, until } = yield* queueAt(({ amount }) =>
          amount === 3000 ? refusal : undefined
        )
        for (const [reference, amount] of [
          ["old", 1000],
          ["young", 1000],
          ["refused", 3000]
        ] as const) {
          yield* queue.submit(payout(reference, amount))
          yield* until(reference, ({ state }) => state === "posted" || state === "refused")
        }
        yield* queue.settle("old", { by: "ana-operator", note: "a note" })
        yield* queue.setPaused(true)
        yield* Effect.sleep("1 millis")
        yield* queue.submit(payout("waiting"))
        yield* queue.submit(payout("parked"))
        yield* queue.park("parked")
        yield* sql`UPDATE effect_pix_payouts SET submitted_at = submitted_at - 7200000, updated_at = updated_at - 7200000
          WHERE reference <> 'young'`
        // A worker forgets when it starts, and every hour.
        yield* Layer.build(Layer.fresh(layerOf({ forget: { record: "1 hour" } })))
        yield* Effect.repeat(sql`SELECT 1 FROM effect_pix_payouts WHERE amount IS NULL`, {
          until: ({ length }) => length === 2,
          schedule: Schedule.spaced("10 millis")
        })
        const rows = yield* sql`SELECT * FROM effect_pix_payouts WHERE amount IS NULL ORDER BY state`
        const kept = new Set([
          "account",
          "idempotency_key",
          "state",
          "due_at",
          "taken_by",
          "submitted_at",
          "updated_at",
          "version"
        ])
        for (const row of rows) {
          const left = Object.entries(row).filter(
            ([column, value]) => !kept.has(column) && value !== null && value !== "" && Number(value) !== 0
          )
          assert.deepStrictEqual(
            left.map(([column]) => column).filter((column) => column !== "tries"),
            []
          )
        }
        assert.deepStrictEqual(
          rows.map(({ state }) => state),
          ["refused", "settled"]
        )
        const text = yield* stored
        assert.notInclude(text, "ana-operator")
        assert.notInclude(text, "a note")

        // Nobody sees it.
        const listed = yield* Stream.runCollect(queue.list())
        assert.deepStrictEqual(listed.map(({ reference }) => reference).toSorted(), ["parked", "waiting", "young"])
        assert.lengthOf(yield* Stream.runCollect(queue.list({ state: "refused" })), 0)
        assert.isTrue(Option.isNone(yield* queue.status("old")))
        assert.isTrue(Option.isNone(yield* queue.payee("old")))
        assert.deepStrictEqual(yield* queue.history("old"), [])
        for (const step of [queue.retry, queue.park, queue.resume, queue.settle, queue.forget, queue.await])
          assert.strictEqual(
            (yield* Effect.flip<unknown, { readonly _tag: string }, never>(step("old")))._tag,
            "PayoutNotFound"
          )

        // Nothing makes a new payout of it.
        const problem =
          "is that of an earlier payout (settled), whose record was deleted: a reference is never new again"
        const once = yield* Effect.flip(queue.submit(payout("old")))
        assert.deepStrictEqual(once._tag === "InvalidRequest" && once.issues, [{ path: "reference", problem }])
        const other = yield* Effect.flip(queue.submit(payout("refused", 5000)))
        assert.include(other.message, "an earlier payout (refused)")
        const many = yield* Effect.flip(queue.submitMany([payout("new"), payout("old")]))
        assert.deepStrictEqual(
          many._tag === "PayoutsNotAccepted" && many.wrong.map(({ error, index }) => [index, error._tag]),
          [[1, "InvalidRequest"]]
        )
        const sheet = [payout("new", 7000), payout("old")]
        const plan = yield* Effect.provideService(Payouts.plan(sheet), PayoutQueue, queue)
        assert.deepStrictEqual([plan.wrong.map(({ reference }) => reference), plan.stored], [["old"], []])
        const run = yield* Effect.flip(Effect.provideService(Payouts.run(sheet), PayoutQueue, queue))
        assert.strictEqual(run._tag, "PayoutsNotAccepted")
        const insert = Result.getOrThrow(PayoutInsert.make(payout("old"), { dialect }))
        yield* sql.unsafe(insert.text, insert.parameters)
        yield* queue.setPaused(false)
        yield* until("waiting", posted)
        assert.isTrue(Option.isNone(yield* queue.status("old")))
        assert.isTrue(Option.isNone(yield* queue.status("new")))
        assert.lengthOf(bank.received, 4)
        assert.isAbove((yield* tagsOf(queue, "young")).length, 1)
      })
    )
  })
}

/** A SQLite file in a folder of its own. */
const file = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-personal-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "payouts.db")
)

const bytesOf = (path: string) =>
  ["", "-wal", "-shm", "-lock"]
    .map((suffix) => `${path}${suffix}`)
    .filter((one) => existsSync(one))
    .map((one) => readFileSync(one, "latin1"))
    .join("\n")

/** 60 payouts with data of their own, so that pages of the tables are split. */
const many = Array.from({ length: 60 }, (_, index) => ({
  ...payout(`invoice-${index}`, 1000 + index),
  description: `${marks.description} ${index} ${"de novo ".repeat(index)}`
}))

const forgetAll = (queue: PayoutQueue["Service"]) =>
  Effect.gen(function* () {
    yield* queue.submitMany(many)
    for (const { reference } of many) {
      yield* queue.await(reference)
      yield* queue.forget(reference, { by: "ana" })
    }
  })

/** The planted texts that some bytes hold, as they are written in UTF-8. */
const foundIn = (bytes: string) =>
  [...Object.values(marks), ...words].filter((mark) => bytes.includes(Buffer.from(mark).toString("latin1")))

const record = ({ amount, key }: { readonly amount: number; readonly key: string }): Misbehaviour =>
  amount % 3 === 0
    ? refusal
    : {
        status: 201,
        body: {
          id: amount,
          idempotencyKey: key,
          value: amount / 100,
          enTransaction: "Awaiting",
          creditorDocument: marks.pixKey
        }
      }

describe("the raw bytes of a database", () => {
  live(
    "a SQLite file and its log have nothing of a payee after forget, VACUUM and a checkpoint, and no name before",
    function* () {
      const path = yield* file
      yield* Effect.gen(function* () {
        const { queue, sql } = yield* queueAt(record)
        yield* queue.submit(payout("waits"))
        yield* queue.await("waits")
        assert.deepStrictEqual(foundIn(bytesOf(path)), Object.values(marks))
        yield* queue.forget("waits")
        yield* forgetAll(queue)
        yield* sql`VACUUM`
        yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
        assert.deepStrictEqual(foundIn(bytesOf(path)), [])
        assert.include(bytesOf(path), "invoice-59")
      }).pipe(Effect.scoped, Effect.provide(NodeSqlite.layer({ filename: path })))
    }
  )

  const pg = databases[1]
  live.skipIf(pg.skip)(
    "the files of PostgreSQL's tables have nothing of a payee after forget, VACUUM FULL and a checkpoint, and no name before",
    pg.client(),
    function* () {
      const { queue, sql } = yield* queueAt(record)
      const files = Effect.gen(function* () {
        yield* sql`CHECKPOINT`
        const rows = yield* sql<{ readonly bytes: Uint8Array }>`
            SELECT pg_read_binary_file(pg_relation_filepath(oid)) AS bytes FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')
              OR oid IN (SELECT reltoastrelid FROM pg_class WHERE relname LIKE 'effect_pix_%')`
        return rows.map(({ bytes }) => Buffer.from(bytes).toString("latin1")).join("\n")
      })
      yield* queue.submit(payout("waits"))
      yield* queue.await("waits")
      assert.deepStrictEqual(foundIn(yield* files), Object.values(marks))
      yield* queue.forget("waits")
      yield* forgetAll(queue)
      yield* sql`VACUUM FULL effect_pix_payouts`
      yield* sql`VACUUM FULL effect_pix_payout_history`
      const after = yield* files
      assert.deepStrictEqual(foundIn(after), [])
      assert.include(after, "invoice-59")
    }
  )
})

describe("a queue without a seal", () => {
  effect(
    "says at its start that PIX keys and CPFs are stored in clear, and with a seal of any kind it does not",
    NodeSqlite.layer({ filename: ":memory:" }),
    function* () {
      const linesOf = Effect.fnUntraced(function* (options: PayoutQueueOptions) {
        const lines: Array<string> = []
        const logger = Logger.layer([
          Logger.make(({ logLevel, message }) => lines.push(`${logLevel}: ${String(message)}`))
        ])
        yield* Layer.build(Layer.fresh(PayoutQueue.layerClient(options))).pipe(Effect.scoped, Effect.provide(logger))
        return lines
      })
      assert.deepStrictEqual(yield* linesOf({ account: "padaria" }), [
        "Warn: PayoutQueue: the requests of the account padaria are stored in clear, with the PIX keys and CPFs of their payees. Give the layer the option seal: Seal.aesGcm(key)."
      ])
      assert.deepStrictEqual(yield* linesOf({ seal: Seal.aesGcm(Redacted.make("0".repeat(64))) }), [])
      assert.deepStrictEqual(yield* linesOf({ seal: { seal: Effect.succeed, open: Effect.succeed } }), [])
    }
  )
})
