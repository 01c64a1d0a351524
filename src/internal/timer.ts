/**
 * The platform's timer, for transports alone: they are taken only where the clock of the program is the platform's too.
 */

/** The longest that a timer takes: beyond it, platforms fire at once. */
const longest = 2 ** 31 - 1

export type Timer = ReturnType<typeof setTimeout>

/** Runs `late` with `subject` when the time is over. In milliseconds; `Infinity` is as long as a timer can be. */
export const startTimer = <A>(millis: number, late: (subject: A) => void, subject: A): Timer =>
  setTimeout(late, Math.min(millis, longest), subject)

export const stopTimer = (timer: Timer): void => clearTimeout(timer)
