/** HTML as text. A value in a template is escaped; only what another template made is not. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | false | undefined | ReadonlyArray<Html>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const write = (part: Part): string => {
  if (part === undefined || part === false) return ""
  if (part instanceof Html) return part.text
  if (typeof part === "object") return part.map(write).join("")
  return String(part).replaceAll(/[&<>"']/g, (character) => entities[character] ?? "")
}

/** The indents of the source are no part of a page. */
const dense = new WeakMap<TemplateStringsArray, ReadonlyArray<string>>()
const denseOf = (strings: TemplateStringsArray) => {
  const texts = dense.get(strings) ?? strings.map((text) => text.replaceAll(/\s+/g, " "))
  dense.set(strings, texts)
  return texts
}

/** Makes HTML. The value of an attribute is in double quotes: `title="${text}"`. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(denseOf(strings).reduce((text, string, index) => `${text}${write(parts[index - 1])}${string}`))
