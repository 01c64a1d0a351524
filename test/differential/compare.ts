/** Compares the observations of two states, case by case, and groups the differences by class. */
import type { Observation } from "./observation.ts"

export interface DifferenceClass {
  readonly area: string
  readonly name: string
  readonly count: number
  /** How many cases each value of a dimension has. */
  readonly dims: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly example: { readonly id: string; readonly base: string; readonly head: string }
}

interface Difference {
  readonly name: string
  readonly base: string
  readonly head: string
  readonly one: Observation
  /** The sums of a number in both states. */
  readonly totals?: readonly [number, number]
}

/** The texts that depend on the tag of an error. They are compared only if the tag is the same. */
const follows = new Set(["message", "fields", "logs", "spans", "value", "states", "history"])

const short = (text: string, most: number): string => (text.length <= most ? text : `${text.slice(0, most)}...`)

/** A line without its numbers and ids, so that lines of many cases are alike. */
const shapeOf = (line: string): string =>
  line
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/gi, "<id>")
    .replaceAll(/[\da-f]{16,}/gi, "<hex>")
    .replaceAll(/\d+/g, "N")

const lines = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split("\n"))

/** The part in which two lines differ, with some text around it. */
const apart = (base: string, head: string): readonly [string, string] => {
  let from = 0
  while (from < base.length && base[from] === head[from]) from++
  let to = 0
  while (to < Math.min(base.length, head.length) - from && base.at(-1 - to) === head.at(-1 - to)) to++
  const begin = Math.max(0, from - 20)
  const cut = (line: string) => `${begin > 0 ? "..." : ""}${line.slice(begin, line.length - Math.max(0, to - 20))}`
  return [cut(base), cut(head)]
}

const textClass = (base: string, head: string): string => {
  const was = new Set(lines(base).map(shapeOf))
  const is = new Set(lines(head).map(shapeOf))
  const gone = [...was].filter((line) => !is.has(line))
  const come = [...is].filter((line) => !was.has(line))
  if (gone.length === 0 && come.length === 0) return "other numbers, order or count"
  const [one, other] =
    gone.length > 0 && come.length > 0
      ? apart(gone[0] ?? "", come[0] ?? "")
      : [gone[0] ?? "nothing", come[0] ?? "nothing"]
  const rest = gone.length + come.length > 2 ? `, and ${gone.length + come.length - 2} more lines` : ""
  return `"${short(one, 110)}" -> "${short(other, 110)}"${rest}`
}

const masks = /\[[^\]]*\]|\*{2,}|…|█|•|<redacted>/

/** The kind of the shown words of the service: all, masked or none. */
const sayingOf = (text: string): string =>
  text === "" ? "nothing" : masks.test(text) ? "words, masked in part" : "words"

const differencesOf = (base: Observation, head: Observation): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  const add = (name: string, was: string, is: string, totals?: readonly [number, number]) =>
    found.push({ name: `${head.kind}: ${name}`, base: was, head: is, one: head, ...(totals && { totals }) })
  const names = new Set([...Object.keys(base.exact), ...Object.keys(head.exact)])
  const exact = [...names].filter((name) => base.exact[name] !== head.exact[name])
  if (exact.length > 0) {
    const told = exact.map(
      (name) => `${name === "result" ? "" : `${name} `}${base.exact[name] || "none"} -> ${head.exact[name] || "none"}`
    )
    const whole = (one: Observation) =>
      JSON.stringify({ ...one.exact, message: one.texts?.["message"], serviceMessage: one.texts?.["serviceMessage"] })
    add(told.join(", "), whole(base), whole(head))
  }
  for (const name of new Set([...Object.keys(base.sums ?? {}), ...Object.keys(head.sums ?? {})])) {
    const [was, is] = [base.sums?.[name] ?? 0, head.sums?.[name] ?? 0]
    if (was !== is) add(`${is > was ? "more" : "fewer"} ${name}`, `${was}`, `${is}`, [was, is])
  }
  const isOther = exact.includes("result")
  for (const name of new Set([...Object.keys(base.texts ?? {}), ...Object.keys(head.texts ?? {})])) {
    const [was, is] = [base.texts?.[name] ?? "", head.texts?.[name] ?? ""]
    if (was === is || (isOther && follows.has(name))) continue
    if (name === "serviceMessage") {
      const [from, to] = [sayingOf(was), sayingOf(is)]
      add(`serviceMessage ${from === to ? `other ${to}` : `${from} -> ${to}`}`, was, is)
    } else add(`${name} ${textClass(was, is)}`, was, is)
  }
  return found
}

/** The classes of an area, the largest first. Each value of the dimensions in `split` is a class of its own. */
export const compare = (
  area: string,
  base: ReadonlyArray<Observation>,
  head: ReadonlyArray<Observation>,
  split: ReadonlyArray<string>
): ReadonlyArray<DifferenceClass> => {
  const before = new Map(base.map((one) => [one.id, one]))
  const after = new Map(head.map((one) => [one.id, one]))
  if (before.size !== base.length || after.size !== head.length) throw new Error(`${area}: two cases have one id`)
  const differences = head.flatMap((one): ReadonlyArray<Difference> => {
    const other = before.get(one.id)
    return other === undefined
      ? [{ name: `${one.kind}: a case of the working tree alone`, base: "", head: JSON.stringify(one.exact), one }]
      : differencesOf(other, one)
  })
  const lost = base
    .filter(({ id }) => !after.has(id))
    .map((one): Difference => ({
      name: `${one.kind}: a case of the base alone`,
      base: JSON.stringify(one.exact),
      head: "",
      one
    }))
  const classes = new Map<string, Array<Difference>>()
  for (const difference of [...differences, ...lost]) {
    const name = [difference.name, ...split.map((dim) => `${dim} ${difference.one.dims[dim] ?? "none"}`)].join(", ")
    classes.set(name, [...(classes.get(name) ?? []), difference])
  }
  return [...classes]
    .map(([name, members]): DifferenceClass => {
      const dims: Record<string, Record<string, number>> = {}
      for (const { one } of members) {
        for (const [dim, value] of Object.entries(one.dims)) {
          const counts = (dims[dim] ??= {})
          counts[value] = (counts[value] ?? 0) + 1
        }
      }
      const total = (side: 0 | 1) => members.reduce((sum, { totals }) => sum + (totals?.[side] ?? 0), 0)
      const [example] = members
      const sum = total(0) === total(1) ? "" : `, in all ${total(0)} -> ${total(1)}`
      return {
        area,
        name: `${name}${sum}`,
        count: members.length,
        dims,
        example: {
          id: example?.one.note ?? example?.one.id ?? "",
          base: example?.base ?? "",
          head: example?.head ?? ""
        }
      }
    })
    .toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name))
}

const dimsLine = (dims: DifferenceClass["dims"]): string =>
  Object.entries(dims)
    .map(([dim, counts]) => {
      const values = Object.entries(counts).toSorted((a, b) => b[1] - a[1])
      const shown = values.slice(0, 12).map(([value, count]) => (values.length === 1 ? value : `${value} (${count})`))
      return `${dim}: ${shown.join(", ")}${values.length > 12 ? `, and ${values.length - 12} more` : ""}`
    })
    .join("; ")

export const classLines = ({ count, dims, example, name }: DifferenceClass): string =>
  [
    `${String(count).padStart(6)}  ${name}`,
    `        ${dimsLine(dims)}`,
    `        e.g. ${example.id}`,
    `          base: ${short(example.base, 600).replaceAll("\n", "\n                ")}`,
    `          head: ${short(example.head, 600).replaceAll("\n", "\n                ")}`
  ].join("\n")
