/**
 * Steering over HTTP: the functions of `Sandbox` for tests in any language, for curl and for the panel, which is its
 * first client. A served sandbox answers it under `/_sandbox`.
 *
 * The gateway has no such API: a call needs no credentials, is not recorded and meets no fault. Amounts are in centavos. A browser may only
 * call it from the sandbox's own page.
 *
 * ```ts
 * import { OpenApi } from "effect/http-api"
 * import { SandboxApi } from "effect-pix/sandbox"
 *
 * const paths = Object.keys(OpenApi.fromApi(SandboxApi).paths)
 * const ours = paths.every((path) => path.startsWith("/_sandbox")) // => true
 * ```
 */
import * as Schema from "effect/Schema"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import { Operation } from "../contract/PaymentsError.ts"
import { TextId, Timestamp } from "../internal/wire.ts"
import { Centavos } from "../pix/Money.ts"
import { PixKeyType } from "../pix/PixKey.ts"
import { FaultOrder } from "./internal/faultOrder.ts"
import { SandboxTransaction, SandboxWithdrawal } from "./SandboxLedger.ts"
import { SandboxChange } from "./SandboxChange.ts"
import { SandboxConflict, SandboxNotFound } from "./SandboxError.ts"
import { SandboxState } from "./SandboxState.ts"
import { SandboxWebhook } from "./SandboxWebhook.ts"

const NotFound = SandboxNotFound.pipe(HttpApiSchema.status(404))
const Conflict = SandboxConflict.pipe(HttpApiSchema.status(409))

/** The refusal of a request that does not fit. Its message says what is wrong. */
const Invalid = Schema.Struct({ message: Schema.String, status: Schema.Int }).annotate({ identifier: "Invalid" })
const invalid = Invalid.pipe(HttpApiSchema.status(400))

const Done = Schema.Struct({ done: Schema.Literal(true) })

const IntFromString = Schema.FiniteFromString.check(Schema.isInt())

/** A list: the newest rows that fit, how many fit in all, and how many fit the search by status. */
const list = <const Name extends string, S extends Schema.Constraint>(name: Name, item: S) =>
  HttpApiEndpoint.get(name, `/_sandbox/${name}`, {
    query: {
      search: Schema.optional(Schema.String),
      status: Schema.optional(Schema.String),
      limit: Schema.optional(IntFromString.check(Schema.isBetween({ minimum: 1, maximum: 1000 })))
    },
    success: Schema.Struct({
      total: Schema.Int,
      counts: Schema.Record(Schema.String, Schema.Int),
      items: Schema.Array(item)
    }),
    error: invalid
  })

const transactionId = { transactionId: Schema.String }
const move = <const Name extends string>(name: Name, description: string) =>
  HttpApiEndpoint.post(name, `/_sandbox/transactions/:transactionId/${name}`, {
    params: transactionId,
    success: SandboxTransaction,
    error: [NotFound, Conflict, invalid]
  }).annotate(OpenApi.Description, description)

const Transactions = HttpApiGroup.make("transactions").add(
  list("transactions", SandboxTransaction).annotate(
    OpenApi.Description,
    "The newest charges, searched by id, key, customer, status or amount."
  ),
  HttpApiEndpoint.post("charge", "/_sandbox/transactions", {
    payload: Schema.Struct({ amount: Centavos.check(Schema.isGreaterThan(0)), name: Schema.optional(TextId) }),
    success: SandboxTransaction,
    error: invalid
  }).annotate(
    OpenApi.Description,
    "Creates a PIX charge, for a first look. Your client creates charges over the gateway's API."
  ),
  HttpApiEndpoint.get("transaction", "/_sandbox/transactions/:transactionId", {
    params: transactionId,
    success: SandboxTransaction,
    error: [NotFound, invalid]
  }),
  HttpApiEndpoint.get("qrcode", "/_sandbox/transactions/:transactionId/qrcode.svg", {
    params: transactionId,
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "image/svg+xml" })),
    error: [NotFound, invalid]
  }),
  move("pay", "A payer pays: the charge is Paid, and the balance grows."),
  move("cancel", "Cancels an awaited charge."),
  move("expire", "Lets an awaited charge lapse now."),
  move("fail", "An awaited charge fails."),
  move("refund", "A paid charge is refunded, from the balance.")
)

const end = <const Name extends string>(name: Name, description: string) =>
  HttpApiEndpoint.post(name, `/_sandbox/withdrawals/:id/${name}`, {
    params: { id: IntFromString },
    success: SandboxWithdrawal,
    error: [NotFound, Conflict, invalid]
  }).annotate(OpenApi.Description, description)

const Withdrawals = HttpApiGroup.make("withdrawals").add(
  list("withdrawals", SandboxWithdrawal),
  end("settle", "An awaited payout arrives."),
  end("reject", "An awaited payout fails: its amount returns to the balance.")
)

const Company = HttpApiGroup.make("company").add(
  HttpApiEndpoint.post("credit", "/_sandbox/balance/credit", {
    payload: Schema.Struct({ amount: Centavos }),
    success: Schema.Struct({ balance: Schema.Int }),
    error: invalid
  }).annotate(OpenApi.Description, "Adds centavos to the balance."),
  HttpApiEndpoint.put("setPixKey", "/_sandbox/pix-key", {
    payload: Schema.Struct({ pixKey: Schema.String, pixKeyType: PixKeyType }),
    success: Done,
    error: invalid
  }).annotate(OpenApi.Description, "Registers a PIX key on the company's account."),
  HttpApiEndpoint.delete("removePixKey", "/_sandbox/pix-key", { success: Done }),
  HttpApiEndpoint.post("rotate", "/_sandbox/credentials/rotate", {
    success: Schema.Struct({ clientId: Schema.String, apiKey: Schema.String })
  }).annotate(OpenApi.Description, "Makes another secret key. The key before it is refused from now on.")
)

/** A request as the panel shows it. */
const ShownRequest = Schema.Struct({
  id: Schema.Int,
  arrivedAt: Timestamp,
  operation: Schema.optional(Operation),
  method: Schema.String,
  path: Schema.String,
  query: Schema.Record(Schema.String, Schema.String),
  /** Headers with a secret are masked. */
  headers: Schema.Record(Schema.String, Schema.String),
  body: Schema.String,
  fault: Schema.String,
  status: Schema.optional(Schema.Int),
  /** The beginning of the body that it was answered with; absent where there is none, or where a fault made it. */
  answer: Schema.optional(Schema.String),
  /** The same request as a command, with the credentials as variables of the shell. */
  curl: Schema.String
})
/** See the schema of the same name. */
export type ShownRequest = typeof ShownRequest.Type

const Requests = HttpApiGroup.make("requests").add(
  list("requests", ShownRequest).annotate(OpenApi.Description, "The last requests of the gateway, executed or not.")
)

const Webhooks = HttpApiGroup.make("webhooks").add(
  list("webhooks", SandboxWebhook),
  HttpApiEndpoint.post("send", "/_sandbox/webhooks", { payload: Schema.Json, success: Done, error: invalid }).annotate(
    OpenApi.Description,
    "Sends a webhook of any content to each target."
  ),
  HttpApiEndpoint.post("resend", "/_sandbox/webhooks/:id/resend", {
    params: { id: IntFromString },
    success: Done,
    error: [NotFound, invalid]
  }),
  HttpApiEndpoint.post("subscribe", "/_sandbox/webhooks/targets", {
    payload: Schema.Struct({ url: Schema.String }),
    success: Done,
    error: invalid
  }).annotate(OpenApi.Description, "Sends webhooks to a loopback address too, from now on."),
  HttpApiEndpoint.delete("unsubscribe", "/_sandbox/webhooks/targets", {
    query: Schema.Struct({ url: Schema.String }),
    success: Done,
    error: invalid
  })
)

const ShownFault = Schema.Struct({ operation: Schema.String, fault: Schema.String, left: Schema.Finite })

const Faults = HttpApiGroup.make("faults").add(
  HttpApiEndpoint.get("faults", "/_sandbox/faults", { success: Schema.Array(ShownFault) }),
  HttpApiEndpoint.post("plan", "/_sandbox/faults", { payload: FaultOrder, success: Done, error: invalid }).annotate(
    OpenApi.Description,
    "Plans a fault for the next requests of the gateway."
  ),
  HttpApiEndpoint.delete("clearFaults", "/_sandbox/faults", { success: Done }),
  HttpApiEndpoint.put("offline", "/_sandbox/offline", {
    payload: Schema.Struct({ offline: Schema.Boolean }),
    success: Done,
    error: invalid
  }).annotate(OpenApi.Description, "Breaks every connection to the gateway. The panel and this API stay reachable."),
  HttpApiEndpoint.post("forgetKeys", "/_sandbox/forget-keys", { success: Done })
)

/** The overview of the panel. */
const Overview = Schema.Struct({
  baseUrl: Schema.String,
  companyId: Schema.Int,
  clientId: Schema.String,
  /** In centavos. */
  balance: Schema.Int,
  awaited: Schema.Int,
  pixKey: Schema.optional(Schema.Struct({ pixKey: Schema.String, pixKeyType: Schema.String })),
  /** The sandbox's clock, and how far it was pushed. */
  now: Timestamp,
  aheadSeconds: Schema.Finite,
  offline: Schema.Boolean,
  faults: Schema.Array(ShownFault),
  targets: Schema.Array(Schema.String),
  /** The operations that a fault may be planned for, in addition to `any`. */
  operations: Schema.Array(Operation),
  /** Whether the state survives a restart. */
  isKept: Schema.Boolean,
  /** The number of the last change. */
  sequence: Schema.Int
})

const Whole = HttpApiGroup.make("sandbox").add(
  HttpApiEndpoint.get("overview", "/_sandbox", { success: Overview }),
  HttpApiEndpoint.get("changes", "/_sandbox/changes", {
    success: HttpApiSchema.StreamSse({ data: SandboxChange })
  }).annotate(
    OpenApi.Description,
    "The changes, as server-sent events. The id of an event is the number of the change. The first event, `ready`, has the " +
      "number of the last change, so that a page that connects again knows whether it missed any."
  ),
  HttpApiEndpoint.post("advance", "/_sandbox/clock/advance", {
    payload: Schema.Struct({ seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 3_153_600_000 })) }),
    success: Schema.Struct({ now: Timestamp }),
    error: invalid
  }).annotate(OpenApi.Description, "Pushes the clock: charges lapse and webhooks are sent again."),
  HttpApiEndpoint.get("snapshot", "/_sandbox/state", { success: SandboxState }),
  HttpApiEndpoint.put("restore", "/_sandbox/state", { payload: SandboxState, success: Done, error: invalid }),
  HttpApiEndpoint.post("reset", "/_sandbox/reset", { success: Done })
)

/** The sandbox's steering as an `HttpApi`. */
export class SandboxApi extends HttpApi.make("sandbox")
  .add(Whole, Transactions, Withdrawals, Company, Requests, Webhooks, Faults)
  .annotateMerge(
    OpenApi.annotations({
      title: "effect-pix sandbox",
      version: "v1",
      description:
        "Steers the sandbox: the double of the gateway, not the gateway itself. The contract's own document is at " +
        "[/openapi.json](/openapi.json), the panel at [/](/)."
    })
  ) {}
