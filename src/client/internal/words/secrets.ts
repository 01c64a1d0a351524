/**
 * Collects the values of a request that must not be shown, even if the service echoes them.
 */
import * as Predicate from "effect/Predicate"
import { PixKeyType } from "../../../pix/PixKey.ts"

/** A value of the request that must not be shown. */
export interface Secret {
  readonly text: string
  /** `personal`: no word of it is shown. `free`: ordinary words, of which three together are masked. */
  readonly kind: "personal" | "free"
}

/** A credential, a key, or a value about a person. */
export const personal = (text: string): Secret => ({ text, kind: "personal" })

/** A text such as a description, with ordinary words. */
export const freeText = (text: string): Secret => ({ text, kind: "free" })

/** The words of the contract that a body may hold. They are not personal data. */
const publicWords: ReadonlySet<string> = new Set(["BRL", "PIX", "BOLETO", "CREDIT_CARD", ...PixKeyType.literals])

/** The fields with ordinary words. Any other field, also an undocumented one, may be about a person. */
const freeFields: ReadonlySet<string> = new Set(["description", "title"])

/** The fields with numbers about the order. They are not personal data. */
const orderFields: ReadonlySet<string> = new Set(["amount", "expiresInDays", "installments", "quantity", "unitPrice"])

/** Particles, which many names have in common. */
const particle = /^(?:d[aeo]s?|e)$/i

const partsOfName = (name: string) => name.split(/\s+/).filter((part) => !particle.test(part))

const secretsOfField = (field: string, value: unknown): ReadonlyArray<Secret> => {
  if (Predicate.isObjectOrArray(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      secretsOfField(Array.isArray(value) ? field : name, member)
    )
  }
  if (typeof value !== "string" && (typeof value !== "number" || orderFields.has(field))) return []
  const text = String(value)
  if (publicWords.has(text)) return []
  if (freeFields.has(field)) return [freeText(text)]
  return [text, ...(field === "name" ? partsOfName(text) : [])].map(personal)
}

/** Every text and number of a body that may be personal data. A person's name is added also word by word. */
export const secretsOfBody = (json: string): ReadonlyArray<Secret> => secretsOfField("", JSON.parse(json))
