/**
 * Reads the body of a webhook delivery: its hint, and its metadata by the user's schema.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { find, type Hint } from "../WebhookHint.ts"
import type { WebhookOptions } from "../WebhookOptions.ts"

/** What a delivery says. */
export interface Reading {
  readonly hint: Hint
  /** What the user's schema reads of the metadata, encoded as JSON. Absent without a schema, or if it does not fit. */
  readonly metadata?: string | undefined
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

export const makeReader = <M>({ find: findHint = find, metadata }: Pick<WebhookOptions<M>, "find" | "metadata">) => {
  const decode = metadata && Schema.decodeUnknownOption(metadata)
  const encode = metadata && Schema.encodeUnknownOption(Schema.fromJsonString(metadata))
  const decodeStored = metadata && Schema.decodeUnknownOption(Schema.fromJsonString(metadata))
  const read = (body: string): Option.Option<Reading> =>
    Option.map(parseJson(body), (json) => {
      const hint = findHint(json)
      const encoded = decode && encode && Option.flatMap(decode(hint.metadata), encode)
      return { hint, metadata: encoded && Option.getOrUndefined(encoded) }
    })
  return {
    /** The content of a body; nothing for a body that is not JSON. */
    // The user's `find` may throw, and so does a recursive schema for JSON that is nested too deeply.
    read: (body: string) => Option.flatten(Result.getSuccess(Result.try(() => read(body)))),
    /** The metadata of its encoded form, which may be older than the schema. */
    metadataOf: (encoded: string): M | undefined => decodeStored && Option.getOrUndefined(decodeStored(encoded))
  }
}
