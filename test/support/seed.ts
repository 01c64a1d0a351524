/**
 * Random tests that can be run again. All of them use one fixed seed, so each run of the tests is the same. A test that
 * fails prints the seed, and `EFFECT_PIX_SEED` sets it: to repeat, or to search for more.
 */
export const seed = Number(process.env["EFFECT_PIX_SEED"] ?? 1)

const isTenth = process.env["EFFECT_PIX_QUICK"] === "1"
/** Which of ten parts a quick run has, by the commit's hash: `vitest.config.ts` prints it, and `EFFECT_PIX_TENTH` sets it. */
const tenth = Number(process.env["EFFECT_PIX_TENTH"] ?? 0)

/** What prints with a failure, so that the same is run again. */
export const again = `EFFECT_PIX_SEED=${seed}${isTenth ? ` EFFECT_PIX_QUICK=1 EFFECT_PIX_TENTH=${tenth}` : ""}`

/** Rows, seeds or days: in `npm test` every tenth of them, and one at least; in `npm run full`, and where a file is run, all. */
export const drawn = <const A>(all: ReadonlyArray<A>): ReadonlyArray<A> =>
  isTenth ? all.filter((_, at) => at % 10 === tenth % Math.min(10, all.length)) : all

/** The runs of a random test in ten parts, of which `npm test` has one: the random numbers of each have a seed of their own. */
export const parts = (runs: number) =>
  drawn(Array.from({ length: 10 }, (_, at) => ({ seed: seed + at, runs: Math.ceil(runs / 10) })))

/** How often a random test repeats: a few times in `npm test`, often in `npm run soak`. */
export const runs = <A>(few: A, many: A): A => (process.env["EFFECT_PIX_SOAK"] === "1" ? many : few)

/** Makes random numbers from a seed (mulberry32). */
export const seeded = (seed: number) => {
  let state = seed >>> 0
  /** From 0 to below 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  /** A whole number from 0 to below this one. */
  const below = (limit: number): number => Math.floor(next() * limit)
  const pick = <A>(items: readonly [A, ...Array<A>]): A => items[below(items.length)] ?? items[0]
  return { below, next, pick }
}

/** The fewest parts that are found to fail still, after at most so many real milliseconds. */
export const fewest = async <A>(
  parts: ReadonlyArray<A>,
  fails: (parts: ReadonlyArray<A>) => Promise<boolean>,
  patience = 40_000
): Promise<ReadonlyArray<A>> => {
  const end = performance.now() + patience
  let kept = parts
  for (let size = Math.ceil(parts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < kept.length && performance.now() < end;) {
      const fewer = kept.toSpliced(from, size)
      if (await fails(fewer)) kept = fewer
      else from += size
    }
  }
  return kept
}
