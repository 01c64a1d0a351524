/**
 * The `HttpClient` of a process under rehearsal. Each request runs in the world, so that the gateway continues when the
 * process dies. A request of the disturbed call meets a fault, or its process dies or stands still.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { OwnFault } from "../../sandbox/Reply.ts"
import { CurrentCall } from "./calls.ts"
import type { Disturber } from "./disturber.ts"
import type { Story } from "./story.ts"
import { stallFor } from "./time.ts"

interface Options {
  /** The client of the gateway. */
  readonly gateway: HttpClient.HttpClient
  /** Runs a turn of the process. */
  readonly enter: (run: () => void) => void
  readonly disturber: Disturber
  readonly forkInWorld: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  readonly die: (why: string) => void
  readonly stall: (why: string) => void
  readonly story: Story
}

export const makeTransport = ({
  die,
  disturber,
  enter,
  forkInWorld,
  gateway,
  stall,
  story
}: Options): HttpClient.HttpClient =>
  HttpClient.make((request, _url, _signal, fiber) =>
    Effect.suspend(() => {
      const call = Context.get(fiber.context, CurrentCall)
      if (call === undefined) return gateway.execute(request)
      call.requests++
      const { number } = call
      const isFirst = call.requests === 1
      const death = isFirst ? disturber.at("Death", "call", number) : undefined
      if (death?.isAfter === false) {
        die(`before call ${number} is sent`)
        return Effect.never
      }
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
          if (death !== undefined) die(`after call ${number} was executed, before its answer comes`)
          if (stalls?.isAfter === true) stall(`after call ${number} was executed, before its answer comes`)
          enter(() => resume(exit))
        })
        // An interrupted caller closes its connection.
        return Effect.sync(() => going.interruptUnsafe())
      })
    })
  )
