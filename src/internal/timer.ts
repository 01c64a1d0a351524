/**
 * The platform's timer, for transports alone: they are taken only where the clock of the program is the platform's too.
 */

/** The longest that a timer takes, 24.8 days: beyond it, platforms fire at once. */
const longest = 2 ** 31 - 1

export type Timer = ReturnType<typeof setTimeout> | undefined

/** Runs `late` with `subject` when the time is over. In milliseconds; more than a timer takes is no limit. */
export const startTimer = <A>(millis: number, late: (subject: A) => void, subject: A): Timer =>
  millis > longest ? undefined : setTimeout(late, millis, subject)

export const stopTimer = (timer: Timer): void => clearTimeout(timer)
