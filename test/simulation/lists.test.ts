import { assert } from "@effect/vitest"
import { effect } from "../support/effect.ts"
import { drawn, runs, seed } from "../support/seed.ts"
import { draw, play, type Random, shrink, type Traits } from "./lists.ts"

/** A kind of lists: its traits (the others are drawn), and the part of the runs that may end with a typed failure. */
interface Kind {
  readonly title: string
  readonly failures: number
  readonly traits: (random: Random) => Partial<Traits>
}

const isStill = { changes: 0 }
const long = { count: 1000, pageSize: 100, ties: 1, order: "ById", changes: 1, late: 0 } as const
const tied = { ...long, ...isStill, count: 400, order: "ByPage" } as const

const counting: ReadonlyArray<readonly [words: string, counts: Traits["counts"]]> = [
  ["counts all rows", "Honest"],
  ["counts only the rows of the page", "OwnPage"],
  ["counts no rows", "Nothing"],
  ["counts half of the rows", "TooFew"],
  ["counts seven rows too many", "TooMany"]
]

const kinds: ReadonlyArray<Kind> = [
  { title: "rows are added and removed anywhere", failures: 0.05, traits: () => ({}) },
  { title: "rows show no time", failures: 0.2, traits: () => ({ ties: 0, added: 10, removed: 10 }) },
  {
    title: "the service returns fewer rows than requested",
    failures: 0.1,
    traits: ({ below }) => {
      const cap = 4 + below(40)
      return { cap, added: Math.floor(cap / 2), removed: Math.floor(cap / 2) }
    }
  },
  {
    title: "the service ignores the page size",
    failures: 0.1,
    traits: ({ below }) => ({ isFixed: true, cap: 1 + below(20), added: 3, removed: 3 })
  },
  {
    title: "the service ignores the page size and counts only the rows of the page, and rows are added at the end",
    failures: 0.2,
    traits: ({ below }) => ({
      isFixed: true,
      cap: 1 + below(20),
      counts: "OwnPage",
      sort: "createdAt_asc",
      added: 3,
      removed: 0,
      late: 0
    })
  },
  ...counting.flatMap(([words, counts]): ReadonlyArray<Kind> => {
    const service = ({ next, pick }: Random): Partial<Traits> => ({
      counts,
      // If the counts are wrong too, the answer to another request looks like the end of the list.
      echoes: counts === "Honest" && next() < 0.6 ? next() * 0.15 : 0,
      repeats: next() < 0.7 ? 0 : 0.3,
      pageSize: pick([10, 30, 99, 100]),
      cap: pick([7, 20, 33, 50, 99, 1000]),
      ...pick([
        { added: 1, removed: 1 },
        { added: 3, removed: 3 },
        { added: 20, removed: 20 }
      ])
    })
    const failures = counts === "TooMany" ? 1 : 0
    return [
      { title: `the service ${words}, and rows move`, failures: failures || 0.05, traits: service },
      {
        title: `the service ${words}, and no row moves`,
        failures,
        traits: (random) => ({ ...service(random), ...isStill })
      }
    ]
  }),
  {
    title: "rows vanish and appear before each answer",
    failures: 0,
    traits: ({ pick }) => ({ ...long, added: pick([3, 20]), removed: pick([1, 3, 100]), late: pick([0, 0.3]) })
  },
  {
    title: "replicas answer that are behind",
    failures: 0.05,
    traits: ({ pick }) => ({ ...long, added: pick([3, 20]), removed: 3, stale: pick([0.2, 0.5]) })
  },
  {
    title: "answers are those of other requests",
    failures: 0,
    traits: ({ pick }) => ({ ...long, changes: 0.1, added: 5, removed: 0, echoes: pick([0.2, 0.4]) })
  },
  {
    title: "up to fifty rows of one time lie in another order on each page",
    failures: 0,
    traits: ({ pick }) => ({ ...tied, count: 1000, ties: pick([3, 50]) })
  },
  {
    title: "seven rows of one time lie in another order in each answer",
    failures: 0,
    traits: () => ({ ...tied, ties: 7, order: "ByRequest" })
  },
  {
    title: "rows of one time lie in another order in each answer, and more of them than a page can show",
    failures: 1,
    traits: ({ below, pick }) => ({
      ...tied,
      pageSize: pick([5, 10, 20, 50, 100]),
      count: 50 + below(300),
      ties: pick([3, 15, 40, 90, 120, Infinity]),
      order: pick(["ByPage", "ByRequest"]),
      cap: pick([5, 20, Infinity]),
      counts: pick(["Honest", "OwnPage", "Nothing", "TooFew"])
    })
  },
  {
    title: "each run reads a hundred rows of a list whose rows of one time change places",
    failures: 1,
    traits: ({ pick }) => ({ ...tied, ties: pick([20, 50, 99, 120]), limit: 100 })
  },
  {
    title: "each run continues from the checkpoint of the run before",
    failures: 0.1,
    traits: ({ below }) => ({ limit: 1 + below(90) })
  },
  {
    title: "rows move before each answer and each run continues from the checkpoint of the run before",
    failures: 0.05,
    traits: ({ below }) => ({ ...long, count: 400, added: 8, removed: 3, limit: 30 + below(300) })
  }
]

effect.each(kinds)("a stream delivers each row that stays exactly once, or fails, where $title", function* (kind) {
  const most = runs(6, 150)
  let failures = 0
  for (const run of drawn(Array.from({ length: most }, (_, at) => seed + at))) {
    const world = draw(run, kind.traits)
    const { ended, problem } = yield* play(world)
    if (problem !== undefined)
      assert.fail(`EFFECT_PIX_SEED=${run}: ${problem}. It needs these steps: ${yield* shrink(world)}`)
    if (ended !== "Whole") failures += 1
  }
  assert.isAtMost(failures, most * kind.failures + 2, "runs that end with a failure")
})
