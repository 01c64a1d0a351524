/** One simulation of money, and what to do about a seed that fails. */
import { Cause, Effect, Exit } from "effect"
import { runs } from "../support/seed.ts"
import { check } from "./moneyCheck.ts"
import { type Plan, planOf, shrink, wordsOf } from "./moneyPlan.ts"
import { play } from "./moneySteps.ts"
import { makeWorld, type MakeStore } from "./moneyWorld.ts"

/** Plays a plan, and returns what is wrong at its end. */
const simulate = async (plan: Plan, makeStore: MakeStore): Promise<ReadonlyArray<string>> => {
  const played = Effect.gen(function* () {
    const world = yield* makeWorld(plan, makeStore)
    const problems = yield* world.run(Effect.flatMap(play(world, plan), (story) => check(world, plan, story)))
    yield* world.close
    return problems
  })
  const exit = await Effect.runPromiseExit(played)
  return Exit.isSuccess(exit) ? exit.value : [`the simulation ended: ${Cause.pretty(exit.cause)}`]
}

/** Plays the plan of a seed. One that fails is made smaller, and thrown as a list of sentences. */
export const simulateSeed = async (seed: number, payouts: number, makeStore: MakeStore): Promise<void> => {
  const plan = planOf(seed, payouts)
  const problems = await simulate(plan, makeStore)
  if (problems.length === 0) return
  const smallest = await shrink(plan, async (smaller) => (await simulate(smaller, makeStore)).length > 0)
  const found = await simulate(smallest, makeStore)
  throw new Error(
    `${(found.length > 0 ? found : problems).join("\n")}\n\n${wordsOf(smallest)}\n\nTo run it again: EFFECT_PIX_SEED=${seed}${runs("", " EFFECT_PIX_SOAK=1")}`
  )
}
