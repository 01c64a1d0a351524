/**
 * What the statements of the rows share.
 */
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Schema from "effect/Schema"
import * as Str from "effect/String"
import * as Struct from "effect/Struct"
import type { Database, inTransaction } from "../../../durable/Database.ts"
import type { makeDue } from "../../../durable/Due.ts"
import type { makeAccountStore } from "./accounts.ts"
import type { StateStore } from "./states.ts"
import { Row } from "../machine/row.ts"

export const table = "effect_pix_payouts"
export const historyTable = "effect_pix_payout_history"

/** The column of a field. */
export const columnOf = (field: string) => Str.camelToSnake(field)

/** The columns of a row, each with the name of its field. */
export const allColumns = Struct.keys(Row.fields)
  .map((field) => `${columnOf(field)} AS "${field}"`)
  .join(", ")

export const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

export interface StoreParts {
  readonly database: Database
  readonly account: string
  readonly accounts: ReturnType<typeof makeAccountStore>
  readonly due: ReturnType<typeof makeDue>
  /** The states that wait for `onState`. */
  readonly states: StateStore
  readonly transaction: ReturnType<typeof inTransaction>
  /** Writes an entry of the history, and returns its number. */
  readonly insertEntry: (
    key: string,
    entry: string,
    from?: Fragment
  ) => Effect.Effect<ReadonlyArray<unknown>, SqlError> & Fragment
  /** The rows whose keys a SELECT finds, by the primary key. */
  readonly hasKeyOf: (keys: Fragment) => Fragment
}
