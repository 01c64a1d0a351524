/**
 * Where a person's data is in the tables of the queue, how it is sealed, and that it is gone when it should be.
 */
import { assert } from "@effect/vitest"
import { Effect, Option, Redacted, Result, Stream } from "effect"
import { Document, Money, PixKey } from "effect-pix"
import { PayoutInsert, type PayoutItem, PayoutQueue, type PayoutQueueOptions, Payouts, Seal } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import {
  linesOf,
  makeWarnings,
  requests,
  settle,
  startClient,
  startWorker,
  stateOf,
  world
} from "../support/payoutQueue.ts"

/** What a queue may store of a payee, and what only the service writes. */
const marks = { pixKey: "52998224725", description: "Aluguel do apartamento da Beatriz", metadata: "metadado-77120" }
const words = ["zulmira", "quixad", "concei", "mandado", "vara"]
const sentence = "CPF de ZULMIRA DA CONCEICAO QUIXADA, filha de Ana Quixadá, mandado da 2a Vara de Familia"

const payout = (reference: string, amount = 1000): PayoutItem => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.cpf(marks.pixKey),
  description: marks.description,
  metadata: { contract: marks.metadata }
})

/** All that a reader of the tables sees. */
const stored = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    Effect.forEach(
      ["payouts", "payout_history", "payout_accounts", "payout_days"],
      (table) => sql`SELECT * FROM ${sql(`effect_pix_${table}`)}`
    ),
    (rows) => JSON.stringify(rows)
  )
)

const json = (status: number, body: unknown, executed = false) =>
  Fault.answer(status, {
    executed,
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })
/** A record of a withdrawal of ten reais, with these fields too. */
const record = (fields: object) =>
  json(201, { id: 7, companyId: 1, value: 10, enTransaction: "Awaiting", ...fields }, true)
const payee = record({ creditorDocument: marks.pixKey })

/** A worker, whose next requests are answered so. */
const startWith = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault.Fault>, options?: PayoutQueueOptions) {
  yield* (yield* Sandbox).fault("requestWithdrawal", faults)
  return yield* startWorker(options)
})

const answers: ReadonlyArray<readonly [title: string, answer: Fault.Fault]> = [
  ["a 422", json(422, { message: sentence, code: "PIX_BLOCKED" })],
  ["a 422 of plain text", json(422, sentence)],
  ["a 422 whose code is a name", json(422, { message: "Recusado", code: "ZULMIRA" })],
  ["a 422 with details", json(422, { message: "Recusado", errors: [{ detail: sentence, field: "ZULMIRA" }] })],
  ["a 500 whose code is a name", json(500, { error: { code: "Zulmira-Quixada" } })],
  ["a 500", json(500, { message: sentence })],
  ["a 401", json(401, { message: sentence })],
  ["a 403", json(403, { message: sentence })],
  ["a 402 about the balance", json(402, { message: `Saldo insuficiente: ${sentence}` })],
  ["a 409", json(409, { message: `Duplicado: ${sentence}` })],
  ["a 429", json(429, { message: sentence })],
  ["a redirect", Fault.redirect("https://zulmira.example")],
  ["a record of another value", record({ value: 99, enTransaction: "ZULMIRA QUIXADA" })],
  ["a record that says it failed", record({ enTransaction: "Failed", message: sentence, success: false })],
  ["a record whose status is a name of one word", record({ enTransaction: "ZULMIRA" })]
]

effect.each(answers)(
  "no row and no entry has the service's words about a person after %s",
  world,
  function* ([title, answer]) {
    const queue = yield* startWith([answer, Fault.resetAfter, answer])
    for (const reference of ["clean", "doubt"]) {
      yield* queue.submit(payout(reference))
      yield* settle
      if (reference === "doubt") yield* queue.retry(reference)
      yield* settle
      yield* Effect.ignore(queue.park(reference))
      yield* (yield* SqlClient.SqlClient)`UPDATE effect_pix_payout_accounts SET blocked_at = NULL`
      yield* TestClock.adjust("2 seconds")
    }
    assert.strictEqual(yield* requests(), 3)
    const text = (yield* stored).toLowerCase()
    assert.deepStrictEqual(
      words.filter((word) => text.includes(word)),
      []
    )
    if (title === "a 422") assert.include(text, "pix_blocked")
  }
)

const ends: ReadonlyArray<readonly [state: string, set: string]> = [
  ["posted", "withdrawal_id = 7"],
  ["settled", "withdrawal_id = 7"],
  ["failed", "run_by = 'run'"],
  ["refused", "submitted_by = 'ana-operator'"]
]

effect("forget deletes the request, the payee and the check, and leaves the rest", world, function* () {
  const queue = yield* startWith([payee])
  yield* queue.submit(payout("a"))
  yield* settle
  for (const mark of Object.values(marks)) assert.include(yield* stored, mark)
  const status = yield* queue.forget("a", { by: "ana", note: "a request of the holder" })
  assert.deepInclude(status, { state: "posted", amount: Money.centavos(1000), withdrawalId: 7 })
  yield* queue.forget("a", { by: "bia" })
  assert.deepStrictEqual((yield* linesOf(queue, "a")).slice(-2), [
    "Answered Recorded 7 > posted",
    "Forgotten by ana: a request of the holder > posted"
  ])
  // The same reference again, also without its content.
  yield* queue.submit(payout("a"))
  assert.strictEqual((yield* queue.submit({ reference: "a", amount: Money.centavos(1000) })).state, "posted")
  assert.deepInclude(yield* Effect.flip(queue.submit(payout("a", 2000))), {
    _tag: "ReferenceConflict",
    differs: ["amount"]
  })
  assert.isTrue(Option.isNone(yield* queue.payee("a")))
  for (const mark of Object.values(marks)) assert.notInclude(yield* stored, mark)
  assert.strictEqual(yield* requests(), 1)
})

effect("forget is not undone by a later answer, whose payee is not stored", world, function* () {
  const queue = yield* startWith([{ ...payee, wait: 100 }])
  yield* queue.submit(payout("a"))
  yield* settle
  yield* queue.park("a")
  yield* queue.settle("a")
  yield* queue.forget("a")
  yield* TestClock.adjust("1 second")
  assert.deepInclude(Option.getOrThrow(yield* queue.status("a")), { state: "settled", withdrawalId: 7 })
  assert.notInclude(yield* stored, marks.pixKey)
})

effect("a payee is stored sealed, and shown to a person with an entry of who and why", world, function* () {
  const queue = yield* startWith([payee], { seal: Seal.aesGcm(Redacted.make("0".repeat(64))) })
  yield* queue.submit(payout("a"))
  assert.isTrue(Option.isNone(yield* queue.payee("a")))
  yield* queue.await("a")
  const before = yield* stored
  for (const mark of Object.values(marks)) assert.notInclude(before, mark)
  const found = Option.getOrThrow(yield* queue.payee("a"))
  assert.isTrue(Document.matches(found.creditorDocument, Document.cpf(marks.pixKey)))
  assert.strictEqual(yield* stored, before)
  yield* TestClock.adjust("1 hour")
  yield* queue.payee("a", { by: "ana", note: "the holder asked" })
  const history = yield* queue.history("a")
  assert.deepStrictEqual((yield* linesOf(queue, "a")).at(-1), "Shown by ana: the holder asked > posted")
  assert.strictEqual(history.at(-1)?.at.epochMilliseconds, 3_600_000)
  assert.isTrue(Option.isNone(yield* queue.payee("never submitted")))
})

effect("a record is stored without its payee where the seal fails or takes too long, and says so", world, function* () {
  const { layer, lines } = makeWarnings()
  const seal = {
    seal: (text: string, reference: string) =>
      text.includes("creditor")
        ? reference === "a"
          ? Effect.die("no key service")
          : Effect.never
        : Effect.succeed(text),
    open: Effect.succeed
  }
  const queue = yield* Effect.provide(startWith([payee, payee], { seal }), layer)
  for (const reference of ["a", "b"]) yield* queue.submit(payout(reference))
  yield* TestClock.adjust("6 seconds")
  for (const reference of ["a", "b"]) {
    assert.deepInclude(Option.getOrThrow(yield* queue.status(reference)), { state: "posted", withdrawalId: 7 })
    assert.isTrue(Option.isNone(yield* queue.payee(reference)))
  }
  assert.lengthOf(
    lines.filter((line) => line.startsWith("The payee of a record could not be sealed")),
    2
  )
})

const mismatches = [
  [
    "another PIX key parks the payout and stops no other",
    { pixKey: "carlos@example.com", creditorDocument: "11144477735" },
    false
  ],
  ["another company parks the payout and pauses the account", { companyId: 2 }, true]
] as const
effect.each(mismatches)(
  "a record for %s, with its doubt and a line that names nobody",
  world,
  function* ([, fields, isPaused]) {
    const { layer, lines } = makeWarnings()
    const queue = yield* Effect.provide(startWith([Fault.none, record(fields)]), layer)
    for (const reference of ["first", "wrong", "next"]) {
      yield* queue.submit(payout(reference))
      yield* settle
    }
    yield* TestClock.adjust("1 minute")
    const states = yield* Effect.forEach(["first", "wrong", "next"], (reference) => stateOf(queue, reference))
    assert.deepStrictEqual(states, ["posted", "parked OtherPayee", isPaused ? "accepted" : "posted"])
    assert.include((yield* linesOf(queue, "wrong")).at(-1), "parked, may have left")
    assert.strictEqual(yield* queue.isPaused, isPaused)
    const { lastPause } = yield* queue.account
    assert.deepStrictEqual(
      [lastPause?.paused, lastPause?.note?.includes("another company")],
      isPaused ? [true, true] : [undefined, undefined]
    )
    const line = lines.find((text) => text.startsWith("The service recorded a payout for")) ?? ""
    assert.include(line, "MONEY MAY HAVE MOVED")
    assert.include(line, isPaused ? "another company" : "another PIX key")
    assert.notInclude([lines.join(), yield* stored].join(), "carlos")
  }
)

effect("the end of a record leaves its key and state, so that the reference is never new again", world, function* () {
  const sql = yield* SqlClient.SqlClient
  yield* TestClock.adjust("1 second")
  const queue = yield* startClient()
  yield* queue.submitMany([...ends.map(([state]) => payout(state)), payout("young"), payout("waiting")])
  for (const [state, set] of ends) {
    yield* queue.park(state, { by: "ana-operator", note: "a note" })
    yield* sql.unsafe(
      `UPDATE effect_pix_payouts SET state = '${state}', payee = 'x', sends = 2, ${set} WHERE reference = '${state}'`
    )
  }
  yield* TestClock.adjust("2 hours")
  yield* sql`UPDATE effect_pix_payouts SET state = 'posted', updated_at = 7201000 WHERE reference = 'young'`
  yield* queue.setPaused(true)
  // A worker forgets when it starts, and every hour.
  yield* startWorker({ forget: { record: "1 hour" } })
  yield* settle
  const rows = yield* sql`SELECT * FROM effect_pix_payouts WHERE amount IS NULL ORDER BY state`
  assert.deepStrictEqual(
    rows.map((row) => row["state"]),
    ["failed", "posted", "refused", "settled"]
  )
  const left = rows.flatMap((row) =>
    Object.entries(row)
      .filter(([, value]) => value !== null && value !== "" && value !== 0)
      .map(([column]) => column)
  )
  assert.deepStrictEqual(
    new Set(left),
    new Set(["account", "idempotency_key", "state", "due_at", "submitted_at", "updated_at", "version"])
  )
  for (const text of ["ana-operator", "a note"]) assert.notInclude(yield* stored, text)
  // Nobody sees it, and nothing makes a new payout of it.
  assert.deepStrictEqual((yield* Stream.runCollect(queue.list())).map(({ reference }) => reference).toSorted(), [
    "waiting",
    "young"
  ])
  for (const [state] of ends) {
    assert.isTrue(Option.isNone(yield* queue.status(state)))
    assert.deepStrictEqual(yield* queue.history(state), [])
    for (const step of [queue.retry(state), queue.forget(state), queue.await(state)])
      assert.strictEqual((yield* Effect.flip<unknown, { readonly _tag: string }, never>(step))._tag, "PayoutNotFound")
    const again = yield* Effect.flip(queue.submit(payout(state, 5000)))
    assert.deepStrictEqual(
      again._tag === "InvalidRequest" &&
        again.issues.map(({ path, problem }) => [path, problem.includes(`(${state})`)]),
      [["reference", true]]
    )
    const { parameters, text } = Result.getOrThrow(PayoutInsert.make(payout(state), { dialect: "sqlite" }))
    yield* sql.unsafe(text, parameters)
  }
  const sheet = [payout("new", 7000), payout("posted")]
  const many = yield* Effect.flip(queue.submitMany(sheet))
  assert.deepStrictEqual(
    many._tag === "PayoutsNotAccepted" && many.wrong.map(({ error, index }) => [index, error._tag]),
    [[1, "InvalidRequest"]]
  )
  const { stored: known, wrong } = yield* Effect.provideService(Payouts.plan(sheet), PayoutQueue, queue)
  assert.deepStrictEqual([wrong.map(({ reference }) => reference), known], [["posted"], []])
  assert.strictEqual(
    (yield* Effect.flip(Effect.provideService(Payouts.run(sheet), PayoutQueue, queue)))._tag,
    "PayoutsNotAccepted"
  )
  yield* queue.setPaused(false)
  yield* TestClock.adjust("5 seconds")
  assert.strictEqual(yield* requests(), 1)
  assert.isTrue(Option.isNone(yield* queue.status("new")))
})

effect("a request is forgotten after its time, and its reference is remembered longer", world, function* () {
  const queue = yield* startWorker({ forget: { data: "90 minutes" } })
  yield* queue.submit(payout("a"))
  yield* TestClock.adjust("1 hour")
  assert.include(yield* stored, marks.pixKey)
  yield* TestClock.adjust("1 hour")
  assert.notInclude(yield* stored, marks.pixKey)
  assert.strictEqual((yield* queue.submit(payout("a"))).state, "posted")
  for (const other of [payout("a", 3000), { ...payout("a"), description: "another" }])
    assert.strictEqual((yield* Effect.flip(queue.submit(other)))._tag, "ReferenceConflict")
})

const key = Redacted.make("0".repeat(64))
const earlier = Redacted.make("1".repeat(64))

effect("a queue pays what it or another program sealed, also under an earlier key", world, function* () {
  const queue = yield* startWorker({ seal: Seal.aesGcm(key, earlier) })
  const sql = yield* SqlClient.SqlClient
  yield* queue.submit(payout("submitted"))
  const insert = yield* PayoutInsert.makeSealed(payout("inserted"), {
    dialect: "sqlite",
    seal: yield* Seal.aesGcm(earlier)
  })
  yield* sql.unsafe(insert.text, insert.parameters)
  assert.lengthOf(yield* sql`SELECT 1 FROM effect_pix_payouts WHERE request LIKE 'v1.%'`, 2)
  yield* queue.submit(payout("inserted"))
  yield* queue.await("submitted")
  // The queue polls for rows of other programs.
  yield* TestClock.adjust("2 seconds")
  assert.strictEqual((yield* queue.await("inserted")).state, "posted")
  for (const mark of Object.values(marks)) assert.notInclude(yield* stored, mark)
})
