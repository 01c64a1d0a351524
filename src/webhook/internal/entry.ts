/**
 * What is kept of the calls about one thing until they are finished: a row of the room. It holds what they hint at, and
 * of each status that they claim the latest call alone, so that a thousand repetitions take the room of one.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { handlerNames } from "../WebhookEvent.ts"
import type { Row } from "./room.ts"

const Claim = Schema.Struct({
  /** Which call said so last, by their count. */
  call: Schema.Natural,
  status: Schema.optionalKey(Schema.String),
  /** The body, where a schema of the user's reads it; as `seal` left it. */
  body: Schema.optionalKey(Schema.String)
})
export type Claim = typeof Claim.Type

const Tries = Schema.Struct({ early: Schema.Natural, outage: Schema.Natural, failed: Schema.Natural })
export type Tries = typeof Tries.Type

export const noTries: Tries = { early: 0, outage: 0, failed: 0 }

const Entry = Schema.Struct({
  v: Schema.tag(1),
  name: Schema.String,
  about: Schema.Literals(["Transaction", "Withdrawal", "Unknown"]),
  transactionId: Schema.optionalKey(Schema.String),
  withdrawalId: Schema.optionalKey(Schema.Natural),
  idempotencyKey: Schema.optionalKey(Schema.String),
  /** Whether the call brings the metadata of the withdrawal's note. */
  sameMetadata: Schema.optionalKey(Schema.Boolean),
  /** How many calls there were. */
  calls: Schema.Natural,
  claims: Schema.Array(Claim),
  tries: Tries,
  /** The element of the queue that works on it; the others are outdated. Absent: it was given up. */
  job: Schema.optionalKey(Schema.String),
  /** Another call is a reason to look at once: it waits for the service alone, which asked for no peace. */
  mayHurry: Schema.Boolean,
  /** Another call has it looked at now, before its time. */
  isHurried: Schema.Boolean,
  dead: Schema.optionalKey(
    Schema.Struct({
      handler: Schema.Literals(handlerNames),
      at: Schema.Finite
    })
  )
})
export type Entry = typeof Entry.Type

const json = Schema.fromJsonString(Entry)
const decode = Schema.decodeOption(json)
const encode = Schema.encodeSync(json)

/** The entry of a row. One that another version wrote and that cannot be read counts as none. */
export const entryOf = (row: Row | undefined): Entry | undefined =>
  row === undefined ? undefined : Option.getOrUndefined(decode(row.value))

export const entriesOf = (values: ReadonlyArray<string>): ReadonlyArray<Entry> =>
  values.flatMap((value) => Option.toArray(decode(value)))

export const rowOf = (entry: Entry): Row => ({
  state: entry.job === undefined ? "Dead" : "Open",
  job: entry.job,
  value: encode(entry)
})
