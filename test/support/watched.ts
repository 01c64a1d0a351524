/** Runs programs that may be interrupted, and collects what their client reported, logged and sent. */
import { Duration, Effect, Exit, Fiber, Layer, Logger, Option } from "effect"
import { type OutcomeUnknown, type Payments, PaymentsPolicy } from "effect-pix"
import { TestClock } from "effect/testing"
import { paymentsOn, type Script, scripted } from "./Wire.ts"

export type Hook = (report: OutcomeUnknown) => Effect.Effect<void>

/** A layer that collects the reports of interrupted writes, and the lines of the log. */
export const watching = (settings: Partial<PaymentsPolicy>, hook: Hook = () => Effect.void) => {
  const reports: Array<OutcomeUnknown> = []
  const lines: Array<string> = []
  const policy = PaymentsPolicy.layer({
    ...settings,
    onInterruptedWrite: (report) => {
      reports.push(report)
      return hook(report)
    }
  })
  const logger = Logger.make(({ logLevel, message }) => lines.push(`${logLevel} ${String(message)}`))
  return { lines, reports, policy, logger: Logger.layer([logger]) }
}

interface Watched {
  readonly settings?: Partial<PaymentsPolicy>
  readonly hook?: Hook
  /** When the program is interrupted. Default: it is not. */
  readonly interruptedAfter?: Duration.Input | undefined
  /** Default: `Payments` on the replies, with the settings as the policy of its layer. */
  readonly payments?: Layer.Layer<Payments, unknown> | undefined
}

/** Runs a program whose requests get these replies, for a day. */
export const watch = Effect.fnUntraced(function* <A, E>(
  program: Effect.Effect<A, E, Payments>,
  { hook, interruptedAfter, payments, settings = {} }: Watched,
  ...script: Script
) {
  const { layer, sent } = scripted(...script)
  const { lines, logger, policy, reports } = watching(settings, hook)
  const client = payments === undefined ? Layer.provide(paymentsOn(layer), policy) : Layer.merge(payments, policy)
  const fiber = yield* Effect.forkChild(Effect.provide(program, [client, logger]))
  yield* TestClock.adjust(interruptedAfter ?? Duration.days(1))
  if (interruptedAfter !== undefined) yield* Fiber.interrupt(fiber)
  const exit = yield* Fiber.await(fiber)
  return { exit, error: Option.getOrUndefined(Exit.findErrorOption(exit)), lines, reports, sent }
})
