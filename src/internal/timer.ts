/**
 * The platform's timer, which limits the time of an attempt where the program's clock is the platform's clock.
 */

/** The longest time of a timer, 24.8 days: with a longer one, platforms fire it at once. */
const longest = 2 ** 31 - 1

export type Timer = ReturnType<typeof setTimeout> | undefined

/** Calls `late(subject)` after `millis` milliseconds. A time longer than a timer allows counts as no limit. */
export const startTimer = <A>(millis: number, late: (subject: A) => void, subject: A): Timer =>
  millis > longest ? undefined : setTimeout(late, millis, subject)

export const stopTimer = (timer: Timer): void => clearTimeout(timer)
