/** `effect-pix webhook`: sends a delivery as the service does, to test a route. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { codes, failed } from "./internal/exit.ts"
import { json, text } from "./internal/flags.ts"
import { send } from "./internal/http.ts"
import { writeResult } from "./internal/output.ts"
import { plain } from "./internal/text.ts"

/** The flags about the subject of a webhook. */
interface About {
  readonly transaction: Option.Option<string>
  readonly withdrawal: Option.Option<number>
  readonly idempotencyKey: Option.Option<string>
  readonly metadata: Option.Option<string>
  readonly status: Option.Option<string>
}

/** The payload of the sandbox for this event. It is made up. */
const payloadOf = ({ idempotencyKey, metadata, status, transaction, withdrawal }: About) => {
  if (Option.isSome(transaction) === Option.isSome(withdrawal)) {
    return Effect.fail(failed("A webhook is about one of both: say --transaction or --withdrawal."))
  }
  if (Option.isSome(withdrawal)) {
    return Effect.succeed({
      event: "withdrawal.updated",
      withdrawalId: withdrawal.value,
      idempotencyKey: Option.getOrUndefined(idempotencyKey),
      status: Option.getOrElse(status, () => "Settled"),
      metadata: Option.getOrUndefined(metadata)
    })
  }
  return Option.isSome(idempotencyKey) || Option.isSome(metadata)
    ? Effect.fail(failed("--idempotency-key and --metadata are of a withdrawal: say --withdrawal."))
    : Effect.succeed({
        event: "transaction.updated",
        transactionId: Option.getOrUndefined(transaction),
        status: Option.getOrElse(status, () => "Paid")
      })
}

const trigger = Command.make(
  "trigger",
  {
    url: Argument.String("url").pipe(Argument.withDescription("Your own route, as http://127.0.0.1:3000/webhooks")),
    transaction: text("transaction", "id", "The id of the transaction in the webhook"),
    withdrawal: Flag.Int("withdrawal").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("In place of --transaction: the id of the withdrawal in the webhook"),
      Flag.optional
    ),
    idempotencyKey: text("idempotency-key", "key", "With --withdrawal: the key that the withdrawal was requested with"),
    metadata: text("metadata", "text", "With --withdrawal: the metadata that the withdrawal was requested with"),
    status: text("status", "word", "Its status. Default: Paid for a transaction, Settled for a withdrawal"),
    header: Flag.String("secret-header").pipe(
      Flag.withDescription("The header that carries PAYMENTS_WEBHOOK_SECRET, where that is set"),
      Flag.withDefault("X-Webhook-Secret")
    ),
    json
  },
  Effect.fnUntraced(function* ({ header, json, url, ...about }) {
    if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
      return yield* failed("The address is no http or https URL.")
    }
    if (!/^[\w-]+$/.test(header)) return yield* failed("--secret-header is no name of a header.")
    const payload = yield* payloadOf(about)
    const secret = yield* Effect.orElseSucceed(Config.option(Config.Redacted("PAYMENTS_WEBHOOK_SECRET")), () =>
      Option.none()
    )
    const answer = yield* HttpClientRequest.post(url).pipe(
      HttpClientRequest.bodyJsonUnsafe(payload),
      Option.isSome(secret) ? HttpClientRequest.setHeader(header, Redacted.value(secret.value)) : identity,
      send,
      Effect.mapError(({ problem }) => failed(`The route did not answer: ${problem}.`, codes.NoEffect))
    )
    const { status: code, text: body } = answer
    yield* writeResult(json, { status: code, answer: body }, `HTTP ${code} ${plain(body.slice(0, 1000))}`.trimEnd())
    if (code < 200 || code > 299) return yield* failed("The route did not take the webhook.", codes.Rejected)
  })
).pipe(
  Command.withDescription(
    "Send a webhook to your own route and show its answer.\n\n" +
      "  The service documents no payload: this is the one that the sandbox makes up."
  ),
  Command.withShortDescription("Send a webhook to your own route"),
  Command.withExamples([
    {
      command:
        "effect-pix webhook trigger http://127.0.0.1:3000/webhooks --transaction 8f14e45f-ceea-467f-a8ad-6d7a3e2f1b0c",
      description: "say that a charge was paid"
    },
    {
      command: "effect-pix webhook trigger http://127.0.0.1:3000/webhooks --withdrawal 7 --status Rejected",
      description: "say that a payout was rejected"
    }
  ])
)

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Webhooks by hand"),
  Command.withSubcommands([trigger])
)
