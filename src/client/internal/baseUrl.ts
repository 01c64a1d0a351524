/**
 * Checks the base URL of the service. Each request sends the credentials there, so it must be https.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { notSet } from "../../contract/ConfigurationError.ts"
import { reading } from "../../contract/Options.ts"
import { isLoopback } from "../../internal/loopback.ts"

const mustBeHttps =
  "must be https: each request sends the credentials. Plain http is for a loopback address or, with `insecure` " +
  "(PAYMENTS_INSECURE=true), for a sandbox in another container"

const problemOf = (url: URL): string | undefined => {
  if (url.protocol !== "https:" && url.protocol !== "http:") return mustBeHttps
  if (url.username !== "" || url.password !== "") return "may not hold a user name or password"
  // A lone `?` or `#` gives an empty search and an empty hash, so the text itself is searched.
  return /[?#]/.test(url.href) ? "may not hold a query or a fragment" : undefined
}

/** Whether requests to a URL leave this machine without encryption. */
const isExposed = (url: URL): boolean => url.protocol === "http:" && !isLoopback(url.hostname)

/**
 * The base URL as a setting. A path prefix is kept, without its last slash. The value is never shown. `isInsecure` says
 * whether plain http may leave this machine.
 */
export const baseUrlSetting = (isInsecure: boolean) =>
  reading((value: string | URL): Result.Result<URL, string> => {
    // A caller without types may leave it out, or give an object that is no text.
    const text = Result.try(() => String(value ?? "").trim())
    if (Result.isSuccess(text) && text.success === "") return Result.fail(notSet)
    // `URL.canParse` accepts some texts that are too long for a URL.
    const parsed = Result.flatMap(text, (url) => Result.try(() => new URL(url)))
    if (Result.isFailure(parsed)) return Result.fail("is not a URL")
    const url = parsed.success
    const problem = problemOf(url) ?? (isExposed(url) && !isInsecure ? mustBeHttps : undefined)
    return problem === undefined ? Result.succeed(url) : Result.fail(problem)
  })

/** Logs a warning if requests leave this machine without encryption. */
export const warnIfExposed = (url: URL): Effect.Effect<void> =>
  isExposed(url)
    ? Effect.logWarning(
        "Requests leave this machine over plain http, as `insecure` allows: whoever is on the network can read the " +
          "credentials and the payers' data, and change amounts and PIX keys. This is for a sandbox with made-up credentials only."
      ).pipe(Effect.annotateLogs({ "server.address": url.hostname }))
    : Effect.void
