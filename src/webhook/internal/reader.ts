/**
 * Reads the body of a webhook delivery: its hint, and its payload and metadata by the user's schemas.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Untrusted } from "../WebhookEvent.ts"
import { find, type Hint } from "../WebhookHint.ts"
import type { WebhookOptions } from "../WebhookOptions.ts"

export interface Reading<P, M> {
  readonly hint: Hint
  readonly untrusted: Untrusted<P, M>
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Makes the reader of bodies. It returns nothing for a body that is not JSON or does not fit the user's schema. */
export const makeReader = <P, M>(options: Pick<WebhookOptions<P, M>, "payload" | "find" | "metadata">) => {
  // Without a schema of the user's, P and M are `unknown`, as in the defaults of `WebhookOptions`.
  const payloadOf = Schema.decodeUnknownOption(options.payload ?? (Schema.Unknown as Schema.Decoder<P>))
  const metadataOf = Schema.decodeUnknownOption(options.metadata ?? (Schema.Unknown as Schema.Decoder<M>))
  const finder = options.find
  const read = (body: string): Option.Option<Reading<P, M>> =>
    Option.gen(function* () {
      const json = yield* parseJson(body)
      const payload = yield* payloadOf(json)
      const hint = finder === undefined ? find(json) : finder(payload)
      const metadata =
        hint.metadata === undefined || options.metadata === undefined ? Option.none<M>() : metadataOf(hint.metadata)
      return {
        hint,
        untrusted: {
          ...(options.payload === undefined ? {} : { payload }),
          ...(hint.status === undefined ? {} : { status: hint.status }),
          ...(Option.isNone(metadata) ? {} : { metadata: metadata.value })
        }
      }
    })
  // A recursive schema throws for JSON that is nested too deeply, and the user's `find` may throw too.
  return (body: string) => Option.flatten(Result.getSuccess(Result.try(() => read(body))))
}
