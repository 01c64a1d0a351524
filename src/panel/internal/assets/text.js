/** Writes words, amounts and times in the language of the page. */
import { state } from "./state.js"
import words from "./words.json" with { type: "json" }

const formatsOf = (lang, locale, dateStyle) => ({
  lang,
  long: new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: "medium" }),
  short: new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: "short" }),
  relative: new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" })
})
// The order of day and month is plain in both.
const languages = { en: formatsOf("en", "en-GB", "medium"), pt: formatsOf("pt-BR", "pt-BR", "short") }
const brl = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })
/** Milliseconds of the units that a relative time is written in, the largest first. */
const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
]

/** The language of the page, for its markup. */
export const lang = () => languages[state.view.lang].lang
/** A text of the table, with its values. */
export const word = (name, ...values) =>
  values.reduce((text, value) => text.replace("{}", () => value), words[name][state.view.lang === "pt" ? 1 : 0])
/** A name that may have a text: a status, an operation, an error. */
export const wordOf = (name) => (Object.hasOwn(words, name) ? word(name) : name)
/** What a client sees that meets a fault. Those of limits are alike. */
export const sees = (name) => word(Object.hasOwn(words, `sees_${name}`) ? `sees_${name}` : "sees_limit")
export const count = (value) => value.toLocaleString(lang())
export const money = (centavos) => brl.format(centavos / 100)
export const exact = (iso) => languages[state.view.lang].long.format(Date.parse(iso))
/** A point in time without its seconds. */
export const clock = (iso) => languages[state.view.lang].short.format(Date.parse(iso))
export const ago = (iso) => {
  const { relative } = languages[state.view.lang]
  const millis = Date.parse(iso) - Date.parse(state.seen.overview.now)
  const [unit, size] = units.find(([, least]) => Math.abs(millis) >= least) ?? ["second", 1000]
  // Seconds that are over would be wrong at once.
  return relative.format(unit === "second" && millis < 0 ? 0 : Math.trunc(millis / size), unit)
}

/** As the command reads an amount: `2500` is centavos, `25,00` and `1.234,56` are reais. */
export const centavosOf = (text) => {
  const plain = text.trim().replace(/^R\$\s*/, "")
  const isAmount = /^\d{1,15}$|^\d{1,13}[.,]\d\d$|^\d{1,3}(?:\.\d{3}){1,3},\d\d$/.test(plain)
  return isAmount ? Number(plain.replaceAll(/[.,]/g, "")) : undefined
}

/** A text without the paths of `postbackUrl`, which may be secrets. */
export const withoutPaths = (text) => text.replaceAll(/("postbackUrl"\s*:\s*"[a-z]+:\/\/[^/"?#]+)[/?#][^"]*/gi, "$1/…")

/** JSON with indents, and any other text as it is. */
export const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

/** The name of a fault. */
export const nameOf = ({ answer, code, ending, executed, failure, forgetsKey, times, wait }) => {
  if (answer !== undefined) return `answer ${answer.status}`
  if (ending === "Reset") return executed ? "resetAfter" : "resetBefore"
  if (ending !== undefined) return { Refused: "refuse", Silence: "silence", Truncated: "truncated" }[ending]
  if (forgetsKey) return "forgetKey"
  if (failure !== undefined) return "failure"
  if (times !== undefined) return times === "Local" ? "localTimes" : "falseZ"
  return code ?? (wait === undefined ? "none" : "latency")
}

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`
/** A word for a shell, in quotes only if it needs them. */
export const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text))
/** Headers that curl sets by itself, or that belong to the connection. */
const own = /^(?:accept-encoding|connection|content-length|host|transfer-encoding|user-agent)$/
/** The variables of the shell in place of credentials that are not shown. */
const variables = { "x-client-id": "$PAYMENTS_CLIENT_ID", "x-api-key": "$PAYMENTS_API_KEY" }
const header = ([name, value]) =>
  value === "<redacted>" && variables[name] ? `"${name}: ${variables[name]}"` : quoted(`${name}: ${value}`)

/** The command that sends a request. */
export const curl = ({ body = "", headers, method, origin, path, query = {} }) => {
  const search = new URLSearchParams(query).toString()
  const sent = Object.entries(headers).filter(([name]) => !own.test(name))
  return [
    `curl -X ${method} ${quoted(`${origin}${path}${search && `?${search}`}`)}`,
    ...sent.map((one) => `  -H ${header(one)}`),
    ...(body === "" ? [] : [`  --data-raw ${quoted(body)}`])
  ].join(" \\\n")
}
