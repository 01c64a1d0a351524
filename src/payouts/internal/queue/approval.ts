/**
 * Who has to agree, where money may leave: a payout above the account's limit is sent after a person other than its submitter
 * approved it, and two people say of such a payout that it was not executed. Nothing here reads or writes.
 *
 * A name is what a caller says: it is compared, and not proved.
 */
import * as Schema from "effect/Schema"
import { withoutInvisible } from "../../../durable/Step.ts"
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import { PayoutAsked } from "../../PayoutStatus.ts"
import { isApproved } from "./conditions.ts"
import type { Event } from "./entries.ts"
import * as Row from "./row.ts"

/** A name as it is compared: two ways to write one name are one. Empty: nobody is named. */
export const foldName = (name: string | null | undefined): string =>
  withoutInvisible(withoutAccents(name ?? ""))
    .replaceAll(/\s+/gu, " ")
    .trim()
    // Both, so that `ß` and `SS`, and both small sigmas, are one.
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKC")

/** Whether a person is the first or the second one of a step, or why the person is neither. */
export const placeOf = (
  first: string | null | undefined,
  by: string | undefined
): "First" | "Second" | { readonly problem: string } => {
  const name = foldName(by)
  if (name === "") return { problem: "Two people have to take this step: it has to name who does." }
  if (foldName(first) === "") return "First"
  return foldName(first) === name
    ? { problem: "Two people have to agree to it, and this one did: another person has to take the same step." }
    : "Second"
}

/** Whether no request of a payout may be sent before another person approved it. What is in doubt goes on. */
export const needsApproval = (payout: Row.Row, fourEyesAbove: number | null): boolean =>
  !isApproved.of({ payout, account: { fourEyesAbove } })

type Asked = typeof PayoutAsked.Type.step

/** Changes that the second of two people makes. The first one's name is stored, and changes nothing else. */
const byTwo = (step: Asked, first: string | null, by: string | undefined, changes: Row.Changes): Row.Step => {
  const place = placeOf(first, by)
  if (typeof place !== "string") return place.problem
  return place === "Second" ? changes : { askedStep: step, askedBy: by ?? null }
}

const askerOf = ({ askedBy, askedStep }: Row.Row, step: Asked) => (askedStep === step ? askedBy : null)

/**
 * As `resume` of the row: by two people where it needs approval, and with `notExecuted` where it, or the sum of all that are resumed
 * by one step, is above the limit.
 */
export const resume = (
  row: Row.Row,
  deciding: Row.Deciding,
  { by, notExecuted, sum }: { readonly by: string | undefined; readonly notExecuted: boolean; readonly sum: number }
): Row.Step => {
  const resumed = Row.resume(row, deciding, notExecuted)
  const limit = deciding.account.fourEyesAbove
  const needs = needsApproval(row, limit)
  const isAsked = notExecuted && (row.needsApproval || (limit !== null && Math.max(row.amount, sum) > limit))
  if (typeof resumed === "string" || !(needs || isAsked)) return resumed
  const step = notExecuted ? "NotExecuted" : "Approve"
  const asker = askerOf(row, step)
  const { submittedBy } = row
  const isNamed = foldName(submittedBy) !== ""
  // Of two people one is not the submitter.
  const approvedBy = isNamed && foldName(submittedBy) === foldName(by) ? asker : by
  const approved = needs ? { needsApproval: true, approvedBy: approvedBy ?? null, approvedAt: deciding.now } : {}
  return byTwo(step, isNamed && !isAsked ? submittedBy : asker, by, { ...resumed, ...approved })
}

const isStep = Schema.is(PayoutAsked.fields.step)

/** The event of what a person's step changed. */
export const eventOf = (event: Event, { approvedAt, askedStep }: Row.Changes): Event => {
  if (isStep(askedStep)) return { _tag: "Asked", step: askedStep }
  const isApproval = typeof approvedAt === "number" && event._tag === "Resumed" && !event.notExecuted
  return isApproval ? { _tag: "Approved" } : event
}

/** What a list above the limit makes of a payout. */
export const parked = { _tag: "Parked", because: "NeedsApproval" } as const
