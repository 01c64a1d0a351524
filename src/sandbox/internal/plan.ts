/**
 * The planned faults, in order.
 */
import type { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../Fault.ts"
import { faultOf, type Met } from "../Reply.ts"

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
