/**
 * The base URL of the service: the credentials travel to it on every request.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ConfigurationError } from "../../contract/ConfigurationError.ts"
import * as Settings from "../../contract/Settings.ts"
import { isLoopback } from "../../internal/loopback.ts"

const problemOf = (url: URL): string | undefined => {
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return "must be https (http is for a loopback address only): the credentials travel on every request"
  }
  if (url.username !== "" || url.password !== "") return "may not hold a user name or password"
  // `?` or `#` alone leave an empty search and hash behind, so the text itself is asked.
  return /[?#]/.test(url.href) ? "may not hold a query or a fragment" : undefined
}

/** The base URL, checked. A path prefix is kept, without its last slash. The value is never shown. */
export const parseBaseUrl = (value: string | URL, setting: string): Effect.Effect<URL, ConfigurationError> => {
  // Plain JavaScript may leave it out.
  const text = String(value ?? "").trim()
  if (text === "") return Settings.missing(setting)
  // `URL.canParse` takes some texts that are too long to be one.
  const parsed = Result.try(() => new URL(text))
  if (Result.isFailure(parsed)) return Settings.wrong(setting, "is not a URL")
  const url = parsed.success
  const problem = problemOf(url)
  return problem === undefined ? Effect.succeed(url) : Settings.wrong(setting, problem)
}
