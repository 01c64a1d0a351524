/**
 * Who has to agree, where money may leave: a payout above the account's limit is sent after a person other than its submitter
 * approved it, and two people say of such a payout that it was not executed. Nothing here reads or writes.
 *
 * A name is what a caller says: it is compared, and not proved.
 */
import { withoutInvisible } from "../../../durable/Step.ts"
import { withoutAccents } from "../../../internal/withoutAccents.ts"
import { isApproved } from "./conditions.ts"
import type { Row } from "./row.ts"

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
export const turnOf = (
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

type Guarded = Parameters<typeof isApproved.of>[0]["payout"]

/** Whether no request of a payout may be sent before another person approved it. What is in doubt goes on. */
export const needsApproval = (payout: Guarded, fourEyesAbove: number | null): boolean =>
  !isApproved.of({ payout, account: { fourEyesAbove } })

/**
 * Who resumes a payout: two people where it needs approval, and with `notExecuted` where it, or the sum of all that are resumed by one
 * step, is above the limit. The first one's name is stored, and changes nothing else.
 */
export const resumption = (
  payout: Guarded & Pick<Row, "askedBy" | "askedStep" | "submittedBy">,
  limit: number | null,
  { by, notExecuted, sum }: { readonly by: string | undefined; readonly notExecuted: boolean; readonly sum: number }
) => {
  const step = notExecuted ? ("NotExecuted" as const) : ("Approve" as const)
  const needs = needsApproval(payout, limit)
  const isAsked = notExecuted && (payout.needsApproval || (limit !== null && Math.max(payout.amount, sum) > limit))
  const asker = payout.askedStep === step ? payout.askedBy : null
  const { submittedBy } = payout
  const isNamed = foldName(submittedBy) !== ""
  const turn = needs || isAsked ? turnOf(isNamed && !isAsked ? submittedBy : asker, by) : "Second"
  // Of two people one is not the submitter.
  const approver = isNamed && foldName(submittedBy) === foldName(by) ? asker : by
  return {
    step,
    /** Why this person may not. */
    problem: typeof turn === "string" ? undefined : turn.problem,
    isFirst: turn === "First",
    /** Who approves it by the step; `undefined`: it needs no approval. */
    approvedBy: needs ? (approver ?? null) : undefined
  }
}
