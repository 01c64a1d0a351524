/** Finds rows by the business reference that their idempotency key was made from: a key does not show its reference. */
import * as Option from "effect/Option"
import { fromReferenceOption, type IdempotencyKey } from "../contract/IdempotencyKey.ts"

/** Says of keys whether they were made from a reference, with any kind. The key of each kind is made once. */
export const isKeyOf = (reference: string): ((key: string | undefined) => boolean) => {
  const keys = new Map<string, IdempotencyKey | undefined>()
  return (key) => {
    const kind = /^[A-Za-z\d-]+(?=_)/.exec(key ?? "")?.[0]
    if (kind === undefined) return false
    if (!keys.has(kind)) keys.set(kind, Option.getOrUndefined(fromReferenceOption(kind, reference)))
    return keys.get(kind) === key
  }
}
