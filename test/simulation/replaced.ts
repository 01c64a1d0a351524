/**
 * Stories of payouts that are paid in the place of others, by the recipe of docs/payout-queue.md, in the world of the simulation of money: two processes that die and stand
 * still, a gateway that refuses, loses answers and may contradict itself, lookups, and people who take every step at any time.
 */
import { Cause, Clock, DateTime, Effect, Exit, Option } from "effect"
import { IdempotencyKey, Money, PixKey } from "effect-pix"
import { DatabaseError, type PayoutItem, type PayoutQueue, type PayoutStatus } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { coreOf } from "../support/payoutStore.ts"
import { fewest, runs, seeded } from "../support/seed.ts"
import { type Plan, planOf } from "./moneyPlan.ts"
import { makeWorld, type MakeStore, type World } from "./moneyWorld.ts"

const minute = 60_000
const day = 1440 * minute
/** Each is paid in the place of the one before it. */
const chain = ["first", "second", "third"] as const
type Reference = (typeof chain)[number]
const keyOf = (reference: Reference) => IdempotencyKey.fromReference("payout", reference)

/** What the service says of a withdrawal, one lookup after the other, and of the last one for ever. */
const fates = {
  paid: ["paid"],
  failed: ["failed"],
  returned: ["paid", "returned"],
  "failed, and paid after all": ["failed", "paid"],
  "paid, and failed after all": ["paid", "failed"]
} as const
type Fate = keyof typeof fates
/** It took back that nothing left, so money left although it said that it did not. */
const takesBack: Fate = "failed, and paid after all"
const isKept = (fate: Fate) => fates[fate].at(-1) === "paid"

const doings = ["submits", "looks up", "cancels", "retries", "parks", "resumes", "settles"] as const
interface Step {
  readonly after: number
  readonly process: number
  readonly does: (typeof doings)[number]
  readonly reference: Reference
}

interface Story {
  readonly plan: Plan
  readonly fates: Readonly<Record<Reference, Fate>>
  readonly waits: boolean
  readonly steps: ReadonlyArray<Step>
}

/** Makes the story of a seed. */
const storyOf = (seed: number): Story => {
  const { below, next, pick } = seeded(seed)
  const { troubles, ...plan } = planOf(seed, 3)
  const fate = () =>
    pick<Fate>(["paid", "failed", "failed", "returned", takesBack, takesBack, "paid, and failed after all"])
  const steps = Array.from({ length: 8 + below(16) }, (): Step => ({
    after: pick([0, below(50), below(2000), below(20_000), below(5 * minute)]),
    process: below(2),
    does: pick(["submits", "submits", "submits", "looks up", "looks up", ...doings]),
    reference: pick(chain)
  }))
  const first: Step = { after: 0, process: 0, does: "submits", reference: "first" }
  // The first requests are often refused: then another one is paid in their place.
  const refused = [1, 2, 3].filter(() => next() < 0.4)
  const met = troubles.filter(
    ({ account, at, nth }) => account !== "market" && !(at === "write" && refused.includes(nth))
  )
  return {
    plan: {
      ...plan,
      dailyCap: undefined,
      isOfOneAccount: true,
      isSeen: false,
      steps: [],
      troubles: [...met, ...refused.map((nth) => ({ at: "write", account: "default", nth, what: refusal }) as const)]
    },
    fates: { first: fate(), second: fate(), third: fate() },
    waits: next() < 0.3,
    steps: [first, ...steps]
  }
}
/** A refusal that is about the payout: it is final. */
const refusal = `a 400 "Pedido inválido"`

const itemOf = (reference: Reference, notBefore: DateTime.DateTime | undefined): PayoutItem => ({
  reference,
  amount: Money.centavos(1000),
  pixKey: PixKey.email("maria@example.com"),
  by: "ana",
  ...(notBefore !== undefined && { notBefore })
})

/** Plays a story, and returns what is wrong at its end. */
const play = (world: World, { fates: fateOf, steps, waits }: Story) =>
  Effect.gen(function* () {
    const looked = new Map<Reference, number>()
    /** What the panel says of a payout. */
    const panel = (reference: Reference) =>
      Effect.map(world.sandboxes.default.withdrawals, (all) =>
        all.some(({ idempotencyKey }) => idempotencyKey === keyOf(reference)) ? saidOf(reference) : undefined
      )
    const saidOf = (reference: Reference) => {
      const words = fates[fateOf[reference]]
      return words[Math.min(looked.get(reference) ?? 0, words.length - 1)]!
    }
    const lookUp = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, reference: Reference) {
      const core = yield* Effect.orDie(Effect.provideService(coreOf, SqlClient.SqlClient, sql))
      const row = yield* core.store.get(keyOf(reference))
      const meaning = yield* panel(reference)
      // A row learns the id of its withdrawal only from an answer.
      if (row === undefined || row.withdrawalId === null || meaning === undefined) return
      const now = yield* Clock.currentTimeMillis
      const found = { meaning, word: undefined, endToEndId: undefined, value: "10", updatedAt: now }
      yield* core.stepBy(
        row,
        () => ({ _tag: "LookedUp", now, until: 7 * day, found }),
        (_, problem) => Effect.die(problem)
      )
      looked.set(reference, (looked.get(reference) ?? 0) + 1)
    }, Effect.scoped)

    /** A person says of a payout what the panel says. */
    const settle = Effect.fnUntraced(function* (queue: PayoutQueue["Service"], reference: Reference) {
      const said = yield* panel(reference)
      return yield* queue.settle(reference, { by: "ana", as: said ?? "failed" })
    })
    /** A person submits it in one transaction with the end of the one before it. Another one has been submitted already, or that may be paid. */
    const submit = Effect.fnUntraced(function* (
      { default: { queue }, sql }: Parameters<Parameters<World["runIn"]>[1]>[0],
      reference: Reference,
      item: PayoutItem
    ) {
      const before = chain[chain.indexOf(reference) - 1]
      if (before === undefined) return yield* queue.submit(item)
      const said = yield* panel(before)
      const isOver = said === "failed" || said === "returned"
      const end = isOver ? queue.settle(before, { by: "ana", as: said }) : queue.cancel(before, { by: "ana" })
      return yield* sql.withTransaction(Effect.andThen(end, queue.submit(item)))
    })
    const by = { by: "ana" }
    const take = ({ does, process, reference }: Omit<Step, "after">) =>
      Effect.gen(function* () {
        for (;;) {
          const exit = yield* world.runIn(process, (own) =>
            Effect.gen(function* () {
              const {
                default: { queue },
                sql
              } = own
              const later = DateTime.makeUnsafe((yield* Clock.currentTimeMillis) + minute)
              const steps = {
                submits: submit(own, reference, itemOf(reference, waits ? later : undefined)),
                "looks up": lookUp(sql, reference),
                cancels: queue.cancel(reference, by),
                retries: queue.retry(reference, by),
                parks: queue.park(reference, by),
                resumes: queue.resume(reference, by),
                settles: settle(queue, reference)
              } satisfies Record<Step["does"], Effect.Effect<unknown, unknown>>
              const taken: Effect.Effect<unknown, unknown> = steps[does]
              return yield* taken
            })
          )
          const error = exit !== undefined && Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
          if (exit !== undefined && !(error instanceof DatabaseError && error.isRetryable)) return error
          yield* Effect.sleep(100)
        }
      })

    const problems: Array<string> = []
    const refused = (error: unknown) =>
      ["PayoutStateConflict", "PayoutNotFound", "ReferenceConflict", "InvalidRequest"].includes(Object(error)._tag)
    world.startProcess(0)
    world.startProcess(1)
    for (const { after, ...step } of steps) {
      yield* world.pass(after)
      const error = yield* take(step)
      if (error !== undefined && !refused(error))
        problems.push(`${step.does} ${step.reference}: ${Cause.pretty(Cause.die(error))}`)
    }
    yield* world.calm
    const statusOf = (reference: Reference) =>
      Effect.map(
        world.runIn(0, ({ default: { queue } }) => queue.status(reference)),
        (exit): PayoutStatus | undefined =>
          exit !== undefined && Exit.isSuccess(exit) ? Option.getOrUndefined(exit.value) : undefined
      )
    /** Until nothing is open, and the service has said all that it will ever say. */
    for (const millis of [20 * minute, 5 * minute, minute, minute]) {
      yield* world.pass(millis)
      for (const reference of chain) yield* take({ does: "looks up", process: 0, reference })
    }

    const executed = (yield* world.sandboxes.default.withdrawals).flatMap(({ idempotencyKey }) =>
      chain.filter((reference) => keyOf(reference) === idempotencyKey)
    )
    const kept = chain.filter((reference) => executed.includes(reference) && isKept(fateOf[reference]))
    if (new Set(executed).size < executed.length) problems.push(`executed twice: ${executed.join(", ")}`)
    for (const reference of chain) {
      const status = yield* statusOf(reference)
      if (status?.state === "cancelled" && executed.includes(reference))
        problems.push(`cancelled and executed: ${reference}`)
      if (status?.state === "accepted" || status?.state === "unknown")
        problems.push(`${reference} is still ${status.state}`)
    }
    // Of two that were executed, the service took the end of the earlier one back, and its status says so.
    for (const [index, earlier] of kept.slice(0, -1).entries()) {
      const later = kept[index + 1]!
      const status = yield* statusOf(earlier)
      const isTold = status !== undefined && (status.state !== "failed" || status.contradicted === true)
      if (fateOf[earlier] !== takesBack) problems.push(`both executed: ${earlier} (${fateOf[earlier]}) and ${later}`)
      else if (!isTold) problems.push(`both executed, and nobody is told: ${earlier} and ${later}`)
    }
    return problems
  })

const simulate = async (story: Story, makeStore: MakeStore) => {
  const played = Effect.gen(function* () {
    const world = yield* makeWorld(story.plan, makeStore)
    const problems = yield* world.run(play(world, story))
    yield* world.close
    return problems
  })
  const exit = await Effect.runPromiseExit(played)
  return Exit.isSuccess(exit) ? exit.value : [`the simulation ended: ${Cause.pretty(exit.cause)}`]
}

const wordsOf = ({ fates: fateOf, plan, steps, waits }: Story) =>
  [
    `fates ${JSON.stringify(fateOf)}${waits ? ", each waits a minute" : ""}`,
    ...steps.map(({ after, does, process, reference }) => `after ${after} ms process ${process} ${does} ${reference}`),
    ...plan.troubles.map(({ at, nth, what }) => `${at} ${nth}: ${what}`)
  ].join("\n  ")

/** Plays the story of a seed. One that fails is made smaller, and thrown as a list of sentences. */
export const simulateStory = async (seed: number, makeStore: MakeStore) => {
  const story = storyOf(seed)
  const problems = await simulate(story, makeStore)
  if (problems.length === 0) return
  const withParts = (parts: ReadonlyArray<Step | Plan["troubles"][number]>): Story => ({
    ...story,
    steps: parts.filter((part) => "does" in part),
    plan: { ...story.plan, troubles: parts.filter((part) => "at" in part) }
  })
  const fails = async (smaller: Story) => (await simulate(smaller, makeStore)).length > 0
  const smallest = withParts(await fewest([...story.steps, ...story.plan.troubles], (parts) => fails(withParts(parts))))
  const found = await simulate(smallest, makeStore)
  throw new Error(
    `${(found.length > 0 ? found : problems).join("\n")}\n\n${wordsOf(smallest)}\n\nTo run it again: EFFECT_PIX_SEED=${seed}${runs("", " EFFECT_PIX_SOAK=1")}`
  )
}
