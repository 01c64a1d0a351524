/** The one check of a simulation of money: the ledger of the gateway, the rows, their history, and what was told. */
import { DateTime, Effect, Exit, Result, Stream } from "effect"
import { IdempotencyKey, Payments, Reconcile, TransactionStream } from "effect-pix"
import type { PayoutChange, PayoutStatus } from "effect-pix/payouts"
import type { SandboxWithdrawal } from "effect-pix/sandbox"
import { leaksIn } from "../support/canary.ts"
import { type Account, accounts, amountOf, nameOf, type Plan } from "./moneyPlan.ts"
import { endOf, type Story } from "./moneySteps.ts"
import type { Running, World } from "./moneyWorld.ts"

const millisOf = DateTime.toEpochMillis

/** The key of a row. That of the first account is the key of single calls. */
const keyOf = (account: Account, reference: number) =>
  account === "default"
    ? IdempotencyKey.fromReference("payout", nameOf(reference))
    : IdempotencyKey.fromReference("payout-account", `${account}/${nameOf(reference)}`)

/** The references of an account, by what the plan does with them. */
const referencesOf = (plan: Plan, account: Account, ...does: ReadonlyArray<string>) => [
  ...new Set(
    plan.steps
      .filter((step) => step.account === account && does.includes(step.does))
      .flatMap(({ references }) => references)
  )
]

/** What is wrong with the history of a payout. */
const wrongIn = (
  status: PayoutStatus,
  history: ReadonlyArray<PayoutChange>,
  executed: ReadonlyArray<SandboxWithdrawal>,
  isShared: boolean
): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const marks = history.filter(({ _tag }) => _tag === "Marked")
  const [first] = history
  const last = history.at(-1)
  if (first?._tag !== "Submitted") wrong.push("does not begin with its submit")
  if (last?.state !== status.state) wrong.push(`is ${status.state}, and its history ends as ${last?.state}`)
  if (marks.some((mark, index) => mark._tag === "Marked" && mark.request !== index + 1))
    wrong.push("has a request without its mark, or the other way round")
  let isRecorded = false
  for (const change of history) {
    const isRecord = change._tag === "Answered" && change.answer === "Recorded"
    const isAfter = ["Settled", "LookedUp", "Contradicted"].includes(change._tag)
    if (isRecorded && !isRecord && !isAfter) wrong.push(`was recorded, and then ${change._tag}`)
    isRecorded ||= isRecord
    const isRefused = change._tag === "Answered" && change.answer === "Refused"
    const paid = executed.filter(({ failedAtOnce }) => failedAtOnce !== true)
    // What was not sent is sent again in the same millisecond.
    const isUnsent = change._tag === "Answered" && change.error?.outcome === "NotSent"
    const told = millisOf(change.at) - (isUnsent ? 1 : 0)
    if (isRefused && !isShared && paid.some(({ createdAt }) => Date.parse(createdAt) <= told))
      wrong.push("was told as refused, and was executed before")
    if (isRefused && change.mayHaveLeftAt !== undefined) wrong.push("was told as refused in doubt")
  }
  for (const { createdAt } of isShared ? [] : executed) {
    if (!marks.some(({ at }) => millisOf(at) <= Date.parse(createdAt))) wrong.push("was executed before its mark")
  }
  if (status.state === "posted" && status.withdrawalId !== executed[0]?.id)
    wrong.push("has the withdrawal of another payout")
  return wrong
}

/** What is wrong at the end of a simulation. */
export const check = Effect.fnUntraced(function* (world: World, plan: Plan, story: Story) {
  const problems = [...story.problems]
  const expect = (isTrue: boolean, problem: string) => void (isTrue || problems.push(problem))
  const inProcess = <A, E>(use: (services: Running) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.flatMap(world.runIn(0, use), (exit) => exit ?? Effect.die("the process died"))
  const printed: Array<unknown> = [...world.lines, ...story.errors.map(String), story.errors]

  for (const account of accounts) {
    const sandbox = world.sandboxes[account]
    const withdrawals = yield* sandbox.withdrawals
    const transactions = yield* sandbox.transactions
    const { days, histories, ledger, rows, shipped, statuses } = yield* inProcess(({ [account]: { queue }, sql }) =>
      Effect.gen(function* () {
        const statuses = yield* Stream.runCollect(queue.list())
        const histories = yield* Effect.forEach(statuses, ({ reference }) => queue.history(reference))
        const rows = yield* sql<Record<string, unknown>>`SELECT * FROM effect_pix_payouts WHERE account = ${account}`
        const days = yield* sql<{
          readonly day: string
          readonly spent: unknown
        }>`SELECT day, spent FROM effect_pix_payout_days WHERE account = ${account}`
        const shipped = yield* sql<{ readonly event: string }>`SELECT event FROM shipped WHERE account = ${account}`
        const ledger = yield* sql<{ readonly reference: string; readonly state: string }>`
          SELECT reference, state FROM ledger WHERE account = ${account} ORDER BY entry`
        printed.push(
          rows,
          histories,
          yield* sql`SELECT * FROM effect_pix_webhooks`,
          yield* sql`SELECT * FROM effect_pix_payout_history`
        )
        return { days, histories, ledger, rows, shipped, statuses }
      })
    )

    // The ledger: each reference is paid once, of its amount, and nothing else is.
    const ofRows = referencesOf(plan, account, "submits", "runs the sheet of")
    const ofCalls = referencesOf(plan, account, "calls for")
    const wanted = new Map([...ofRows, ...ofCalls].map((reference) => [keyOf(account, reference), reference]))
    for (const [key, reference] of wanted) {
      const executed = withdrawals.filter(({ idempotencyKey }) => idempotencyKey === key)
      expect(executed.length === 1, `${nameOf(reference)} of ${account} was paid ${executed.length} times`)
      expect(
        executed.every(({ amount }) => amount === amountOf(reference)),
        `${nameOf(reference)} was paid with another amount`
      )
    }
    const strange = withdrawals.filter(({ idempotencyKey = "" }) => !wanted.has(idempotencyKey))
    expect(
      strange.length === 0,
      `${account} paid what nobody wanted: ${strange.map(({ amount, idempotencyKey }) => `${nameOf(amount - amountOf(0))} under ${idempotencyKey}`).join()}`
    )

    // The rows and their history.
    expect(statuses.length === ofRows.length, `${account} has ${statuses.length} rows for ${ofRows.length} references`)
    for (const [index, status] of statuses.entries()) {
      const key = status.idempotencyKey
      const history = histories[index] ?? []
      const reference = wanted.get(key) ?? 0
      const executed = withdrawals.filter(({ idempotencyKey }) => idempotencyKey === key)
      const isShared = ofCalls.includes(reference)
      problems.push(
        ...wrongIn(status, history, executed, isShared).map((wrong) => `${status.reference} of ${account} ${wrong}`)
      )
      const marks = history.filter(({ _tag }) => _tag === "Marked").length
      const sent = world.requests.filter((request) => request.account === account && request.key === key).length
      expect(
        plan.isPatient || isShared || sent <= marks,
        `${status.reference} was sent ${sent} times under ${marks} marks`
      )
      for (const look of story.looks) {
        if (look.account !== account || look.reference !== status.reference) continue
        const begin = JSON.stringify(look.history).slice(0, -1)
        expect(JSON.stringify(history).startsWith(begin), `the history of ${look.reference} was edited`)
      }
    }
    // The books that onState wrote: each state of each payout once, in order.
    for (const [index, { reference }] of statuses.entries()) {
      // A mark is not told.
      const changes = (histories[index] ?? []).filter(({ _tag }) => _tag !== "Marked")
      const states = changes.flatMap(({ _tag, state }, at) =>
        at > 0 && (state !== changes[at - 1]?.state || _tag === "Contradicted" || _tag === "Doubted") ? [state] : []
      )
      const written = ledger.filter((line) => line.reference === reference).map(({ state }) => state)
      expect(
        written.join() === states.join(),
        `the books of ${reference} of ${account} have ${written.join()}, and its history has ${states.join()}`
      )
    }
    const lastOf = new Map(ledger.map(({ reference, state }) => [reference, state]))
    for (const reference of ofRows) {
      const name = nameOf(reference)
      const shown = withdrawals.find(({ idempotencyKey }) => idempotencyKey === keyOf(account, reference))?.status
      const ended = shown && endOf[shown]
      const booked = lastOf.get(name)
      const isEqual = plan.isSeen ? booked === ended : shown !== undefined && /^(?:posted|paid)$/.test(booked ?? "")
      expect(isEqual, `the books of ${account} say that ${name} is ${booked}, and its gateway that it is ${shown}`)
    }
    for (const { day, spent } of days) {
      const counted = rows
        .filter((row) => row["counted_day"] === day)
        .reduce((sum, row) => sum + Number(row["amount"]), 0)
      expect(counted === Number(spent), `${day} has ${String(spent)} centavos, and its payouts have ${counted}`)
      expect(
        account === "default" || plan.dailyCap === undefined || counted <= plan.dailyCap,
        `${day} is above its cap`
      )
    }
    const uncounted = rows.filter(({ counted_day, state }) => state === "posted" && counted_day === null)
    expect(
      plan.dailyCap === undefined || account === "default" || uncounted.length === 0,
      "a payout was sent and not counted"
    )

    // What calls were told, before the operator helped and at the end.
    for (const [isBefore, told] of [
      [true, story.before.told],
      [false, story.told]
    ] as const) {
      for (const [reference, { at, key, result }] of told) {
        const isCall = ofCalls.includes(reference)
        const isCharge = referencesOf(plan, account, "charges for").includes(reference)
        if (!isCall && !isCharge) continue
        const found = isCall
          ? withdrawals.find((row) => row.idempotencyKey === key)
          : transactions.find((row) => row.idempotencyKey === key)
        if (Result.isSuccess(result)) {
          const id = found && ("transactionId" in found ? found.transactionId : found.id)
          expect(id === result.success.id, `the call for ${reference} was told a record that is not its own`)
        } else if (isBefore && result.failure.outcome !== "Unknown" && !ofRows.includes(reference)) {
          const limit = Math.max(at, story.before.at)
          const isExecuted = found !== undefined && Date.parse(found.createdAt) <= limit
          expect(
            !isExecuted,
            `the call for ${reference} was told ${result.failure.outcome} (${result.failure._tag}), and was executed`
          )
        }
      }
    }

    // Charges, what was handed out about them, and what is read of them.
    const charged = [...story.charges].filter(([, charge]) => charge.account === account)
    expect(
      transactions.length === referencesOf(plan, account, "charges for").length,
      `${account} has ${transactions.length} charges`
    )
    const events = shipped.map(({ event }) => event)
    expect(new Set(events).size === events.length, `${account} was handed an event twice`)
    for (const { states, transactionId } of transactions) {
      const last = `${transactionId}:${states.at(-1)?.status}`
      expect(events.includes(last), `${last} was never handed out`)
    }
    for (const event of events) {
      const [id, status] = event.split(":")
      const row = transactions.find(({ transactionId }) => transactionId === id)
      expect(row?.states.some((state) => state.status === status) === true, `${event} was handed out, and never was`)
    }
    const orders = charged.map(([reference, { id }]) => ({ transactionId: id, amount: amountOf(reference) }))
    const reading = inProcess(({ [account]: { payments } }) =>
      Effect.gen(function* () {
        const list = yield* Stream.runCollect(TransactionStream.stream())
        return { list, compared: yield* Stream.runCollect(Reconcile.stream(orders)) }
      }).pipe(Effect.provideService(Payments, payments))
    )
    const read = yield* Effect.exit(reading)
    if (Exit.isFailure(read)) problems.push(`the charges of ${account} cannot be read: ${String(read.cause)}`)
    else {
      const { compared, list } = read.value
      expect(new Set(list.map(({ id }) => id)).size === transactions.length, "the list has not every charge once")
      const differing = compared.filter(({ _tag }) => _tag !== "Matched").map(({ _tag }) => _tag)
      const others = transactions.filter(({ paid }) => paid !== undefined)
      expect(differing.length === others.length, `the books differ: ${differing.join()} for ${others.length}`)
    }
  }
  const leaked = leaksIn(JSON.stringify(printed, (_, value) => (typeof value === "bigint" ? String(value) : value)))
  expect(leaked.length === 0, `was printed or stored: ${leaked.join()}`)
  return problems
})
