/**
 * Compares the PIX key in the record of a withdrawal with the key that was asked for. The service does not document how it
 * writes the key, so only a text that certainly is another key counts as another payee.
 */
import * as Result from "effect/Result"
import { fromPair, type Pair, PixKeyType, value } from "./PixKey.ts"

/** The signs with which a part of a key is hidden. A masked key proves nothing. */
const masked = /[*#?\u2022\u25CF\u2026]|\.{2}|_{3}|-{3}|x{3}/i

/** The key as which each of the texts reads, in the form of the PIX directory. */
const readAs = (type: PixKeyType, ...texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.flatMap((text) => Result.match(fromPair(text, type), { onSuccess: (key) => [value(key)], onFailure: () => [] }))

/** Whether a text reads as a key of one of the five kinds, and no reading of it is the key that was asked for. */
export const isOtherKey = (text: string, { pixKey, pixKeyType }: Pair): boolean => {
  if (text === pixKey || masked.test(text)) return false
  const bare = text.replaceAll(/[^\p{L}\p{N}]/gu, "")
  const uuid = bare.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, "$1-$2-$3-$4-$5")
  // A number without its sign, or without its leading zeros, may be the key that was asked for.
  const own = readAs(pixKeyType, text, uuid, `+${bare}`, bare.padStart(11, "0"), bare.padStart(14, "0"))
  if (own.includes(pixKey)) return false
  const phone = /^55\d{11}$/.test(bare) ? `+${bare}` : text
  return PixKeyType.literals.some((type) => readAs(type, text, uuid, phone).length > 0)
}
