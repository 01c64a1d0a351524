/**
 * Writes words, amounts and times in the language of the page.
 *
 * @import { Fault } from "../../../sandbox/PlannedFault.ts"
 * @typedef {keyof typeof words} Word
 */
import { seen, state } from "./state.js"
import words from "./words.json" with { type: "json" }

/** @type {(lang: string, locale: string, dateStyle: "medium" | "short") => { lang: string, long: Intl.DateTimeFormat, short: Intl.DateTimeFormat, relative: Intl.RelativeTimeFormat }} */
const formatsOf = (lang, locale, dateStyle) => ({
  lang,
  long: new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: "medium" }),
  short: new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: "short" }),
  relative: new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" })
})
// The order of day and month is plain in both.
const languages = { en: formatsOf("en", "en-GB", "medium"), pt: formatsOf("pt-BR", "pt-BR", "short") }
const brl = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })
/**
 * Milliseconds of the units that a relative time is written in, the largest first.
 * @type {ReadonlyArray<[Intl.RelativeTimeFormatUnit, number]>}
 */
const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
]

/** The language of the page, for its markup. */
export const lang = () => languages[state.view.lang].lang
/**
 * @param {string} name
 * @returns {name is Word}
 */
const isWord = (name) => Object.hasOwn(words, name)
/**
 * A text of the table, with its values.
 * @type {(name: Word, ...values: ReadonlyArray<string | number>) => string}
 */
export const word = (name, ...values) => {
  const [english = "", portuguese = ""] = words[name]
  const text = state.view.lang === "pt" ? portuguese : english
  return values.map(String).reduce((text, value) => text.replace("{}", () => value), text)
}
/**
 * A name that may have a text: a status, an operation, an error.
 * @param {string} name
 */
export const wordOf = (name) => (isWord(name) ? word(name) : name)
/**
 * What a client sees that meets a fault. Those of limits are alike.
 * @param {string} name
 */
export const sees = (name) => {
  const own = `sees_${name}`
  return word(isWord(own) ? own : "sees_limit")
}
/** @param {number} value */
export const count = (value) => value.toLocaleString(lang())
/** @param {number} centavos */
export const money = (centavos) => brl.format(centavos / 100)
/** @param {string} iso */
export const exact = (iso) => languages[state.view.lang].long.format(Date.parse(iso))
/**
 * A point in time without its seconds.
 * @param {string} iso
 */
export const clock = (iso) => languages[state.view.lang].short.format(Date.parse(iso))
/** @param {string} iso */
export const ago = (iso) => {
  const { relative } = languages[state.view.lang]
  const millis = Date.parse(iso) - Date.parse(seen().overview.now)
  const [unit, size] = units.find(([, least]) => Math.abs(millis) >= least) ?? ["second", 1000]
  // Seconds that are over would be wrong at once.
  return relative.format(unit === "second" && millis < 0 ? 0 : Math.trunc(millis / size), unit)
}

/**
 * As the command reads an amount: `2500` is centavos, `25,00` and `1.234,56` are reais.
 * @param {string} text
 */
export const centavosOf = (text) => {
  const plain = text.trim().replace(/^R\$\s*/, "")
  const isAmount = /^\d{1,15}$|^\d{1,13}[.,]\d\d$|^\d{1,3}(?:\.\d{3}){1,3},\d\d$/.test(plain)
  return isAmount ? Number(plain.replaceAll(/[.,]/g, "")) : undefined
}

/**
 * A text without the paths of `postbackUrl`, which may be secrets.
 * @param {string} text
 */
export const withoutPaths = (text) => text.replaceAll(/("postbackUrl"\s*:\s*"[a-z]+:\/\/[^/"?#]+)[/?#][^"]*/gi, "$1/…")

/**
 * JSON with indents, and any other text as it is.
 * @param {string} text
 */
export const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

/**
 * The name of a fault.
 * @param {Fault} fault
 */
export const nameOf = ({ answer, code, ending, executed, failure, forgetsKey, times, wait }) => {
  if (answer !== undefined) return `answer ${answer.status}`
  if (ending === "Reset") return executed ? "resetAfter" : "resetBefore"
  if (ending !== undefined) return { Refused: "refuse", Silence: "silence", Truncated: "truncated" }[ending]
  if (forgetsKey) return "forgetKey"
  if (failure !== undefined) return "failure"
  if (times !== undefined) return times === "Local" ? "localTimes" : "falseZ"
  return code ?? (wait === undefined ? "none" : "latency")
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
/**
 * A word for a shell, in quotes only if it needs them.
 * @param {string} text
 */
export const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text))
/** Headers that curl sets by itself, or that belong to the connection. */
const own = /^(?:accept-encoding|connection|content-length|host|transfer-encoding|user-agent)$/
/**
 * The variables of the shell in place of credentials that are not shown.
 * @type {Readonly<Record<string, string>>}
 */
const variables = { "x-client-id": "$PAYMENTS_CLIENT_ID", "x-api-key": "$PAYMENTS_API_KEY" }
/** @param {[string, string]} header */
const header = ([name, value]) =>
  value === "<redacted>" && variables[name] ? `"${name}: ${variables[name]}"` : quoted(`${name}: ${value}`)

/**
 * The command that sends a request.
 * @param {{ body?: string, headers: Readonly<Record<string, string>>, method: string, origin: string, path: string, query?: Record<string, string> }} request
 */
export const curl = ({ body = "", headers, method, origin, path, query = {} }) => {
  const search = new URLSearchParams(query).toString()
  const sent = Object.entries(headers).filter(([name]) => !own.test(name))
  return [
    `curl -X ${method} ${quoted(`${origin}${path}${search && `?${search}`}`)}`,
    ...sent.map((one) => `  -H ${header(one)}`),
    ...(body === "" ? [] : [`  --data-raw ${quoted(body)}`])
  ].join(" \\\n")
}
