/**
 * Lists of fields in the form id, length, value: a two-digit id, a two-digit length, then that many characters. A BR Code
 * is such a list, and the value of a template is another one.
 */
import * as Option from "effect/Option"

/** One id and its value. */
export interface Field {
  readonly id: string
  readonly value: string
}

const header = /^\d{4}$/

/** Reads the fields of a text, in their order. None if the last field does not end where the text ends. */
export const read = (text: string): Option.Option<ReadonlyArray<Field>> => {
  const fields: Array<Field> = []
  let at = 0
  while (at < text.length) {
    const start = at + 4
    const head = text.slice(at, start)
    const end = start + Number(head.slice(2))
    if (!header.test(head) || end > text.length) return Option.none()
    fields.push({ id: head.slice(0, 2), value: text.slice(start, end) })
    at = end
  }
  return Option.some(fields)
}

/** The value of the first field with this id. */
export const get = (fields: ReadonlyArray<Field>, id: string): string | undefined =>
  fields.find((field) => field.id === id)?.value
