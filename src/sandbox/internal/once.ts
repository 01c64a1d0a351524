/**
 * Idempotency keys: the row that was made under a key is stored, and returned again for the same content.
 *
 * Details: a key belongs to one operation. A refusal is not stored, since nothing was executed under its key.
 */
import * as Result from "effect/Result"
import type { Operation } from "../../contract/Endpoints.ts"
import type { UsedKey } from "../SandboxState.ts"
import * as Refusal from "../Refusal.ts"

/** The key of a write, of one operation. */
export interface Key {
  readonly operation: Operation | undefined
  readonly key: string | undefined
}

/** A write as it arrived. `content` is a digest of its path and body. */
export interface Write extends Key {
  readonly content: string
}

const nameOf = ({ key, operation }: Key) => `${operation} ${key}`

export const makeOnce = (used: ReadonlyArray<UsedKey> = []) => {
  const rows = new Map(used.map((entry) => [nameOf(entry), entry]))
  return {
    /** Returns the row that was made under the key, or makes one, as the last of `all`. */
    run: <Row>(
      write: Write,
      all: ReadonlyArray<Row>,
      execute: () => Result.Result<Row, Refusal.Refusal>
    ): Result.Result<Row, Refusal.Refusal> => {
      const { content, key, operation } = write
      if (key === undefined || operation === undefined) return execute()
      const first = rows.get(nameOf(write))
      if (first !== undefined) {
        return first.content === content
          ? Result.fromNullishOr(all[first.row - 1], () => Refusal.transactionNotFound)
          : Result.fail(Refusal.keyReused)
      }
      return Result.map(execute(), (row) => {
        rows.set(nameOf(write), { operation, key, content, row: all.length })
        return row
      })
    },
    forget: (write: Key) => rows.delete(nameOf(write)),
    forgetAll: () => rows.clear(),
    snapshot: (): ReadonlyArray<UsedKey> => [...rows.values()]
  }
}
