/**
 * The story of a run: its events line by line, with the time since its start.
 */

/** One line of a story. */
export interface StoryLine {
  /** Milliseconds since the start of the run. */
  readonly at: number
  /** The event, as a sentence. */
  readonly text: string
}

export const makeStory = (now: () => number) => {
  const start = now()
  const lines: Array<StoryLine> = []
  return {
    add: (text: string): void => void lines.push({ at: now() - start, text }),
    lines: (): ReadonlyArray<StoryLine> => lines
  }
}

/** See `makeStory`. */
export type Story = ReturnType<typeof makeStory>

const two = (value: number) => String(value).padStart(2, "0")

/** Writes `1d 02:03:04.567`, or `02:03:04.567` within the first day. */
const formatTime = (millis: number) => {
  const whole = Math.floor(millis / 1000)
  const days = Math.floor(whole / 86_400)
  const time = `${two(Math.floor(whole / 3600) % 24)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`
  return `${days === 0 ? "" : `${days}d `}${time}.${String(Math.floor(millis % 1000)).padStart(3, "0")}`
}

export const formatLine = ({ at, text }: StoryLine): string => `${formatTime(at).padStart(15)}  ${text}`
