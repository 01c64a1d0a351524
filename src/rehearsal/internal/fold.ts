/** Folds the lines of a story that repeat each other, such as those of a wait. */
import type { StoryLine } from "./story.ts"

/** A block is longer than this only where nobody would read it. */
const longestBlock = 24

/** How often a block has to be repeated. Lines are left as they are where few repeat each other. */
const fewest = 3

/** The words of a line without the number of its call: repeated calls have the same words. */
const wordsOf = ({ text }: StoryLine) => text.replace(/\bcall \d+/g, "call")

/** How often the block of lines at an index is repeated right after it. */
const repetitionsOf = (words: ReadonlyArray<string>, index: number, length: number): number => {
  let end = index + length
  while (end < words.length && words[end] === words[end - length]) end++
  return Math.floor((end - index) / length) - 1
}

/** The block at an index that hides the most lines. */
const bestAt = (words: ReadonlyArray<string>, index: number) => {
  let best = { length: 1, repetitions: 0 }
  for (let length = 1; length <= longestBlock; length++) {
    const repetitions = repetitionsOf(words, index, length)
    if (repetitions >= fewest && repetitions * length > best.repetitions * best.length) best = { length, repetitions }
  }
  return best
}

/** The lines of a story. A block of lines that repeats is there once, with the number of its repetitions. */
export const fold = (story: ReadonlyArray<StoryLine>): ReadonlyArray<StoryLine> => {
  const words = story.map(wordsOf)
  const lines: Array<StoryLine> = []
  for (let index = 0; index < story.length;) {
    const { length, repetitions } = bestAt(words, index)
    const next = index + length * (repetitions + 1)
    lines.push(...story.slice(index, index + length))
    const what = length === 1 ? "this line" : `these ${length} lines`
    const text = `${what} ${repetitions} times more, until now`
    if (repetitions > 0) lines.push(...story.slice(next - 1, next).map(({ at }) => ({ at, text })))
    index = next
  }
  return lines
}
