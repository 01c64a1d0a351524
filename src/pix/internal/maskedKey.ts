/**
 * A PIX key in memory. It prints as its mask; only `reveal` gives the key itself.
 */
import * as Equal from "effect/Equal"
import * as Hash from "effect/Hash"
import * as Inspectable from "effect/Inspectable"
import { refuse } from "../../internal/refuse.ts"
import type { PixKeyType } from "./pixKeyKinds.ts"

/** A checked key. */
export class MaskedKey extends Inspectable.Class implements Equal.Equal {
  readonly _tag = "PixKey"
  /** The kind, by its name on the wire. */
  readonly type: PixKeyType
  /** The part of the key that may be shown. */
  readonly masked: string
  // A `Redacted` would print nothing of the key, and people recognise a key by its mask.
  readonly #value: string

  constructor(type: PixKeyType, value: string, masked: string) {
    super()
    this.type = type
    this.masked = masked
    this.#value = value
  }

  static is(u: unknown): u is MaskedKey {
    return typeof u === "object" && u !== null && #value in u
  }

  static reveal(key: MaskedKey): string {
    return MaskedKey.is(key) ? key.#value : refuse("The value is no PIX key")
  }

  [Equal.symbol](that: Equal.Equal): boolean {
    return MaskedKey.is(that) && this.type === that.type && this.#value === that.#value
  }

  [Hash.symbol](): number {
    return Hash.combine(Hash.string(this.type), Hash.string(this.#value))
  }

  override toJSON(): string {
    return this.toString()
  }

  override toString(): string {
    return `${this.type} ${this.masked}`
  }
}
