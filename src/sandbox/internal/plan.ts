/**
 * The planned faults, in order.
 */
import type { Operation } from "../../contract/PaymentsError.ts"
import * as Fault from "../Fault.ts"
import type { FaultTarget, PlannedFault } from "../Fault.ts"

interface Planned {
  readonly fault: Fault.Fault
  left: number
}

export const makePlan = () => {
  const plans = new Map<FaultTarget, Array<Planned>>()

  const targetOf = (operation: Operation | undefined): FaultTarget =>
    operation !== undefined && (plans.get(operation)?.length ?? 0) > 0 ? operation : "any"

  /** Removes and returns the fault of the next request of the operation. */
  const next = (operation: Operation | undefined): Fault.Fault => {
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
      if (plans.get(targetOf(operation))?.[0]?.fault._tag !== "Refuse") return false
      next(operation)
      return true
    },
    add: (target: FaultTarget, faults: ReadonlyArray<Fault.Fault>, times: number): void => {
      const planned = plans.get(target) ?? []
      planned.push(...faults.map((fault) => ({ fault, left: times })))
      plans.set(target, planned)
    },
    clear: (): void => plans.clear(),
    all: (): ReadonlyArray<PlannedFault> =>
      Array.from(plans, ([operation, planned]) => planned.map((entry) => ({ operation, ...entry }))).flat()
  }
}
