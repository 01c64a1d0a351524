/**
 * The `HttpClient` of a process under rehearsal: each request runs in the world, so that the gateway goes on when the
 * process dies. The requests of the disturbed call meet its fault, or the death of their process.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { OwnFault } from "../ownFault.ts"
import { CurrentCall } from "./calls.ts"
import type { Disturbance } from "./schedules.ts"
import type { Story } from "./story.ts"
import type { Life } from "./time.ts"

interface Options {
  /** The gateway's own. */
  readonly gateway: HttpClient.HttpClient
  readonly life: Life
  readonly disturbance: Disturbance | undefined
  readonly forkInWorld: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  readonly die: (why: string) => void
  readonly story: Story
}

export const makeTransport = ({
  die,
  disturbance,
  forkInWorld,
  gateway,
  life,
  story
}: Options): HttpClient.HttpClient =>
  HttpClient.make((request, _url, _signal, fiber) =>
    Effect.suspend(() => {
      const call = Context.get(fiber.context, CurrentCall)
      const isFirst = call?.requests === 0
      if (call !== undefined) call.requests++
      const here =
        disturbance !== undefined &&
        (disturbance._tag === "Fault" || disturbance._tag === "Death") &&
        call?.number === disturbance.call &&
        (isFirst || (disturbance._tag === "Fault" && disturbance.isEach))
          ? disturbance
          : undefined
      if (here?._tag === "Death" && !here.isAfter) {
        die(`before call ${here.call} is sent`)
        return Effect.never
      }
      const fault = here?._tag === "Fault" ? here.fault : undefined
      if (here?._tag === "Fault") story.add(`call ${here.call}, request ${call?.requests}: ${here.name}`)
      const sent = Effect.provideService(gateway.execute(request), OwnFault, fault)
      type Sent = Exit.Exit<Effect.Success<typeof sent>, Effect.Error<typeof sent>>
      return Effect.callback<Effect.Success<typeof sent>, Effect.Error<typeof sent>>((resume) => {
        const going = forkInWorld(sent)
        going.addObserver((exit: Sent) => {
          if (here?._tag === "Death") die(`after call ${here.call} was executed, before its answer comes`)
          if (!life.isDead) resume(exit)
        })
        // A caller that gives up closes its connection.
        return Effect.sync(() => going.interruptUnsafe())
      })
    })
  )
