/**
 * Disturbs one run as its schedule says: which fault a request meets, and where a process dies or stands still. It also knows
 * the places of the run, which may be disturbed in the next.
 */
import * as Duration from "effect/Duration"
import type { Call } from "./calls.ts"
import type { NamedFault } from "./faults.ts"
import { type How, isLasting, type Onward, type Place, type Schedule } from "./schedules.ts"
import type { Story } from "./story.ts"

type HowOf<Tag> = Extract<How, { readonly _tag: Tag }>

/**
 * What lasts, such as an outage, is over after this time, or in the middle of the time that is left, or after so many requests: a
 * program that tries again for ever has to see the end of it. The requests do not end a limit: to ask without a pause is a mistake.
 */
const longest: Duration.Input = "26 hours"
const mostRequests = 500

/**
 * In an outage, or after a death, the same happens again and again, so a short wait is prolonged, by the length of it until now: not
 * within its first ten seconds, and not beyond its end.
 */
const exactly = Duration.toMillis("10 seconds")

interface Options {
  readonly now: () => number
  readonly story: Story
  readonly calls: () => ReadonlyArray<Call>
  /** When the run is stopped at the latest. */
  readonly end: () => number
}

export const makeDisturber = (schedule: Schedule, { calls, end, now, story }: Options) => {
  const places: Array<Place> = []
  const struck = new Set<number>()
  let outage: HowOf<"Outage"> | undefined
  /** While the program waits for what comes late: a payment, the end of a payout, the lease of a process that died. */
  let waiting: { readonly since: number; readonly until: number } | undefined
  let lasting: { readonly since: number; readonly until: number; left: number } | undefined

  /** How the schedule disturbs a place. A process that it disturbs by itself is struck. */
  const at = <Tag extends How["_tag"]>(tag: Tag, kind: Place["kind"], number: number): HowOf<Tag> | undefined =>
    schedule.disturbances
      .filter((one) => one.kind === kind && one.number === number)
      .map(({ how }) => how)
      .find((how): how is HowOf<Tag> => how._tag === tag)

  /** What later calls under the key of an earlier one meet. */
  const onwardOf = (call: Call): Onward | undefined =>
    schedule.disturbances
      .filter(({ kind, number }) => kind === "call" && number < call.number)
      .filter(({ number }) => calls()[number - 1]?.key === call.key)
      .map(({ how }) => (how._tag === "Fault" ? how.onward : undefined))
      .find((onward) => onward !== undefined)

  /** The fault of the outage, which may begin with this call. */
  const outageOf = (call: Call): NamedFault | undefined => {
    if (outage === undefined) {
      outage = at("Outage", "call", call.number)
      if (outage !== undefined)
        story.add(`${outage.isLimit ? "a limit" : "an outage"} begins: each request is ${outage.fault.name}`)
    }
    return outage?.isLimit === true && call.operation !== "requestWithdrawal" ? undefined : outage?.fault
  }

  /** Whether what lasts still does. It is asked once for each request that would meet it. */
  const lasts = (most: Duration.Input): boolean => {
    lasting ??= {
      since: now(),
      until: now() + Math.min(Duration.toMillis(most), (end() - now()) / 2),
      left: outage?.isLimit === true ? Infinity : mostRequests
    }
    if (lasting.left === 0) return false
    lasting.left = now() < lasting.until ? lasting.left - 1 : 0
    if (lasting.left === 0) story.add("the gateway is well again")
    return lasting.left > 0
  }

  return {
    at,

    /** By how many milliseconds a short wait of a process is prolonged now. */
    prolonging: (): number => {
      const { since, until } = (lasting?.left === 0 ? undefined : lasting) ?? waiting ?? { since: 0, until: 0 }
      const length = now() - since
      if (now() >= until || length < exactly) return 0
      return Math.floor(Math.min(length, until - now()))
    },

    /** For so long the program waits for what comes late, from now on. */
    waitFor: (wait: Duration.Input): void => {
      waiting = { since: now(), until: now() + Duration.toMillis(Duration.fromInputUnsafe(wait)) }
    },

    /** Adds a place of the run. */
    add: (place: Place): void => void places.push(place),

    places: (): ReadonlyArray<Place> => places,

    /** The fault that the next request of a call meets. */
    faultOf: (call: Call, isFirst: boolean): NamedFault | undefined => {
      const own = at("Fault", "call", call.number)
      const during = outageOf(call)
      const onward = during === undefined ? onwardOf(call) : { fault: during, most: longest }
      const met = isFirst ? own?.first : own?.later
      const fault = onward !== undefined && lasts(onward.most ?? longest) ? onward.fault : met
      if (fault !== undefined) struck.add(call.process)
      return fault
    },

    /** Whether a failure of this process has another reason than the program: it was disturbed itself, or what it depends on is. */
    excuses: (process: number): boolean => struck.has(process) || schedule.disturbances.some(isLasting)
  }
}

/** See `makeDisturber`. */
export type Disturber = ReturnType<typeof makeDisturber>
