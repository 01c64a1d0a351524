/** The texts of the panel, in the chosen language. */
import { en } from "./en.js"
import { pt } from "./pt.js"

const languages = { en, pt }
const saved = localStorage.getItem("language")
let language = saved in languages ? saved : navigator.language.startsWith("pt") ? "pt" : "en"

export const other = () => (language === "pt" ? "en" : "pt")

/** A text of the current language. `{0}`, `{1}` and so on are replaced by the values. */
export const word = (name, ...values) => {
  const found = name.split(".").reduce((words, part) => words?.[part], languages[language])
  if (typeof found !== "string") return found ?? name.split(".").at(-1)
  return values.reduce((text, value, index) => text.replace(`{${index}}`, () => String(value)), found)
}

/** Writes the words into the elements of the page that name them. */
export const translate = (next = language) => {
  language = next
  document.documentElement.lang = language === "pt" ? "pt-BR" : "en"
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word)
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", word(element.dataset.label))
    if (element instanceof HTMLInputElement) element.placeholder = word(element.dataset.label)
  }
}

export const choose = (next) => {
  localStorage.setItem("language", next)
  translate(next)
}

export const time = (iso) =>
  new Date(iso).toLocaleString(document.documentElement.lang, { dateStyle: "short", timeStyle: "medium" })
