/**
 * The planned faults, in order; and the faults of `Fault` that can be planned by name, with the fields that each takes.
 */
import * as Record from "effect/Record"
import type { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../Fault.ts"
import { faultOf, type Met } from "../Reply.ts"

/** The fields of the faults that have a name over HTTP. */
interface Fields {
  readonly seconds: number
  readonly status: number
  readonly message: string
}

interface Named {
  readonly fields: Partial<Fields>
  readonly make: (given: Partial<Fields>) => Fault.Fault
}

const plain = (fault: Fault.Fault): Named => ({ fields: {}, make: () => fault })

const filled = <K extends keyof Fields>(
  fields: Pick<Fields, K>,
  make: (given: Pick<Fields, K>) => Fault.Fault
): Named => ({
  fields,
  make: (given) => make({ ...fields, ...given })
})

const faults = {
  resetAfter: plain(Fault.resetAfter),
  resetBefore: plain(Fault.resetBefore),
  silence: plain(Fault.silence()),
  truncated: plain(Fault.truncated),
  latency: filled({ seconds: 5 }, ({ seconds }) => Fault.latency(`${seconds} seconds`)),
  refusal: filled({ status: 503, message: "Serviço indisponível." }, ({ message, status }) =>
    Fault.refusal(status, message)
  ),
  answer: filled({ status: 200, message: "" }, ({ message, status }) => Fault.answer(status, { body: message })),
  html: filled({ status: 200 }, ({ status }) => Fault.html(status)),
  empty: filled({ status: 200 }, ({ status }) => Fault.empty(status)),
  retryAfter: filled({ seconds: 5, status: 429 }, ({ seconds, status }) =>
    Fault.retryAfter(`${seconds} seconds`, { status })
  ),
  tooSoon: plain(Fault.tooSoon),
  dailyLimit: plain(Fault.dailyLimit),
  nightLimit: plain(Fault.nightLimit),
  keyLimit: plain(Fault.keyLimit),
  blocked: plain(Fault.blocked),
  ownWords: filled({ message: "Recusado pela política da casa." }, ({ message }) => Fault.ownWords(message)),
  redirect: filled({ status: 307 }, ({ status }) => Fault.redirect("https://elsewhere.example/", status)),
  forgetKey: plain(Fault.forgetKey),
  failure: filled({ message: "Invalid Pix Entry" }, ({ message }) => Fault.failure(message)),
  brcode: plain(Fault.brcode),
  qrcode: plain(Fault.qrcode),
  localTimes: plain(Fault.localTimes),
  falseZ: plain(Fault.falseZ)
} satisfies { readonly [name: string]: Named }

/** The names of the faults. */
export const names = Record.keys(faults)

/** The fault of a name. */
export const named = (name: (typeof names)[number]): Named => faults[name]

interface Planned {
  readonly fault: Met
  left: number
}

/** Whether a connection is refused before its request arrives. */
export const isRefusal = (met: Met | undefined): boolean => faultOf(met)?.ending === "Refused"

export const makePlan = () => {
  const plans = new Map<Fault.FaultTarget, Array<Planned>>()

  const targetOf = (operation: Operation | undefined): Fault.FaultTarget =>
    operation !== undefined && (plans.get(operation)?.length ?? 0) > 0 ? operation : "any"

  /** Removes and returns the fault of the next request of the operation. */
  const next = (operation: Operation | undefined): Met => {
    const planned = plans.get(targetOf(operation))
    const first = planned?.[0]
    if (planned === undefined || first === undefined) return Fault.none
    first.left -= 1
    if (first.left <= 0) planned.shift()
    return first.fault
  }

  return {
    next,
    /** Whether the connection for the next request of the operation is refused. Such a fault is removed. */
    refuses: (operation: Operation | undefined): boolean => {
      if (!isRefusal(plans.get(targetOf(operation))?.[0]?.fault)) return false
      next(operation)
      return true
    },
    add: (target: Fault.FaultTarget, faults: ReadonlyArray<Met>, times: number): void => {
      const planned = plans.get(target) ?? []
      planned.push(...faults.map((fault) => ({ fault, left: times })))
      plans.set(target, planned)
    },
    clear: (): void => plans.clear(),
    all: (): ReadonlyArray<Fault.PlannedFault> =>
      Array.from(plans, ([operation, planned]) =>
        planned.flatMap(({ fault: met, left }) => {
          const fault = faultOf(met)
          return fault === undefined ? [] : [{ operation, fault, left }]
        })
      ).flat()
  }
}
