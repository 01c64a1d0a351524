/**
 * The story of a run: its events line by line, with the time since its start.
 */
import type { SandboxChange } from "../../sandbox/SandboxChange.ts"

/** One line of a story. */
export interface StoryLine {
  /** Milliseconds since the start of the run. */
  readonly at: number
  /** The event, as a sentence. */
  readonly text: string
}

/** The short name of a long id: `charge A`, `key 1`. */
export interface ShortName {
  /** The short name, with its noun. */
  readonly name: string
  /** The id of the charge, or the key. */
  readonly id: string
}

const letter = (index: number): string =>
  index < 26 ? String.fromCodePoint(65 + index) : `${letter(Math.floor(index / 26) - 1)}${letter(index % 26)}`

/** A line of a call, or of a delivery of a webhook, whose lines belong together. */
export interface Line extends StoryLine {
  readonly block?: object | undefined
}

/** `processes`: how many run at once. Where it is one, no line has to name it. */
export const makeStory = (now: () => number, processes: number) => {
  const start = now()
  const lines: Array<Line> = []
  const charges = new Set<string>()
  const keys = new Set<string>()
  const add = (text: string, block?: object): void => void lines.push({ at: now() - start, text, block })
  /** Adds an event in a process, by its number. */
  const addOf = (process: number, text: string, block?: object): void =>
    add(processes === 1 ? text : `process ${process}, ${text}`, block)
  return {
    add,
    addOf,
    /** Adds an event of a call. */
    addOfCall: (call: { readonly number: number; readonly process: number }, text: string): void =>
      addOf(call.process, `call ${call.number}${text}`, call),
    /** The words for a charge, which gets a short name. */
    charge: (id: string): string => {
      charges.add(id)
      return `charge ${id}`
    },
    /** The words for a key, which gets a short name. */
    key: (id: string): string => {
      keys.add(id)
      return `key ${id}`
    },
    lines: (): ReadonlyArray<Line> => lines,
    legend: (): ReadonlyArray<ShortName> => [
      ...Array.from(charges, (id, index) => ({ name: `charge ${letter(index)}`, id })),
      ...Array.from(keys, (id, index) => ({ name: `key ${index + 1}`, id }))
    ]
  }
}

/** See `makeStory`. */
export type Story = ReturnType<typeof makeStory>

/** The blocks that repeat the block before them of the same question: the last of a row with their number, the others with 0. */
const repetitionsOf = (lines: ReadonlyArray<Line>): ReadonlyMap<object, number> => {
  const blocks = new Map<object, Array<string>>()
  for (const { block, text } of lines) {
    if (block === undefined) continue
    // Repeated calls differ in their numbers alone.
    const words = text.replace(/\bcall \d+/, "call")
    blocks.set(block, [...(blocks.get(block) ?? []), words])
  }
  const counts = new Map<object, number>()
  const last = new Map<string, readonly [block: object, words: string]>()
  for (const [block, texts] of blocks) {
    const [question = ""] = texts
    const words = texts.join("\n")
    const [before, said] = last.get(question) ?? []
    last.set(question, [block, words])
    if (before === undefined || said !== words) continue
    counts.set(block, (counts.get(before) ?? 0) + 1)
    if (counts.has(before)) counts.set(before, 0)
  }
  return counts
}

/**
 * The lines of a story without those that say nothing new: a question whose answer repeats is one line with its count. A mark says
 * where it leaves the story of the undisturbed run.
 */
export const shortenStory = (
  lines: ReadonlyArray<Line>,
  undisturbed: ReadonlyArray<Line>
): ReadonlyArray<StoryLine> => {
  const counts = repetitionsOf(lines)
  const counted = new Set<object>()
  const departure = lines.findIndex(({ at, text }, index) => {
    const usual = undisturbed[index]
    return usual?.at !== at || usual.text !== text
  })
  return lines.flatMap(({ at, block = {}, text }, index) => {
    const mark = index === departure ? [{ at, text: "from here on it differs from the undisturbed run" }] : []
    const count = counts.get(block)
    if (count === undefined) return [...mark, { at, text }]
    if (count === 0 || counted.has(block)) return mark
    counted.add(block)
    const answered = lines.some((other, at) => at > index && other.block === block) ? ", answered alike" : ""
    return [...mark, { at, text: `${text}, ${count === 1 ? "again" : `${count} times more until now`}${answered}` }]
  })
}

/** Writes a change of the ledger into the story. */
export const noteChange = (story: Story, change: SandboxChange): void => {
  if (change._tag === "Withdrawal") {
    const { amount, id, idempotencyKey, status } = change.withdrawal
    const executed = status === "Awaiting" ? "is executed" : `is ${status}`
    story.add(`ledger: payout ${id} of ${amount} centavos ${executed}, ${story.key(String(idempotencyKey))}`)
  }
  if (change._tag === "Transaction") {
    const { amount, paid, status, transactionId } = change.transaction
    const other = paid === undefined ? "" : `, and ${paid} were paid`
    story.add(`ledger: ${story.charge(transactionId)} of ${amount} centavos is ${status}${other}`)
  }
}

const two = (value: number) => String(value).padStart(2, "0")

/** Writes `1d 02:03:04.567`, or `02:03:04.567` within the first day. */
const formatTime = (millis: number) => {
  const whole = Math.floor(millis / 1000)
  const days = Math.floor(whole / 86_400)
  const time = `${two(Math.floor(whole / 3600) % 24)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`
  return `${days === 0 ? "" : `${days}d `}${time}.${String(Math.floor(millis % 1000)).padStart(3, "0")}`
}

export const formatLine = ({ at, text }: StoryLine): string => `${formatTime(at).padStart(15)}  ${text}`
