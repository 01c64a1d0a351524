/**
 * The `HttpClient` of a process under rehearsal. Each request runs in the world, so that the gateway continues when the
 * process dies. A request of the disturbed call meets a fault, or its process dies.
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
  /** The client of the gateway. */
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
        call !== undefined && disturbance !== undefined && "call" in disturbance && disturbance.call === call.number
          ? disturbance
          : undefined
      const isDeath = here?._tag === "Death" && isFirst
      if (isDeath && !here.isAfter) {
        die(`before call ${here.call} is sent`)
        return Effect.never
      }
      const met = here?._tag === "Fault" ? here[isFirst ? "first" : "later"] : undefined
      if (met !== undefined) story.add(`call ${call?.number}, request ${call?.requests}: ${met.name}`)
      const sent = Effect.provideService(gateway.execute(request), OwnFault, met?.fault)
      type Sent = Exit.Exit<Effect.Success<typeof sent>, Effect.Error<typeof sent>>
      return Effect.callback<Effect.Success<typeof sent>, Effect.Error<typeof sent>>((resume) => {
        const going = forkInWorld(sent)
        going.addObserver((exit: Sent) => {
          if (isDeath) die(`after call ${here.call} was executed, before its answer comes`)
          if (!life.isDead) resume(exit)
        })
        // An interrupted caller closes its connection.
        return Effect.sync(() => going.interruptUnsafe())
      })
    })
  )
