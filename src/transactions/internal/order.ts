/** An order of the user's books, and how it is compared with what the service says of its charge. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { invalidRequest } from "../../contract/Options.ts"
import type {
  AuthError,
  GetTransactionError,
  InvalidRequest,
  RateLimited,
  RequestRejected,
  ServiceUnavailable
} from "../../contract/PaymentsError.ts"
import { issuesOf } from "../../contract/RequestIssues.ts"
import { DetailStatus } from "../../contract/StatusWords.ts"
import { Centavos } from "../../pix/Money.ts"

/** An order in your books, with the charge that you created for it. `amount` is in centavos. It may have more fields; the result returns them. */
export const Order = Schema.Struct({
  /** The `id` that the creation of the charge returned. */
  transactionId: Schema.String,
  /** In centavos. It is compared with the `value` of the lookup, which is in centavos too. */
  amount: Centavos,
  /**
   * The status in your books, in the words of a lookup, such as `Awaiting` or `Paid`. Words are compared exactly, also
   * undocumented ones; those that `GatewayFacts` lists as paid match `Paid`, and each other. The creation and the list use other words, which never match. Default: the status is not compared.
   */
  status: Schema.optional(DetailStatus)
})
/** See the schema of the same name. */
export interface Order extends Schema.Schema.Type<typeof Order> {}

/** Makes the check of orders: a caller without types may give anything. */
export const checkOrderBy = (schema: Schema.Codec<unknown, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.toType(schema), { errors: "all" })
  return (order: unknown): Effect.Effect<unknown, InvalidRequest> =>
    Effect.mapError(decode(order), (error) => invalidRequest("getTransaction", issuesOf(error)))
}

/** The error of a lookup without an answer, or of one that would be refused for every order. */
export type Stopping = AuthError | RateLimited | RequestRejected | ServiceUnavailable

/** Whether the lookups of the other orders would fail in the same way. */
export const endsRun = (error: GetTransactionError): error is Stopping =>
  error._tag === "ServiceUnavailable" || error._tag === "RateLimited" || error.concerns === "Setup"
