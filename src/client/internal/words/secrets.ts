/**
 * Collects the values of a request that must not be shown, even if the service echoes them.
 */
import * as Predicate from "effect/Predicate"
import { PixKeyType } from "../../../pix/PixKey.ts"

/** The words of the contract that a body may hold. They are not personal data. */
const publicWords: ReadonlySet<string> = new Set(["BRL", "PIX", "BOLETO", "CREDIT_CARD", ...PixKeyType.literals])

/** The fields with numbers about the order. They are not personal data. */
const orderFields: ReadonlySet<string> = new Set(["amount", "expiresInDays", "installments", "quantity", "unitPrice"])

/** The words of a name without its particles, which many names have in common. */
const partsOfName = (name: string) => name.split(/\s+/).filter((part) => !/^(?:d[aeo]s?|e)$/i.test(part))

const secretsOfField = (field: string, value: unknown): ReadonlyArray<string> => {
  if (Predicate.isObjectOrArray(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      secretsOfField(Array.isArray(value) ? field : name, member)
    )
  }
  if (typeof value !== "string" && (typeof value !== "number" || orderFields.has(field))) return []
  const text = String(value)
  if (publicWords.has(text)) return []
  return [text, ...(field === "name" ? partsOfName(text) : [])]
}

/** Every text and number of a body that may be personal data. A person's name is added also word by word. */
export const secretsOfBody = (json: string): ReadonlyArray<string> => secretsOfField("", JSON.parse(json))
