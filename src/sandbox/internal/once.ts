/**
 * What idempotency keys are for: the first row of each key is remembered, and given again for the same body. A refusal
 * is not kept: nothing was executed, so the key is still free.
 */
import * as Result from "effect/Result"
import type { UsedKey } from "../SandboxState.ts"
import { digest } from "./json.ts"
import * as Refusal from "./refusal.ts"

/** A write as it arrived: its key, and its body for comparison. */
export interface Write {
  readonly key: string | undefined
  readonly body: unknown
}

export const makeOnce = (used: ReadonlyArray<UsedKey> = []) => {
  const kept = new Map(used.map((entry) => [entry.key, entry]))
  return {
    /** Gives the row that was made under the key, or makes one. */
    run: (
      { body, key }: Write,
      execute: () => Result.Result<number, Refusal.Refusal>
    ): Result.Result<number, Refusal.Refusal> => {
      if (key === undefined) return execute()
      const first = kept.get(key)
      const name = digest(body)
      if (first !== undefined) return first.body === name ? Result.succeed(first.row) : Result.fail(Refusal.keyReused)
      return Result.map(execute(), (row) => {
        kept.set(key, { key, body: name, row })
        return row
      })
    },
    forget: (key: string) => kept.delete(key),
    forgetAll: () => kept.clear(),
    keep: (): ReadonlyArray<UsedKey> => [...kept.values()]
  }
}
