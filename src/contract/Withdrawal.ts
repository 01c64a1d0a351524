/**
 * Withdrawals: each is one payment by PIX from the company's balance (`docs/service.md`).
 *
 * The request's `amount` is in **centavos**; the record's `value` is in decimal **reais**, decoded exactly.
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { maxTextLength } from "../internal/bounds.ts"
import { IntegerId, openWord, Timestamp } from "../internal/wire.ts"
import { Metadata } from "./Metadata.ts"
import { Centavos, centavos, ReaisFromJson } from "../pix/Money.ts"
import { type PixKey, PixKeyType } from "../pix/PixKey.ts"
import { WithdrawalStatus } from "./StatusWords.ts"
import { CurrencyOrBrl } from "./Currency.ts"

/** The smallest amount of a withdrawal: 1000 centavos (`docs/service.md`). */
export const minimumWithdrawal: Centavos = centavos(1000)

/** The wire form of a withdrawal request. */
export const WithdrawalRequestBody = Schema.Struct({
  /** In centavos, at least 1000. */
  amount: Centavos,
  currency: CurrencyOrBrl,
  pixKey: Schema.optional(Schema.String),
  pixKeyType: Schema.optional(PixKeyType),
  description: Schema.optional(
    Schema.String.check(
      Schema.isMaxLength(maxTextLength, { expected: `a description of at most ${maxTextLength} characters` })
    )
  ),
  metadata: Schema.optional(Metadata)
})
export interface WithdrawalRequestBody extends Schema.Schema.Type<typeof WithdrawalRequestBody> {}

type Rest = Omit<WithdrawalRequestBody, "pixKey" | "pixKeyType">

/**
 * A withdrawal request: its amount in centavos, and its destination.
 *
 * - `pixKey` may be a `PixKey` value, or the plain pair `pixKey` and `pixKeyType`, as a CSV or a database has it. The
 *   kind is never guessed: eleven digits may be a CPF or a phone number. In both cases the key is sent in the form of
 *   the PIX directory. A pair that is not a key is an `InvalidRequest`.
 * - Without `pixKey` the money is paid to the key registered on the company's account.
 * - The webhook returns `metadata`.
 */
export type WithdrawalRequest = Rest &
  (
    | { readonly pixKey: PixKey; readonly pixKeyType?: undefined }
    | {
        readonly pixKey: string
        /**
         * One of `CPF`, `CNPJ`, `EMAIL`, `PHONE` and `EVP`. Any text compiles, such as one from a CSV. It is checked
         * before anything is sent.
         */
        readonly pixKeyType: PixKeyType | (string & {})
      }
    | { readonly pixKey?: undefined; readonly pixKeyType?: undefined }
  )

/** A withdrawal as the service records it. `value` is in reais. */
export const WithdrawalRecord = Schema.Struct({
  /** The number of the record. The service documents no lookup by it: one was seen, see `WithdrawalLookup`. */
  id: IntegerId,
  companyId: Schema.optionalKey(IntegerId),
  idempotencyKey: Schema.optionalKey(Schema.String),
  /** In reais. The service does not document whether a fee is included. */
  value: ReaisFromJson,
  /** The key that is paid, in plain text. It is a person's data: print `PixKey.fromPair` of it, which is masked. */
  pixKey: Schema.optionalKey(Schema.String),
  pixKeyType: Schema.optionalKey(openWord(PixKeyType.literals)),
  creditorDocument: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  currency: Schema.optionalKey(Schema.String),
  /** `Awaiting` is documented; `Pending`, `Processing`, `Successful` and `Failure` were seen. `Status.meaningOf` reads it. */
  enTransaction: WithdrawalStatus,
  createdAt: Schema.optionalKey(Timestamp)
})
export interface WithdrawalRecord extends Schema.Schema.Type<typeof WithdrawalRecord> {}

/**
 * A withdrawal that the service accepted. That does not prove that it was paid. `value` is in reais.
 * `idempotencyKey` is the key with which it was sent: an answer with another key is an `OutcomeUnknown` instead.
 */
export const Withdrawal = Schema.Struct({ ...WithdrawalRecord.fields, idempotencyKey: Schema.String })
export interface Withdrawal extends Schema.Schema.Type<typeof Withdrawal> {}

/** A word of the provider: a text or a number on the wire. */
const ProviderWord = Schema.Union([Schema.String, Schema.Finite]).pipe(
  Schema.decodeTo(Schema.String, { decode: SchemaGetter.transform(String), encode: SchemaGetter.passthrough() })
)

/**
 * A withdrawal as its lookup shows it, which was seen and is not documented (`docs/service.md`): the record, with what became of
 * it. `amount` is in centavos, `value` and `providerAmount` are in reais. `Status.meaningOf` reads its `enTransaction`; `provider` is
 * who pays for the gateway.
 *
 * Gotcha: it holds a person's PIX key and document, in plain text.
 */
export const WithdrawalDetail = Schema.Struct({
  ...WithdrawalRecord.fields,
  /** What was asked for, in centavos. `value` is in reais. */
  amount: Schema.optionalKey(Centavos),
  provider: Schema.optionalKey(Schema.String),
  /** A word of the provider's own, or a number. It says nothing by itself. */
  providerStatus: Schema.optionalKey(ProviderWord),
  providerTid: Schema.optionalKey(ProviderWord),
  /** The end-to-end id of the PIX, by which a bank finds it. Absent before it is paid. */
  providerEndToEndId: Schema.optionalKey(Schema.String),
  providerPaymentId: Schema.optionalKey(ProviderWord),
  /** In reais. */
  providerAmount: Schema.optionalKey(ReaisFromJson),
  /** Why the provider refused it. The words are not masked: they may repeat what was sent. */
  providerErrorDescription: Schema.optionalKey(Schema.String),
  /** When it changed last. */
  updateDate: Schema.optionalKey(Timestamp)
})
export interface WithdrawalDetail extends Schema.Schema.Type<typeof WithdrawalDetail> {}
