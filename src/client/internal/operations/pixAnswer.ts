/**
 * Reads the code and the expiry of a charge, under each of the names that the service was seen to give them: `docs/service.md`.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { CreatedTransaction, CreateTransactionResponse } from "../../../contract/Transaction.ts"
import * as BrCode from "../../../pix/BrCode.ts"
import type { Undecodable } from "../call/state.ts"

type Answered = NonNullable<(typeof CreateTransactionResponse.Type)["data"]["pix"]>
type Pix = NonNullable<CreatedTransaction["pix"]>

interface Candidate {
  readonly name: keyof Answered
  readonly text: string
}

/** A code that is not damaged. */
interface Sound extends Candidate {
  readonly code: BrCode.BrCode
}

const textsOf = ({ brcode, payloadBase64, qrcode }: Answered): ReadonlyArray<Candidate> => {
  const decoded = payloadBase64 === undefined ? undefined : Base64.decodeString(payloadBase64)
  const texts = { qrcode, brcode, payloadBase64: decoded && Result.getOrUndefined(decoded) }
  return (["qrcode", "brcode", "payloadBase64"] as const).flatMap((name) => {
    const text = texts[name]
    return text === undefined || text.trim() === "" ? [] : [{ name, text }]
  })
}

const soundOf = (candidate: Candidate): ReadonlyArray<Sound> => {
  const code = Result.getOrUndefined(BrCode.parse(candidate.text))
  return code?.crc.ok === true ? [{ ...candidate, code }] : []
}

const valueOf = (redacted: Redacted.Redacted | undefined) => redacted && Redacted.value(redacted)

/** Whether two codes ask for the same: they may differ in the receiver's name and the like. */
const isSame = (one: BrCode.BrCode, other: BrCode.BrCode): boolean =>
  one.amount === other.amount &&
  valueOf(one.key) === valueOf(other.key) &&
  valueOf(one.url)?.toLowerCase() === valueOf(other.url)?.toLowerCase()

const unsound = (name: string, problem: string): Result.Result<never, Undecodable> =>
  Result.fail({ reason: "UnsoundBrCode", issues: [{ path: `data.pix.${name}`, problem }] })

/**
 * The code: of `qrcode`, `brcode` and the text of `payloadBase64` the first that is a BR Code with a right checksum. The
 * documented `qrcode` alone is taken as it is, and also where no text is such a code: `BrCode.parse` says what is wrong with it.
 */
const codeOf = (pix: Answered): Result.Result<string | undefined, Undecodable> => {
  const { brcode, payloadBase64, qrcode } = pix
  // As documented, it has one name.
  if (brcode === undefined && payloadBase64 === undefined)
    return Result.succeed(qrcode?.trim() === "" ? undefined : qrcode)
  const texts = textsOf(pix)
  const documented = texts.find(({ name }) => name === "qrcode")
  if (texts.length === 0 || (documented !== undefined && texts.length === 1)) return Result.succeed(documented?.text)
  const [first, ...others] = texts.flatMap(soundOf)
  if (first === undefined) {
    return documented === undefined
      ? unsound(texts[0]?.name ?? "qrcode", "is no BR Code with a right checksum")
      : Result.succeed(documented.text)
  }
  const different = others.find(({ code }) => !isSame(first.code, code))
  return different === undefined
    ? Result.succeed(first.text)
    : unsound(different.name, `states another amount, key or location than ${first.name}`)
}

/** The code and the expiry of an answer, under the documented names. A charge without a code has none of it. */
export const pixOf = (pix: Answered): Result.Result<Pix, Undecodable> =>
  Result.map(codeOf(pix), (qrcode) => {
    const expirationDate = pix.expirationDate ?? pix.expiresAt
    return { ...(qrcode !== undefined && { qrcode }), ...(expirationDate !== undefined && { expirationDate }) }
  })
