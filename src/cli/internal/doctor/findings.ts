/** What the doctor found: one assumption a line, whether it holds, and where the code has it. */

/** `note`: nothing breaks, but it is worth knowing. `skipped`: these answers could not tell. */
export type Verdict = "holds" | "wrong" | "note" | "skipped"

export interface Finding {
  readonly verdict: Verdict
  /** The assumption. */
  readonly what: string
  /** What was seen in its place: names of fields, words and forms, never what is written of a person. */
  readonly seen?: string
  /** The page and the file that have it. */
  readonly where: string
}

export const places = {
  operations: "docs/service.md#the-five-operations-section-4, src/contract/Endpoints.ts",
  list: "docs/service.md#responses-sections-22-24-to-27, src/contract/Transaction.ts (TransactionListItem)",
  detail: "docs/service.md#responses-sections-22-24-to-27, src/contract/Transaction.ts (TransactionDetail)",
  balance: "docs/service.md#responses-sections-22-24-to-27, src/contract/Balance.ts",
  decimals: "docs/service.md#responses-sections-22-24-to-27, src/pix/Money.ts (ReaisFromJson, toCentavos)",
  times: "docs/service.md#responses-sections-22-24-to-27, src/internal/wire.ts (Timestamp)",
  words: "docs/service.md#states-section-3, src/contract/Status.ts",
  limits: "docs/service.md#requests-sections-21-23-8, src/contract/Endpoints.ts (listTransactions)",
  pages: "docs/listing.md#what-is-promised-and-on-what-it-rests, src/transactions/internal/pageReader.ts",
  refusals: "docs/service.md#errors-and-limits-sections-7-8, src/client/internal/call/toError.ts",
  settings: "docs/getting-started.md#a-real-gateway-from-the-environment, src/client/Payments.ts"
} as const

/** Takes down findings, and each assumption once for each thing that was seen. */
export const makeFindings = () => {
  const found = new Map<string, Finding>()
  const tell = (verdict: Verdict, what: string, where: string, seen?: string) => {
    const key = `${what}\n${seen ?? ""}`
    if (!found.has(key)) found.set(key, { verdict, what, where, ...(seen !== undefined && { seen }) })
  }
  return {
    tell,
    /** Holds, or is wrong by what was seen. */
    expect: (holds: boolean, what: string, where: string, seen: string) =>
      holds ? tell("holds", what, where) : tell("wrong", what, where, seen),
    all: (): ReadonlyArray<Finding> => [...found.values()]
  }
}
export type Findings = ReturnType<typeof makeFindings>

/** A word of a vocabulary, as it may be shown; what does not look like one is not. */
export const word = (value: unknown): string =>
  typeof value === "string" && /^[A-Za-z][A-Za-z_-]{0,29}$/.test(value) ? value : `(${kindOf(value)})`

/** What a value is, without the value. */
export const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (value === undefined) return "nothing"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object") return "an object"
  if (typeof value === "string") return value === "" ? "an empty text" : "a text"
  if (typeof value === "number") return numberKind(value)
  return `a ${typeof value}`
}

const numberKind = (value: number): string => {
  if (!Number.isInteger(value)) return "a number with decimals"
  if (!Number.isSafeInteger(value)) return "a number too large to be exact"
  return value < 0 ? "a negative number" : "a whole number"
}

/** The form of a text: each digit is a 9, each letter but T and Z an x. */
export const formOf = (text: string): string =>
  text
    .slice(0, 40)
    .replaceAll(/\d/g, "9")
    .replaceAll(/(?![TZ])\p{L}/gu, "x")
    .replaceAll(/[^\w:.,+/ -]/gu, "?")
