/**
 * The values of a request that must not be shown, even if the service echoes them.
 */
import * as Predicate from "effect/Predicate"
import { PixKeyType } from "../../../pix/PixKey.ts"

/** A value of the request that must not be shown. */
export interface Secret {
  readonly text: string
  /** `personal`: no word of it is shown. `free`: ordinary words, of which three together are masked. */
  readonly kind: "personal" | "free"
}

/** Of a credential, a key, a person. */
export const personal = (text: string): Secret => ({ text, kind: "personal" })

/** Of a description and the like, whose words are ordinary ones. */
export const freeText = (text: string): Secret => ({ text, kind: "free" })

/** The words of the contract that a body may hold as texts: they are no one's data. */
const publicWords: ReadonlySet<string> = new Set(["BRL", "PIX", "BOLETO", "CREDIT_CARD", ...PixKeyType.literals])

/** The fields whose words are ordinary ones. Every other one may be about a person, also what is undocumented. */
const freeFields: ReadonlySet<string> = new Set(["description", "title"])

/** The numbers of the contract: what is ordered, and nobody's data. */
const orderFields: ReadonlySet<string> = new Set(["amount", "expiresInDays", "installments", "quantity", "unitPrice"])

/** Words that many names have in common. */
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

/** Every text and number in a body that may be somebody's data. A person's name also word by word. */
export const secretsOfBody = (json: string): ReadonlyArray<Secret> => secretsOfField("", JSON.parse(json))
