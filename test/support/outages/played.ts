/** How long an outage is played, and what is kept of it. */

/** The values of each series, one each minute. A process that ends takes its series with it. */
export type Played = ReadonlyMap<string, ReadonlyArray<string>>

/** How long all is well before an outage, in minutes. */
export const calm = 8
/** With the outage. */
export const length: number = calm + 25
