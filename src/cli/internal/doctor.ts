/** What `effect-pix doctor` does: it asks, compares and tells. It sends nothing that changes anything. */
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import process from "node:process"
import { Credentials } from "../../client/Credentials.ts"
import { Payments } from "../../client/Payments.ts"
import type { ConfigurationError } from "../../contract/ConfigurationError.ts"
import { makeAsk } from "./doctor/ask.ts"
import { type Findings, makeFindings, places } from "./doctor/findings.ts"
import { checkList } from "./doctor/list.ts"
import { countsOf, reportOf, textOf } from "./doctor/report.ts"
import { checkAccess, checkRefusals } from "./doctor/service.ts"
import { checkBalance, checkLookup } from "./doctor/single.ts"
import { codes, failed } from "./exit.ts"
import { version } from "../version.ts"
import { note, writeJson, writeLine } from "./output.ts"

interface Input {
  readonly transaction: Option.Option<string>
  readonly report: Option.Option<string>
  readonly json: boolean
}

/** The settings, checked as a program's are: all that is wrong is told at once. */
const settings = Effect.gen(function* () {
  yield* Effect.scoped(Layer.build(Payments.layerFetch))
  return {
    baseUrl: yield* Config.String("PAYMENTS_BASE_URL"),
    companyId: Option.getOrUndefined(yield* Config.option(Config.Int("PAYMENTS_COMPANY_ID"))),
    credentials: yield* Credentials.config
  }
})

const tellSettings = (findings: Findings, error: ConfigurationError | Config.ConfigError) =>
  error._tag === "ConfigurationError"
    ? error.settings.forEach(({ problem, setting }) =>
        findings.tell("wrong", `${setting} can be used`, places.settings, problem)
      )
    : findings.tell("wrong", "The settings can be read", places.settings, "they cannot")

const examine = Effect.fnUntraced(function* (findings: Findings, transactionId: string | undefined) {
  const found = yield* Effect.option(
    Effect.tapError(settings, (error) => Effect.sync(() => tellSettings(findings, error)))
  )
  if (Option.isNone(found)) return
  findings.tell("holds", "The settings can be used", places.settings)
  const { baseUrl, companyId, credentials } = found.value
  const ask = makeAsk(baseUrl, credentials)
  if (!(yield* checkAccess(findings, ask))) return
  yield* checkList(findings, ask)
  yield* checkLookup(findings, ask, transactionId, companyId)
  yield* checkBalance(findings, ask, companyId)
  yield* checkRefusals(findings, ask, { baseUrl, credentials })
})

export const run = Effect.fnUntraced(function* (input: Input) {
  const findings = makeFindings()
  yield* examine(findings, Option.getOrUndefined(input.transaction))
  const all = findings.all()
  if (input.json) yield* Effect.forEach(all, writeJson, { discard: true })
  else yield* writeLine(textOf(all))
  yield* note(countsOf(all))
  if (Option.isSome(input.report)) {
    const fs = yield* FileSystem.FileSystem
    const now = DateTime.formatIso(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
    const about = [`effect-pix ${version}`, `Node ${process.versions.node} on ${process.platform}`, now]
    yield* fs
      .writeFileString(input.report.value, reportOf(all, about))
      .pipe(Effect.mapError(() => failed("The report could not be written.")))
    yield* note(`The report is in ${input.report.value}.`)
  }
  if (all.some(({ verdict }) => verdict === "wrong")) return yield* failed("", codes.Wrong)
})
