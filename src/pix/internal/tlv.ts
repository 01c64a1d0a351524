/**
 * Lists of fields in the form id, length, value: a two-digit id, a two-digit length, then that many units (characters or
 * bytes). A BR Code is such a list, and the value of a template is another one.
 */
import * as Option from "effect/Option"

/** One id and its value. */
export interface Field {
  readonly id: string
  readonly value: string
}

const header = /^\d{4}$/

/** Cuts a text into the units that the lengths count. */
export type Split = (text: string) => ReadonlyArray<string>

/** Reads the fields of a text, in their order. None if the last field does not end where the text ends. */
export const read = (text: string, split: Split): Option.Option<ReadonlyArray<Field>> => {
  const units = split(text)
  const fields: Array<Field> = []
  let at = 0
  while (at < units.length) {
    const start = at + 4
    const head = units.slice(at, start).join("")
    if (!header.test(head)) return Option.none()
    const end = start + Number(head.slice(2))
    if (end > units.length) return Option.none()
    fields.push({ id: head.slice(0, 2), value: units.slice(start, end).join("") })
    at = end
  }
  return Option.some(fields)
}

/** Writes one field. The caller has checked that the value is ASCII of at most 99 characters. */
export const write = (id: string, value: string): string => `${id}${String(value.length).padStart(2, "0")}${value}`

/** The value of the first field with this id. */
export const get = (fields: ReadonlyArray<Field>, id: string): string | undefined =>
  fields.find((field) => field.id === id)?.value
