/**
 * Several accounts on one database: whose payouts they are, and under which client id they are sent.
 */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import type { PayoutQueueOptions } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { effect } from "../support/effect.ts"
import {
  makeWarnings,
  memory,
  pass,
  payout,
  payouts,
  settle,
  startClient,
  startWorker
} from "../support/payoutQueue.ts"
import { linesOf, stateOf } from "../support/payoutSeen.ts"
import { oneAttempt } from "../support/policies.ts"

/** A gateway of one client id of one company, and a client of it that may know the company, and whose credentials may change. */
const makeGateway = Effect.fnUntraced(function* (
  clientId: "client-a" | "client-b",
  options: {
    readonly isKnown?: boolean
    readonly baseUrl?: string
    /** Whether a program makes a copy of the client with a method of its own. */
    readonly isDecorated?: boolean
    /** Runs at each read of the credentials, and may name another client id from then on. */
    readonly onRead?: (read: number) => string | undefined
  } = {}
) {
  const companyId = clientId === "client-a" ? 1 : 2
  const settings = Layer.succeed(SandboxOptions, { clientId, companyId, balance: 10_000_000 })
  const context = yield* Layer.build(Layer.fresh(Layer.provide(Sandbox.layer, settings)))
  const sandbox = Context.get(context, Sandbox)
  let current = yield* sandbox.credentials
  let reads = 0
  const credentials = Effect.sync(() => {
    const other = options.onRead?.(++reads)
    if (other !== undefined) current = { ...current, clientId: other }
    return current
  })
  const payments = Payments.layer({
    baseUrl: options.baseUrl ?? "https://sandbox.example",
    ...(options.isKnown !== false && { companyId })
  }).pipe(
    Layer.provide([
      Layer.succeedContext(context),
      Layer.succeed(Credentials, { current: credentials, reload: () => Effect.succeed(false) }),
      IdempotencyKeyGen.layer
    ])
  )
  const made = Layer.effect(
    Payments,
    Effect.map(Payments, (client) => {
      const requestWithdrawal: typeof client.requestWithdrawal = (...given) => client.requestWithdrawal(...given)
      return options.isDecorated === true ? Payments.of({ ...client, requestWithdrawal }) : client
    })
  )
  /** A worker that sends with this client, until its scope closes. */
  const start = (queue?: PayoutQueueOptions) =>
    Effect.provide(startWorker(queue), Layer.fresh(Layer.provideMerge(made, payments)))
  /** The client has these credentials from now on. */
  const use = (changed: Partial<typeof current>) => void (current = { ...current, ...changed })
  return { sandbox, start, use }
})

const base = Layer.merge(memory, PaymentsPolicy.layer(oneAttempt))
type Gateway = Effect.Success<ReturnType<typeof makeGateway>>

const requestsOf = ({ sandbox }: Gateway) => Effect.map(sandbox.requests, ({ length }) => length)
const paidBy = ({ sandbox }: Gateway) =>
  Effect.map(sandbox.withdrawals, (all) =>
    all.map(({ amount, idempotencyKey }) => `${amount} ${idempotencyKey?.split("_")[0]}`)
  )
/** The fingerprint that a worker shows when it does not start. */
const shownBy = ({ message }: Error) => /than those of this worker \(([0-9a-f]{40})\)/.exec(message)?.[1] ?? ""
const lose = ({ sandbox }: Gateway, times = 1) => sandbox.fault("requestWithdrawal", Fault.resetAfter, { times })

effect("two accounts have their own payouts, keys, pause, history, cap and client id", base, function* () {
  const [a, b] = [yield* makeGateway("client-a"), yield* makeGateway("client-b")]
  const shops = yield* a.start({ account: "shops", dailyCap: 1000 })
  const ours = yield* b.start({ dailyCap: 2000 })
  yield* shops.setPaused(true, { by: "ana", note: "a wrong sheet" })
  for (const queue of [shops, ours]) yield* queue.submitMany(payouts(2, queue === ours ? 2000 : 1000))
  yield* TestClock.adjust("10 seconds")
  assert.deepStrictEqual([yield* requestsOf(a), yield* requestsOf(b)], [0, 1])
  yield* shops.setPaused(false)
  yield* TestClock.adjust("10 seconds")
  assert.deepStrictEqual(yield* paidBy(a), ["1000 payout-account"])
  assert.deepStrictEqual(yield* paidBy(b), ["2000 payout"])
  assert.isFalse((yield* shops.account).lastPause?.paused)
  assert.isUndefined((yield* ours.account).lastPause)
  for (const queue of [shops, ours]) {
    const changes = yield* Effect.forEach(payouts(2), ({ reference }) => queue.history(reference))
    assert.lengthOf(changes.flat(), 4)
  }
})

effect("a second account of one sender is refused, and has not been served", base, function* () {
  const a = yield* makeGateway("client-a")
  yield* a.start({ account: "shops" })
  const error = yield* Effect.flip(a.start({ account: "outlet" }))
  assert.include(error.message, "those of the account shops")
  const outlet = yield* startClient({ account: "outlet" })
  const { fingerprint, servedAt } = yield* outlet.account
  assert.deepStrictEqual([fingerprint, servedAt], [undefined, undefined])
  const shops = yield* (yield* startClient({ account: "shops" })).account
  const taken = yield* Effect.flip(outlet.changeSender(shops.fingerprint ?? ""))
  assert.include(taken.message, "is that of the account shops")
})

effect("two accounts of one company, and an account that no worker serves, are named", base, function* () {
  const { layer, lines } = makeWarnings(
    (line, { fiber }) => `${String(fiber.getRef(References.CurrentLogAnnotations)["payments.account"])}: ${line}`
  )
  yield* Effect.gen(function* () {
    const a = yield* makeGateway("client-a", { isKnown: false })
    const shops = yield* a.start({ account: "shops" })
    yield* shops.submit(payout("invoice-1"))
    yield* settle
    a.use(yield* a.sandbox.rotateCredentials)
    const outlet = yield* a.start({ account: "outlet" })
    yield* outlet.submit(payout("invoice-1"))
    yield* settle
    assert.deepStrictEqual(lines, ["outlet: The accounts outlet and shops are paid by one company."])
    yield* (yield* startClient({ account: "shosp" })).submitMany(payouts(3))
    yield* pass(6)
    assert.include(lines[1], "shosp: Payouts are submitted to the account shosp, which no worker ever served.")
  }).pipe(Effect.scoped, Effect.provide(layer))
})

effect("the key of a reference differs in each account, and never changes", base, function* () {
  const keys = yield* Effect.forEach([undefined, "a", "a.b", "A", "b"], (account) =>
    Effect.flatMap(startClient({ account }), ({ submit }) =>
      Effect.forEach(["b", "a/b", "a.b", "payout-account", "b/c", "a/b/c"], (reference) =>
        Effect.map(submit(payout(reference)), ({ idempotencyKey }) => idempotencyKey)
      )
    )
  )
  assert.strictEqual(new Set(keys.flat()).size, 30)
  // Frozen: with another key the service would pay again.
  const frozen = "payout-account_4f62575fce831d212295a51591ed5cc307863c5a"
  assert.strictEqual(keys[1]?.[0], frozen)
})

effect("the name of an account has no slash, space or accent, and at most 32 letters", base, function* () {
  for (const account of ["", "a/b", " a", "ação", "-a", "x".repeat(33)]) {
    const error = yield* Effect.flip(startClient({ account }))
    assert.strictEqual(error._tag === "ConfigurationError" && error.settings[0]?.setting, "account")
  }
  yield* startClient({ account: "x".repeat(32) })
})

effect.each([
  ["client id and company", "client-b", {}],
  ["client id and company, whose Payments is decorated,", "client-b", { isDecorated: true }],
  ["base URL", "client-a", { baseUrl: "https://staging.example" }]
] as const)(
  "a worker of another %s does not start until a person takes the step that it names",
  base,
  function* ([, clientId, options]) {
    const [own, other] = [yield* makeGateway("client-a"), yield* makeGateway(clientId, options)]
    yield* Effect.scoped(own.start())
    const queue = yield* startClient()
    yield* queue.submit(payout("invoice-1"))
    const { companyId, fingerprint } = yield* queue.account
    assert.strictEqual(companyId, 1)
    const stored = (yield* SqlClient.SqlClient)`SELECT * FROM effect_pix_payout_accounts`
    const before = yield* stored
    const error = yield* Effect.flip(other.start({ horizon: "1 minute" }))
    assert.include(error.message, `fingerprint ${fingerprint}`)
    assert.include(error.message, `effect-pix payouts change-sender ${shownBy(error)}`)
    assert.include(error.message, "This worker sends nothing.")
    assert.strictEqual(error._tag === "ConfigurationError" && error.settings[0]?.setting, "account")
    // Not the horizon either, by which an operator's steps are judged.
    assert.deepStrictEqual(yield* stored, before)
    for (const wrong of ["", "client-b", "F".repeat(40)])
      assert.strictEqual((yield* Effect.flip(queue.changeSender(wrong)))._tag, "InvalidRequest")
    for (const by of ["ana", "bia"]) yield* queue.changeSender(shownBy(error), { by, note: "ticket 812" })
    const [change, ...more] = (yield* queue.account).changes
    assert.deepStrictEqual([change?.by, change?.note, more.length], ["ana", "ticket 812", 0])
    yield* other.start()
    assert.strictEqual((yield* queue.account).fingerprint, shownBy(error))
    yield* Effect.flip(own.start())
    yield* settle
    assert.deepStrictEqual([yield* requestsOf(own), yield* requestsOf(other)], [0, 1])
  }
)

effect("what is in doubt under another sender is parked until a person says what became of it", base, function* () {
  const [own, other] = [yield* makeGateway("client-a"), yield* makeGateway("client-b")]
  yield* lose(own)
  yield* Effect.scoped(Effect.flatMap(own.start(), (queue) => Effect.andThen(queue.submit(payout("lost")), settle)))
  const queue = yield* startClient()
  yield* queue.changeSender(shownBy(yield* Effect.flip(other.start())))
  yield* other.start()
  for (const _ of ["at first", "after it was resumed"]) {
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* stateOf(queue, "lost"), "parked OtherClientId")
    yield* queue.resume("lost")
  }
  yield* TestClock.adjust("1 minute")
  assert.strictEqual(yield* requestsOf(other), 0)
  yield* queue.settle("lost", { as: "failed" })
  assert.strictEqual(yield* stateOf(queue, "lost"), "failed")
})

effect("credentials of another client id send nothing: a doubt is parked, and the rest waits", base, function* () {
  const a = yield* makeGateway("client-a")
  const queue = yield* a.start()
  yield* lose(a)
  yield* queue.submit(payout("lost"))
  yield* settle
  a.use({ clientId: "client-b" })
  yield* queue.submit(payout("new"))
  yield* TestClock.adjust("1 minute")
  const states = Effect.forEach(["lost", "new"], (reference) => stateOf(queue, reference))
  assert.deepStrictEqual(yield* states, ["parked OtherClientId", "accepted OtherClientId"])
  assert.strictEqual(yield* requestsOf(a), 1)
  a.use({ clientId: "client-a" })
  yield* TestClock.adjust("6 minutes")
  yield* queue.resume("lost")
  yield* TestClock.adjust("10 seconds")
  assert.deepStrictEqual(yield* states, ["posted", "posted"])
  assert.lengthOf(yield* paidBy(a), 2)
})

// A worker reads them when it starts and before the mark. The attempt reads them again.
effect.each([
  [3, 0, "accepted OtherClientId"],
  [5, 1, "parked OtherClientId"]
] as const)(
  "credentials that change before request %s are compared before its first byte",
  base,
  function* ([changedAt, sent, state]) {
    const a = yield* makeGateway("client-a", { onRead: (read) => (read === changedAt ? "client-b" : undefined) })
    yield* lose(a, 2)
    const queue = yield* a.start()
    yield* queue.submit(payout("invoice-1"))
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* stateOf(queue, "invoice-1"), state)
    const isLost = (yield* linesOf(queue, "invoice-1")).at(-1)?.endsWith("may have left")
    assert.deepStrictEqual([yield* requestsOf(a), isLost], [sent, sent === 1])
  }
)

effect.each([
  ["is that of its company, so another secret sends what is in doubt again", true, "posted"],
  ["is that of its secret while no company is known, so another secret does not", false, "parked OtherClientId"]
] as const)("the sender of an account %s", base, function* ([, isLearned, state]) {
  const a = yield* makeGateway("client-a", { isKnown: false })
  const queue = yield* a.start()
  const { fingerprint } = yield* queue.account
  if (isLearned) {
    yield* queue.submit(payout("first"))
    yield* settle
    const account = yield* queue.account
    assert.strictEqual(account.companyId, 1)
    assert.notStrictEqual(account.fingerprint, fingerprint)
    yield* TestClock.adjust("2 seconds")
  }
  yield* lose(a)
  yield* queue.submit(payout("lost"))
  yield* settle
  a.use(yield* a.sandbox.rotateCredentials)
  yield* TestClock.adjust("10 minutes")
  assert.strictEqual(yield* stateOf(queue, "lost"), state)
  assert.lengthOf(yield* paidBy(a), isLearned ? 2 : 1)
})
