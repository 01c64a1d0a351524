/**
 * Where a person's data is in the tables of the queue, how it is sealed, and that it is gone when it should be.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, Option, Redacted, References } from "effect"
import { Document, Money, PixKey } from "effect-pix"
import { type PayoutItem, type PayoutQueueOptions, Seal } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { seenWorld, startConfirming } from "../support/confirming.ts"
import { effect } from "../support/effect.ts"
import { keyOf, makeWarnings, settle, startWorker, world } from "../support/payoutQueue.ts"
import { linesOf, requests, stateOf } from "../support/payoutSeen.ts"
import { insertPayout } from "../support/submitSql.ts"

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

effect("no row and no entry has the service's words about a person, whatever it answers", world, function* () {
  const answers = [
    json(422, { message: sentence, code: "PIX_BLOCKED" }),
    json(422, { message: "Recusado", code: "ZULMIRA", errors: [{ detail: sentence, field: "ZULMIRA" }] }),
    json(500, sentence),
    json(402, { message: `Saldo insuficiente: ${sentence}` }),
    json(409, { message: `Duplicado: ${sentence}` }),
    Fault.redirect("https://zulmira.example"),
    record({ value: 99, enTransaction: "ZULMIRA QUIXADA" }),
    record({ enTransaction: "Failed", message: sentence, success: false }),
    record({ enTransaction: "ZULMIRA-CONCEICAO 2" })
  ]
  const queue = yield* startWith(answers.flatMap((answer) => [answer, Fault.resetAfter, answer]))
  const sql = yield* SqlClient.SqlClient
  for (const index of answers.keys()) {
    for (const [reference, times] of [
      [`clean-${index}`, 1],
      [`in-doubt-${index}`, 2]
    ] as const) {
      yield* queue.submit(payout(reference))
      yield* settle
      if (times === 2) yield* Effect.andThen(queue.retry(reference), settle)
      assert.strictEqual(yield* requests(reference), times)
      yield* Effect.ignore(queue.park(reference))
      // Another payout is tried at once.
      yield* sql`UPDATE effect_pix_payout_accounts SET next_at = NULL, held_at = NULL, held_because = NULL, refusals = 0, suspects = NULL`
      yield* TestClock.adjust("2 seconds")
    }
  }
  const text = (yield* stored).toLowerCase()
  assert.include(text, "pix_blocked")
  for (const word of words) assert.notInclude(text, word)
})

const confirmingLines: Array<string> = []
const confirmingLogs = Logger.layer([
  Logger.make(({ fiber, message }) => {
    confirmingLines.push(`${String(message)} ${JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))}`)
  })
])
effect(
  "no row, entry or line has what a lookup or a webhook says of a person",
  Layer.merge(seenWorld, confirmingLogs),
  function* () {
    const queue = yield* startConfirming(
      {},
      (get) => (id) =>
        Effect.map(get(id), (detail) => ({
          ...detail,
          pixKey: id === 1 ? "zulmira@example.com" : marks.pixKey,
          description: sentence,
          providerEndToEndId: sentence,
          providerErrorDescription: sentence,
          providerStatus: sentence,
          enTransaction: id === 2 ? "ZULMIRA QUIXADA" : "Failure"
        }))
    )
    for (const reference of ["other", "unlisted", "failed"]) yield* queue.submit(payout(reference))
    yield* settle
    for (const withdrawalId of [1, 2, 3]) {
      for (const status of ["ZULMIRA QUIXADA", `Falha: ${sentence}`]) {
        assert.isTrue(Option.isSome(yield* queue.hint({ withdrawalId, status, endToEndId: sentence })))
      }
    }
    yield* TestClock.adjust("2 minutes")
    assert.deepStrictEqual(
      yield* Effect.forEach(["other", "unlisted", "failed"], (reference) => stateOf(queue, reference)),
      ["posted", "posted", "failed"]
    )
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE effect_pix_payouts SET request = NULL, payee = NULL`
    const text = `${yield* stored} ${confirmingLines.join(" ")}`.toLowerCase()
    assert.include(text, "shows another one: pixkey")
    for (const word of [...words, marks.pixKey, "@example"]) assert.notInclude(text, word)
  }
)

effect("forget deletes the request, the payee and the check, and leaves the rest", world, function* () {
  const queue = yield* startWith([payee])
  yield* queue.submit(payout("a"))
  yield* settle
  assert.include(yield* stored, marks.metadata)
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

effect("a payee is stored sealed, and opened by its reference, which writes nothing", world, function* () {
  const queue = yield* startWith([payee], { seal: Seal.aesGcm(Redacted.make("0".repeat(64))) })
  yield* queue.submit(payout("a"))
  assert.isTrue(Option.isNone(yield* queue.payee("a")))
  yield* queue.await("a")
  const before = yield* stored
  for (const mark of Object.values(marks)) assert.notInclude(before, mark)
  const found = Option.getOrThrow(yield* queue.payee("a"))
  assert.isTrue(Document.matches(found.creditorDocument, Document.cpf(marks.pixKey)))
  assert.strictEqual(yield* stored, before)
  assert.isTrue(Option.isNone(yield* queue.payee("never submitted")))
})

const refused = "Conta encerrada"
const detail = "Conta de ZULMIRA QUIXADA"
const shownReason = "Conta encerrada; Conta de [redacted]"
const reasons = [
  ["a refusal", json(422, { message: refused, detail }), "refused"],
  [
    "a record of its failure",
    record({ idempotencyKey: keyOf("a"), enTransaction: "Failure", providerErrorDescription: refused, detail }),
    "failed"
  ],
  [
    "a record with another word for failure",
    record({ enTransaction: "Failed", message: refused, detail }),
    "parked SeeRecord"
  ]
] as const

effect.each(
  reasons.flatMap(
    (row) =>
      [
        [...row, undefined],
        [...row, Seal.aesGcm(Redacted.make("0".repeat(64)))]
      ] as const
  )
)(
  "the reason of %s is in the worker's line without a name, and in the row only where it is sealed",
  world,
  function* ([, answer, state, seal]) {
    const { layer, lines } = makeWarnings()
    const queue = yield* Effect.provide(startWith([answer], { seal }), layer)
    yield* queue.submit(payout("a"))
    yield* queue.await("a")
    assert.strictEqual(yield* stateOf(queue, "a"), state)
    assert.include(lines.join(), `The service said: "${shownReason}"`)
    for (const text of [lines.join(), yield* stored])
      for (const word of words) assert.notInclude(text.toLowerCase(), word)
    assert.notInclude(yield* stored, "encerrada")
    const found = yield* queue.payee("a")
    assert.strictEqual(Option.getOrUndefined(found)?.reason, seal === undefined ? undefined : shownReason)
    if (state === "parked SeeRecord") {
      yield* TestClock.adjust("3 minutes")
      yield* queue.settle("a", { as: "failed" })
    }
    assert.strictEqual(Option.isSome(yield* queue.payee("a")), seal !== undefined)
    yield* queue.forget("a")
    assert.isTrue(Option.isNone(yield* queue.payee("a")))
  }
)

effect("a record is stored without its payee where the seal fails or takes too long, and says so", world, function* () {
  const { layer, lines } = makeWarnings((line, { logLevel }) => `${logLevel} ${line}`)
  const seal: Seal.Seal = {
    seal: (text, { reference }) =>
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
  assert.match(lines.join("\n"), /^Error The payee of a record could not be sealed/m)
  yield* TestClock.adjust("1 minute")
  assert.match(lines.join("\n"), /^Error 1 more payout\(s\) .* have data that could not be sealed/m)
})

effect.each([
  ["another PIX key", "stops no other", "posted", { pixKey: "carlos@example.com", creditorDocument: "11144477735" }],
  ["another company", "pauses the account", "accepted Paused", { companyId: 2 }]
] as const)(
  "a record for %s parks its payout with its doubt, and %s; a line says so and names nobody",
  world,
  function* ([other, , next, fields]) {
    const { layer, lines } = makeWarnings()
    const queue = yield* Effect.provide(startWith([Fault.none, record(fields)]), layer)
    for (const reference of ["first", "wrong", "next"]) yield* Effect.andThen(queue.submit(payout(reference)), settle)
    yield* TestClock.adjust("1 minute")
    const states = yield* Effect.forEach(["first", "wrong", "next"], (reference) => stateOf(queue, reference))
    assert.deepStrictEqual(states, ["posted", "parked SeeRecord", next])
    assert.include((yield* linesOf(queue, "wrong")).at(-1), "parked, may have left")
    const { lastPause, paused } = yield* queue.account
    assert.deepStrictEqual(
      [paused, lastPause?.note?.includes(other)],
      next === "posted" ? [false, undefined] : [true, true]
    )
    assert.match(lines.join(), new RegExp(`The service recorded a payout for ${other} .*MONEY MAY HAVE MOVED`))
    assert.notInclude([lines.join(), yield* stored].join(), "carlos")
  }
)

effect("a request is forgotten after its time, and its reference is remembered longer", world, function* () {
  const queue = yield* startWorker({ forget: { data: "90 minutes" } })
  yield* queue.submit(payout("a"))
  yield* TestClock.adjust("1 hour")
  assert.include(yield* stored, marks.pixKey)
  yield* TestClock.adjust("1 hour")
  assert.notInclude(yield* stored, marks.pixKey)
  assert.strictEqual((yield* queue.submit(payout("a"))).state, "posted")
  assert.strictEqual((yield* Effect.flip(queue.submit(payout("a", 5000))))._tag, "ReferenceConflict")
})

const key = Redacted.make("0".repeat(64))
const earlier = Redacted.make("1".repeat(64))

effect("a queue pays what it or another program sealed, also under an earlier key", world, function* () {
  const queue = yield* startWorker({ seal: Seal.aesGcm(key, earlier) })
  const sql = yield* SqlClient.SqlClient
  yield* queue.submit(payout("submitted"))
  const other = yield* Seal.aesGcm(earlier)
  yield* insertPayout(payout("inserted"), (request) =>
    other.seal(request, { account: "default", reference: "inserted", column: "request" })
  )
  assert.lengthOf(yield* sql`SELECT 1 FROM effect_pix_payouts WHERE request LIKE 'v1.%'`, 2)
  yield* queue.submit(payout("inserted"))
  yield* queue.await("submitted")
  // The queue polls for rows of other programs.
  yield* TestClock.adjust("2 seconds")
  assert.strictEqual((yield* queue.await("inserted")).state, "posted")
  for (const mark of Object.values(marks)) assert.notInclude(yield* stored, mark)
})
