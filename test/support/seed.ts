/**
 * Random tests that can be run again. All of them use one fixed seed, so each run of the tests is the same. A test that
 * fails prints the seed, and `EFFECT_PIX_SEED` sets it: to repeat, or to search for more.
 */
export const seed = Number(process.env["EFFECT_PIX_SEED"] ?? 1)

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
