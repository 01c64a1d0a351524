/**
 * Faults by name, as the steering API takes and shows them.
 */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../Fault.ts"

/** The options of an order. */
const options = {
  /** The status of an answer. */
  status: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  /** The message of a `refusal`. */
  message: Schema.optional(Schema.String),
  /** The headers and the body of an `answer`. */
  headers: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  body: Schema.optional(Schema.String),
  location: Schema.optional(Schema.String),
  /** For a late answer. Default: 5. */
  seconds: Schema.optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))),
  /** Whether the request is executed, where a fault leaves it open. */
  executed: Schema.optional(Schema.Boolean)
}
type Options = Schema.Struct.Type<typeof options>

const wait = ({ seconds = 5 }: Options) => `${seconds} seconds` as const

/** The functions and values of `Fault` by name. */
const faults = {
  latency: (order: Options) => Fault.latency(wait(order), order),
  refuse: () => Fault.refuse,
  resetBefore: () => Fault.resetBefore,
  resetAfter: () => Fault.resetAfter,
  hangUpBefore: () => Fault.hangUpBefore,
  hangUpAfter: () => Fault.hangUpAfter,
  silence: (order: Options) => Fault.silence(order),
  headersThenSilence: () => Fault.headersThenSilence,
  drip: (order: Options) => Fault.drip(wait(order)),
  truncated: () => Fault.truncated,
  truncatedByReset: () => Fault.truncatedByReset,
  answer: (order: Options) => Fault.answer(order.status ?? 200, order),
  refusal: (order: Options) => Fault.refusal(order.status ?? 503, order.message ?? "Serviço indisponível.", order),
  html: (order: Options) => Fault.html(order.status, order),
  empty: (order: Options) => Fault.empty(order.status, order),
  malformed: (order: Options) => Fault.malformed(order.status, order),
  retryAfter: (order: Options) => Fault.retryAfter(wait(order), { status: order.status }),
  redirect: (order: Options) => Fault.redirect(order.location ?? "https://elsewhere.example/", order.status),
  oversize: () => Fault.oversize(),
  gzipBomb: () => Fault.gzipBomb(),
  forgetKey: () => Fault.forgetKey,
  otherKey: () => Fault.otherKey()
}

/** An order of a fault, by its name. */
export const FaultOrder = Schema.Struct({
  fault: Schema.Literals(Record.keys(faults)),
  /** Default: any. */
  operation: Schema.optional(Schema.Union([Operation, Schema.Literal("any")])),
  /** How many requests it meets. Default: 1. */
  times: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))),
  ...options
}).annotate({ identifier: "FaultOrder" })
type FaultOrder = typeof FaultOrder.Type

/** The fault that an order asks for. */
export const toFault = (order: FaultOrder): Fault.Fault => faults[order.fault](order)

/** The name of a fault. */
export const nameOf = (fault: Fault.Fault): string => {
  switch (fault._tag) {
    case "Broken":
      return `${fault.how === "Reset" ? "reset" : "hangUp"}${fault.executed ? "After" : "Before"}`
    case "Truncate":
      return fault.how === "Reset" ? "truncatedByReset" : "truncated"
    case "Silence":
      return fault.headers ? "headersThenSilence" : "silence"
    case "Oversize":
      return fault.gzip ? "gzipBomb" : "oversize"
    case "Answer":
      return `answer ${fault.status}`
    default:
      return `${fault._tag.charAt(0).toLowerCase()}${fault._tag.slice(1)}`
  }
}
