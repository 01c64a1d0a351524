/** What a command says in English or in Portuguese, and the flags that all commands of an operator share. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { defaultAccount } from "../../payouts/PayoutQueueOptions.ts"

export type Lang = "en" | "pt"
export type Text = Readonly<Record<Lang, string>>
/** A string is the same in both languages. */
export type Label = Text | string

export const text = (en: string, pt: string): Text => ({ en, pt })

export const say = (label: Label, lang: Lang): string => (typeof label === "string" ? label : label[lang])

/** The age of a time. */
export const ago = (age: string): Text => text(`${age} ago`, `há ${age}`)

/** Texts one after the other. */
export const join = (...parts: ReadonlyArray<Label>): Text => {
  const inLang = (lang: Lang) => parts.map((part) => say(part, lang)).join("")
  return text(inLang("en"), inLang("pt"))
}

interface Shared {
  /** Whose payouts. */
  readonly account: string
  readonly lang: Lang
}

/** The shared flags. A reference, since a command is composed before its flags are read. */
export const Shared = Context.Reference<Shared>("effect-pix/Shared", {
  defaultValue: () => ({ account: defaultAccount, lang: "en" })
})

export const givenLang = Effect.map(Shared, ({ lang }) => lang)
