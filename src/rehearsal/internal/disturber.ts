/**
 * Disturbs one run as its schedule says: which fault a request meets, and where a process dies or stands still. It also knows
 * the places of the run, which may be disturbed in the next.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import { OwnFault } from "../../sandbox/Reply.ts"
import type { SandboxService } from "../../sandbox/SandboxService.ts"
import { type Call, CurrentCall } from "./calls.ts"
import {
  type How,
  type HowOf,
  isLasting,
  type NamedFault,
  type Onward,
  type Place,
  type Schedule
} from "./schedules.ts"
import type { Story } from "./story.ts"
import { stallFor } from "./time.ts"

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

/** `end` is when the run is stopped at the latest. */
export const makeDisturber = (
  { disturbances }: Schedule,
  now: () => number,
  story: Story,
  calls: () => ReadonlyArray<Call>,
  end: () => number
) => {
  const places: Array<Place> = []
  const struck = new Set<number>()
  let outage: HowOf<"Outage"> | undefined
  /** While the program waits for what comes late: a payment, the end of a payout, the lease of a process that died. */
  let waiting: { readonly since: number; readonly until: number } | undefined
  let lasting: { readonly since: number; readonly until: number; left: number } | undefined

  /** How the schedule disturbs a place. A process that it disturbs by itself is struck. */
  const at = <Tag extends How["_tag"]>(tag: Tag, kind: Place["kind"], number: number): HowOf<Tag> | undefined =>
    disturbances
      .filter((one) => one.kind === kind && one.number === number)
      .map(({ how }) => how)
      .find((how): how is HowOf<Tag> => how._tag === tag)

  /** What later calls under the key of an earlier one meet. */
  const onwardOf = (call: Call): Onward | undefined =>
    disturbances
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
    excuses: (process: number): boolean => struck.has(process) || disturbances.some(isLasting)
  }
}

/** See `makeDisturber`. */
type Disturber = ReturnType<typeof makeDisturber>

/** What the parts of a run share: its clock, its story, its disturber, and its gateway. */
export interface Stage {
  readonly now: () => number
  readonly story: Story
  readonly disturber: Disturber
  readonly sandbox: SandboxService
  /** Runs an effect in the world, which outlives the processes. */
  readonly forkInWorld: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
}

/** How a process runs a turn, dies and stands still. */
interface Control {
  readonly enter: (run: () => void) => void
  readonly die: (why: string) => Effect.Effect<never>
  readonly stall: (why: string) => void
}

/**
 * The `HttpClient` of a process under rehearsal. Each request runs in the world, so that the gateway continues when the
 * process dies. A request of the disturbed call meets a fault, or its process dies or stands still.
 */
export const makeTransport = (
  gateway: HttpClient.HttpClient,
  { disturber, forkInWorld, story }: Stage,
  { die, enter, stall }: Control
): HttpClient.HttpClient =>
  HttpClient.make((request, _url, _signal, fiber) =>
    Effect.suspend(() => {
      const call = Context.get(fiber.context, CurrentCall)
      if (call === undefined) return gateway.execute(request)
      call.requests++
      const { number } = call
      const isFirst = call.requests === 1
      const death = isFirst ? disturber.at("Death", "call", number) : undefined
      if (death?.isAfter === false) return die(`before call ${number} is sent`)
      const stalls = isFirst ? disturber.at("Stall", "call", number) : undefined
      if (stalls?.isAfter === false) stall(`before call ${number} is sent`)
      const met = disturber.faultOf(call, isFirst)
      // The answer says how many requests it took.
      if (met !== undefined && met.name !== call.fault) story.addOfCall(call, `, request ${call.requests}: ${met.name}`)
      call.fault = met?.name
      const sent = Effect.provideService(gateway.execute(request), OwnFault, met?.fault)
      type Sent = Exit.Exit<Effect.Success<typeof sent>, Effect.Error<typeof sent>>
      return Effect.callback<Effect.Success<typeof sent>, Effect.Error<typeof sent>>((resume) => {
        const going = forkInWorld(stalls?.isAfter === false ? Effect.delay(sent, stallFor) : sent)
        going.addObserver((exit: Sent) => {
          if (death !== undefined) void die(`after call ${number} was executed, before its answer comes`)
          if (stalls?.isAfter === true) stall(`after call ${number} was executed, before its answer comes`)
          enter(() => resume(exit))
        })
        // An interrupted caller closes its connection.
        return Effect.sync(() => going.interruptUnsafe())
      })
    })
  )
