/**
 * Tag, length, value: a two-digit id, a two-digit length, then that many characters. BR Codes are made of it, twice
 * over: the value of a template is such a list again.
 */
import * as Option from "effect/Option"

/** One tag and its value. */
export interface Field {
  readonly id: string
  readonly value: string
}

const header = /^\d{4}$/

/** The fields of a text, in their order, or none unless they fill it to the last character. */
export const read = (text: string): Option.Option<ReadonlyArray<Field>> => {
  const fields: Array<Field> = []
  let at = 0
  while (at < text.length) {
    const start = at + 4
    const head = text.slice(at, start)
    if (!header.test(head)) return Option.none()
    const end = start + Number(head.slice(2))
    if (end > text.length) return Option.none()
    fields.push({ id: head.slice(0, 2), value: text.slice(start, end) })
    at = end
  }
  return Option.some(fields)
}

/** One field as text. The caller has seen to it that the value is ASCII of at most 99 characters. */
export const write = (id: string, value: string): string => `${id}${String(value.length).padStart(2, "0")}${value}`

/** The value of the first field with this id. */
export const get = (fields: ReadonlyArray<Field>, id: string): string | undefined =>
  fields.find((field) => field.id === id)?.value
