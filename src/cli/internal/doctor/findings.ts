/**
 * The findings of the doctor. Each is one assumption: whether it is true, and where in the code it is made. They are shown
 * without values, so that they can be attached to an issue.
 */

/** `note`: an information, nothing is wrong. `skipped`: the answers do not show whether the assumption is true. */
export type Verdict = "holds" | "wrong" | "note" | "skipped"

export interface Finding {
  readonly verdict: Verdict
  /** The assumption. */
  readonly what: string
  /** What the gateway answers instead: names of fields, words and forms, never personal data. */
  readonly seen?: string
  /** The page and the file of the assumption. */
  readonly where: string
}

export const places = {
  operations: "docs/service.md#the-five-operations-section-4, src/contract/Endpoints.ts",
  list: "docs/service.md#responses-sections-22-24-to-27, src/contract/Transaction.ts (TransactionListItem)",
  detail: "docs/service.md#responses-sections-22-24-to-27, src/contract/Transaction.ts (TransactionDetail)",
  rows: "docs/reconciling.md#which-ids-may-meet, src/transactions/Reconcile.ts",
  balance: "docs/service.md#responses-sections-22-24-to-27, src/contract/Balance.ts",
  decimals: "docs/service.md#responses-sections-22-24-to-27, src/pix/Money.ts (ReaisFromJson, toCentavos)",
  times: "docs/service.md#responses-sections-22-24-to-27, src/internal/wire.ts (Timestamp)",
  words: "docs/service.md#states-section-3, src/contract/Status.ts",
  limits: "docs/service.md#requests-sections-21-23-8, src/contract/Endpoints.ts (listTransactions)",
  pages: "docs/listing.md#what-is-promised-and-on-what-it-rests, src/transactions/internal/pageReader.ts",
  refusals: "docs/service.md#errors-and-limits-sections-7-8, src/client/internal/call/judge.ts",
  settings: "docs/getting-started.md#a-real-gateway-from-the-environment, src/client/Payments.ts"
} as const

/** Collects findings, without duplicates. */
export const makeFindings = () => {
  const found = new Map<string, Finding>()
  const add = (verdict: Verdict, what: string, where: string, seen?: string) => {
    const key = `${what}\n${seen ?? ""}`
    if (!found.has(key)) found.set(key, { verdict, what, where, ...(seen !== undefined && { seen }) })
  }
  return {
    add,
    /** Adds an assumption that is true, or wrong with what was seen instead. */
    expect: (holds: boolean, what: string, where: string, seen: string) =>
      holds ? add("holds", what, where) : add("wrong", what, where, seen),
    all: (): ReadonlyArray<Finding> => [...found.values()]
  }
}
export type Findings = ReturnType<typeof makeFindings>

const labels: Record<Verdict, string> = { holds: "ok   ", wrong: "WRONG", note: "note ", skipped: "skip " }

const lineOf = ({ seen, verdict, what, where }: Finding): string =>
  `${labels[verdict]}  ${what}${seen === undefined ? "" : `: ${seen}`}${verdict === "holds" ? "" : `\n         in ${where}`}`

export const countsOf = (findings: ReadonlyArray<Finding>): string => {
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length
  return `${count("holds")} hold, ${count("wrong")} wrong, ${count("note")} to know, ${count("skipped")} not checked`
}

export const textOf = (findings: ReadonlyArray<Finding>): string => findings.map(lineOf).join("\n")
