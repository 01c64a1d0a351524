/**
 * Faults by name, as the steering API orders and shows them.
 */
import type { FaultOrder } from "../SandboxApi.ts"
import * as Fault from "../Fault.ts"

/** The faults that have no options. */
const plain = {
  resetBefore: Fault.resetBefore,
  resetAfter: Fault.resetAfter,
  hangUpBefore: Fault.hangUpBefore,
  hangUpAfter: Fault.hangUpAfter,
  headersThenSilence: Fault.headersThenSilence,
  truncated: Fault.truncated,
  truncatedByReset: Fault.truncatedByReset,
  forgetKey: Fault.forgetKey
}

/** The fault that an order asks for. */
export const toFault = (order: FaultOrder): Fault.Fault => {
  const { executed, fault, location, message, seconds = 5, status } = order
  const wait = `${seconds} seconds` as const
  switch (fault) {
    case "latency":
      return Fault.latency(wait, { executed })
    case "silence":
      return Fault.silence({ executed })
    case "drip":
      return Fault.drip(wait)
    case "refusal":
      return Fault.refusal(status ?? 503, message ?? "Serviço indisponível.", { executed })
    case "html":
      return Fault.html(status, { executed })
    case "empty":
      return Fault.empty(status, { executed })
    case "malformed":
      return Fault.malformed(status, { executed })
    case "retryAfter":
      return Fault.retryAfter(wait, { status })
    case "redirect":
      return Fault.redirect(location ?? "https://elsewhere.example/", status)
    case "oversize":
      return Fault.oversize()
    case "gzipBomb":
      return Fault.gzipBomb()
    case "otherKey":
      return Fault.otherKey()
    default:
      return plain[fault]
  }
}

/** What a fault is called. */
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
