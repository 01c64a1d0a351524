/** Writes words, times, amounts and buttons in the language and the time zone of a view. */
import { type Html, html } from "./html.ts"
import { addressOf, fromStart, type View } from "./view.ts"
import { isWord, type Word, words } from "./words.ts"

const tones: Readonly<Record<string, string>> = {
  Awaiting: "warn",
  Pending: "warn",
  Processing: "warn",
  Paid: "good",
  Settled: "good",
  Taken: "good",
  Failed: "bad",
  Rejected: "bad",
  GivenUp: "bad",
  Refunded: "again",
  Returned: "again"
}

const brl = new Intl.NumberFormat("pt-BR", { style: "currency", currency: "BRL" })

/** Milliseconds of the units that a relative time is written in, the largest first. */
const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
] as const

/** A text without the paths of `postbackUrl`, which may be secrets. */
export const withoutPaths = (text: string): string =>
  text.replaceAll(/("postbackUrl"\s*:\s*"[a-z]+:\/\/[^/"?#]+)[/?#][^"]*/gi, "$1/…")

/** JSON with indents, and any other text as it is. */
const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

/** What a button sends: a function of the sandbox, by its name and input. */
export interface Act {
  readonly name: string
  readonly input?: Readonly<Record<string, unknown>>
}

export const makeWriter = (view: View, now: number) => {
  const index = view.language === "pt" ? 1 : 0
  const lang = view.language === "pt" ? "pt-BR" : "en"
  const { timeZone } = view
  // The order of day and month is plain in both.
  const [locale, dateStyle] = index === 1 ? (["pt-BR", "short"] as const) : (["en-GB", "medium"] as const)
  const long = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: "medium", timeZone })
  const short = new Intl.DateTimeFormat(locale, { dateStyle, timeStyle: "short", timeZone })
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: "auto", style: "short" })

  const word = (name: Word, value: string | number = ""): string => words[name][index].replace("{}", () => `${value}`)
  const wordOf = (name: string): string => (isWord(name) ? word(name) : name)
  const exact = (iso: string): string => long.format(Date.parse(iso))
  const count = (value: number): string => value.toLocaleString(lang)
  const ago = (iso: string): string => {
    const millis = Date.parse(iso) - now
    const [unit, size] = units.find(([, least]) => Math.abs(millis) >= least) ?? ["second", 1000]
    // Seconds that are over would be wrong at once.
    return unit === "second" && millis < 0 ? relative.format(0, unit) : relative.format(Math.trunc(millis / size), unit)
  }
  /** A relative time, with the exact one as its title. */
  const time = (iso: string): Html => html`<time datetime="${iso}" title="${exact(iso)}">${ago(iso)}</time>`
  const link = (changes: Partial<View>): string => addressOf({ ...view, ...changes })

  return {
    view,
    lang,
    word,
    wordOf,
    /** A text that is written in both languages. */
    text: (both: readonly [en: string, pt: string]): string => both[index],
    exact,
    ago,
    time,
    count,
    link,
    /** A point in time without its seconds. */
    clock: (millis: number): string => short.format(millis),
    money: (centavos: number): string => brl.format(centavos / 100),
    /** A link to a row, in the section that has it. */
    linkTo: (tab: View["tab"], id: number, text: string | Html): Html =>
      html`<a href="${link({ ...fromStart, tab, open: id })}">${text}</a>`,
    pill: (status: string | number, tone = tones[status] ?? ""): Html =>
      html`<span class="pill ${tone}">${wordOf(String(status))}</span>`,
    /** A button that calls a function of the sandbox. Its label also says about what. */
    act: ({ input = {}, name }: Act, label: Word, about = "", kind = ""): Html =>
      html`<button
        type="button"
        class="${kind}"
        data-send="/_sandbox/${name}"
        data-body="${JSON.stringify(input)}"
        aria-label="${word(label)}${about && `: ${about}`}"
      >
        ${word(label)}
      </button>`,
    copy: (text: string, name: string): Html =>
      html`<button type="button" class="small" data-copy="${text}" aria-label="${word("copy")}: ${name}">
        ${word("copy")}
      </button>`,
    /** A text of a block, such as a body. */
    block: (name: string, text: string, beside?: Html): Html =>
      html`<h3>${name} ${beside}</h3>
        <pre tabindex="0" aria-label="${name}">${pretty(withoutPaths(text))}</pre>`,
    /** An amount that is typed. The page's script shows beside it how it is read. */
    amount: (id: string, value: string, label: string): Html =>
      html`<label class="hidden" for="${id}">${label}</label>
        <input id="${id}" name="amount" data-amount inputmode="decimal" value="${value}" autocomplete="off" />
        <output class="note" id="${id}-read" for="${id}" data-keep></output>`
  }
}

/** See `makeWriter`. */
export type Writer = ReturnType<typeof makeWriter>
