/**
 * Runs before each test file: gives each test its own random numbers, by its name and the seed. Properties, Effect's
 * `Random` and every library draw them from `Math.random`.
 */
import { beforeEach } from "vitest"
import { seed, seeded } from "./seed.ts"

const hash = (text: string) =>
  Array.from(text).reduce((hash, char) => Math.imul(hash, 31) + (char.codePointAt(0) ?? 0), 7)

beforeEach(({ onTestFailed, task }) => {
  Math.random = seeded(seed + hash(task.name)).next
  onTestFailed(() => console.error(`To run it again: EFFECT_PIX_SEED=${seed}`))
})
