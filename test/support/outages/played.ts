/** How long an outage is played, and what is kept of it. */

/** The values of each series, one each minute. A process that ends takes its series with it. */
export type Series = ReadonlyMap<string, ReadonlyArray<string>>

/** What an operator sees of an outage. */
export interface Played {
  readonly series: Series
  /** How many lines were written in the outage, by their first words. */
  readonly lines: ReadonlyMap<string, number>
}

/** How long all is well before an outage, in minutes. */
export const calm = 8
/** With the outage. */
export const length: number = calm + 25
