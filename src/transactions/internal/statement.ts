/** Compares the bank's statement with payouts. The end-to-end id alone settles; what else agrees is shown to a person. */
import type * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Document from "../../pix/Document.ts"
import type { Centavos } from "../../pix/Money.ts"
import { dayInSaoPaulo } from "../../internal/utc.ts"

/** A line of a statement. It may have more fields; the result returns them. */
export interface StatementLine {
  /** In centavos. */
  readonly amount: Centavos
  /** `in` is money that arrived, or came back. Default: `out`. */
  readonly direction?: "in" | "out" | undefined
  /** The day in São Paulo, as `2026-11-21`. */
  readonly day?: string | undefined
  /** The id that every PIX has at both banks: `E`, digits and letters, 32 in all. */
  readonly endToEndId?: string | undefined
  /** The CPF or CNPJ of who was paid, in full or masked. */
  readonly document?: string | undefined
}

/** A payout, as far as it is compared: a `PayoutStatus` is one. */
export interface StatementPayout {
  /** Your reference. */
  readonly reference: string
  /** In centavos. */
  readonly amount: Centavos
  /** Its state, as `PayoutStatus` names it. */
  readonly state: string
  /** The end-to-end id that the gateway said. */
  readonly endToEndId?: string | undefined
  /** It was paid from this time, if it was. */
  readonly submittedAt: DateTime.Utc
  /** It was paid until this time, if it was. */
  readonly updatedAt: DateTime.Utc
  /** The CPF or CNPJ of its payee, in full or masked. */
  readonly document?: string | undefined
}

/**
 * Why a line and payouts are for a person to look at.
 *
 * - `SameAmountAndDay`: the amounts are equal, and days and documents where both sides have them. That proves nothing: 500 salaries may be equal.
 * - `OtherAmount`: the end-to-end ids are equal, and the amounts differ.
 * - `SeveralOfOneId`: several lines, or several payouts, have this end-to-end id.
 * - `CameBack`: money arrived that may be of these payouts, by this end-to-end id, or with an id of a return or none. They may have been
 *   returned, or a part of them: compare the amounts.
 */
export type StatementDoubt = "SameAmountAndDay" | "OtherAmount" | "SeveralOfOneId" | "CameBack"

/** What a statement says of payouts. */
export interface Statement<L extends StatementLine = StatementLine, P extends StatementPayout = StatementPayout> {
  /** One line and one payout of the same end-to-end id and amount. */
  readonly matched: ReadonlyArray<{ readonly line: L; readonly payout: P }>
  /** Lines that may be of these payouts. Never settle by it: a person looks. Lines of one kind share the list of payouts. */
  readonly ambiguous: ReadonlyArray<{
    readonly line: L
    readonly payouts: Arr.NonEmptyReadonlyArray<P>
    readonly because: StatementDoubt
  }>
  /** The rest: lines of no payout, in their order, and payouts of no line. */
  readonly alone: { readonly lines: ReadonlyArray<L>; readonly payouts: ReadonlyArray<P> }
}

/** Banks write letters of an id in either case. */
const idOf = ({ endToEndId = "" }: { readonly endToEndId?: string | undefined }): string =>
  endToEndId.trim().toUpperCase()

const addTo = <K, A>(groups: Map<K, Array<A>>, key: K, value: A): void => {
  const group = groups.get(key)
  if (group === undefined) groups.set(key, [value])
  else group.push(value)
}

const groupBy = <K, A>(values: Iterable<A>, keyOf: (value: A) => K): Map<K, Array<A>> => {
  const groups = new Map<K, Array<A>>()
  for (const value of values) addTo(groups, keyOf(value), value)
  return groups
}

/** A document in full, if it is one. */
const fullDocument = (text: string | undefined) =>
  text === undefined
    ? undefined
    : Option.getOrUndefined(
        Option.orElse(Document.cpfOption(text), (): Option.Option<Document.Cpf | Document.Cnpj> =>
          Document.cnpjOption(text)
        )
      )

/** A payout, with what each line is compared with. */
interface Prepared<P> {
  readonly payout: P
  readonly id: string
  readonly from: string
  readonly until: string
  /** The last day on which its money may come back. */
  readonly backUntil: string
  readonly full: Document.Cpf | Document.Cnpj | undefined
}

const prepare = <P extends StatementPayout>(payout: P): Prepared<P> => ({
  payout,
  id: idOf(payout),
  from: dayInSaoPaulo(payout.submittedAt),
  until: dayInSaoPaulo(payout.updatedAt),
  backUntil: dayInSaoPaulo(DateTime.add(payout.updatedAt, { days: 90 })),
  full: fullDocument(payout.document)
})

/** Makes the search for the payouts of the amount, day and document of a line. Equal lines share the result. */
const makeCandidates = <P extends StatementPayout>(payouts: ReadonlyArray<Prepared<P>>) => {
  const byAmount = groupBy(payouts, ({ payout }) => payout.amount)
  const found = new Map<string, ReadonlyArray<P>>()
  const search = ({ amount, day, document, ...line }: StatementLine): ReadonlyArray<P> => {
    const full = fullDocument(document)
    const agreesOn = ({ full: ofPayout, payout }: Prepared<P>): boolean | undefined => {
      if (ofPayout !== undefined) return full === undefined ? Document.matches(document, ofPayout) : full === ofPayout
      return full === undefined ? undefined : Document.matches(payout.document, full)
    }
    const ofDay = (byAmount.get(amount) ?? []).filter(
      ({ from, id, until }) =>
        // Another end-to-end id is another payment.
        (id === "" || idOf(line) === "") && (day === undefined || (from <= day && day <= until))
    )
    const byDocument = groupBy(ofDay, agreesOn)
    return (byDocument.get(true) ?? byDocument.get(undefined) ?? []).map(({ payout }) => payout)
  }
  return (line: StatementLine): ReadonlyArray<P> => {
    const key = [line.amount, line.day, line.document, idOf(line) === ""].join("\n")
    const known = found.get(key)
    if (known !== undefined) return known
    const candidates = search(line)
    found.set(key, candidates)
    return candidates
  }
}

/** What the lines and the payouts of one end-to-end id are to each other. */
const relationOf = (
  lines: ReadonlyArray<StatementLine>,
  payouts: ReadonlyArray<StatementPayout>
): StatementDoubt | undefined => {
  if (lines.some(({ direction }) => direction === "in")) return "CameBack"
  if (lines.length > 1 || payouts.length > 1) return "SeveralOfOneId"
  return lines[0]?.amount === payouts[0]?.amount ? undefined : "OtherAmount"
}

/** Makes the search for the payouts whose money an incoming line may bring back: a bank gives a return an id of its own. */
const makeReturns = <P extends StatementPayout>(payouts: ReadonlyArray<Prepared<P>>) => {
  const byAmount = groupBy(payouts, ({ payout }) => payout.amount)
  return ({ amount, day }: StatementLine): ReadonlyArray<P> =>
    (byAmount.get(amount) ?? []).flatMap(({ backUntil, from, payout }) =>
      day === undefined || (from <= day && day <= backUntil) ? [payout] : []
    )
}

/** The id of a payment. One that no payout has is somebody else's, and a return of a bank has another one, or none. */
const paymentId = /^E[A-Z\d]{31}$/

const isNonEmpty = <A>(values: ReadonlyArray<A>): values is Arr.NonEmptyReadonlyArray<A> => values.length > 0

/**
 * Compares the lines of a bank's statement with payouts. A line and a payout are matched by their end-to-end id alone. Lines
 * without one that agrees are ambiguous with the payouts of their amount, day and document; an incoming line with the id of a return, as `D...`, or
 * none, with the payouts of its amount in the 90 days before, as `CameBack`, and so are the lines of these; the rest is alone. It changes
 * nothing; what is matched may be settled, and nothing else. Amounts are in centavos.
 *
 * A `PayoutStatus` is a payout of it.
 *
 * ```ts
 * import { DateTime } from "effect"
 * import { Money, Reconcile } from "effect-pix"
 *
 * const at = DateTime.makeUnsafe("2026-11-21T12:00:00Z")
 * const salary = { amount: Money.centavos(302_050), state: "posted", submittedAt: at, updatedAt: at }
 * const payouts = [
 *   { ...salary, reference: "folha/1", endToEndId: "E18236120202611211200s0123456789" },
 *   { ...salary, reference: "folha/2" }
 * ]
 * const lines = [
 *   { amount: Money.centavos(302_050), day: "2026-11-21", endToEndId: "E18236120202611211200s0123456789" },
 *   { amount: Money.centavos(302_050), day: "2026-11-21" },
 *   { amount: Money.centavos(990), day: "2026-11-21" }
 * ]
 * const { alone, ambiguous, matched } = Reconcile.statement(lines, payouts)
 * matched.map(({ payout }) => payout.reference) // => ["folha/1"]
 * ambiguous.map(({ because, payouts }) => [because, payouts.length]) // => [["SameAmountAndDay", 1]]
 * alone.lines.map(({ amount }) => amount) // => [990]
 * ```
 */
export const statement = <L extends StatementLine, P extends StatementPayout>(
  lines: Iterable<L>,
  payouts: Iterable<P>
): Statement<L, P> => {
  const all = Array.from(lines)
  const prepared = Array.from(payouts, (payout) => prepare(payout))
  const linesOf = groupBy(all, idOf)
  const payoutsOf = groupBy(
    prepared.filter(({ id }) => linesOf.has(id) && id !== ""),
    ({ id }) => id
  )
  const candidatesOf = makeCandidates(prepared.filter(({ id }) => !payoutsOf.has(id)))
  const returnsOf = makeReturns(prepared)
  const isReturn = (line: L) => line.direction === "in" && !payoutsOf.has(idOf(line)) && !paymentId.test(idOf(line))
  const cameBack = new Set(all.filter(isReturn).flatMap(returnsOf))
  const matched: Array<{ line: L; payout: P }> = []
  const ambiguous: Array<{ line: L; payouts: Arr.NonEmptyReadonlyArray<P>; because: StatementDoubt }> = []
  const alone: Array<L> = []
  const lists = new Set<ReadonlyArray<P>>()
  for (const line of all) {
    const ofId: ReadonlyArray<P> = (payoutsOf.get(idOf(line)) ?? []).map(({ payout }) => payout)
    const found = isNonEmpty(ofId) ? ofId : isReturn(line) ? returnsOf(line) : candidatesOf(line)
    if (!isNonEmpty(found)) {
      alone.push(line)
      continue
    }
    const because =
      isReturn(line) || found.some((payout) => cameBack.has(payout))
        ? "CameBack"
        : found === ofId
          ? relationOf(linesOf.get(idOf(line)) ?? [], ofId)
          : "SameAmountAndDay"
    if (because === undefined) matched.push({ line, payout: found[0] })
    else ambiguous.push({ line, payouts: found, because })
    lists.add(found)
  }
  const named = new Set(Array.from(lists).flat())
  const rest = prepared.flatMap(({ payout }) => (named.has(payout) ? [] : [payout]))
  return { matched, ambiguous, alone: { lines: alone, payouts: rest } }
}
