/** `effect-pix doctor`: checks whether a gateway is as this library assumes. It sends only reads. */
import * as Command from "effect/cli/Command"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { Credentials } from "../client/Credentials.ts"
import type { ConfigurationError } from "../contract/ConfigurationError.ts"
import { client } from "./internal/client.ts"
import { makeAsk } from "./internal/doctor/ask.ts"
import { countsOf, type Findings, makeFindings, places, textOf } from "./internal/doctor/findings.ts"
import { checkList } from "./internal/doctor/list.ts"
import { checkAccess, checkBalance, checkLookup, checkRefusals } from "./internal/doctor/service.ts"
import { codes, failed } from "./internal/exit.ts"
import { json, text } from "./internal/flags.ts"
import { note, writeJson, writeLine } from "./internal/output.ts"

/** The settings, checked by the layers that a program uses. */
const settings = Effect.gen(function* () {
  yield* Effect.scoped(Layer.build(client))
  return {
    baseUrl: yield* Config.String("PAYMENTS_BASE_URL"),
    companyId: Option.getOrUndefined(yield* Config.option(Config.Int("PAYMENTS_COMPANY_ID"))),
    credentials: yield* Credentials.config
  }
})

const addSettings = (findings: Findings, error: ConfigurationError | Config.ConfigError) =>
  error._tag === "ConfigurationError"
    ? error.settings.forEach(({ problem, setting }) =>
        findings.add("wrong", `${setting} can be used`, places.settings, problem)
      )
    : findings.add("wrong", "The settings can be read", places.settings, "they cannot")

const examine = Effect.fnUntraced(function* (findings: Findings, transactionId: string | undefined) {
  const found = yield* Effect.option(
    Effect.tapError(settings, (error) => Effect.sync(() => addSettings(findings, error)))
  )
  if (Option.isNone(found)) return
  findings.add("holds", "The settings can be used", places.settings)
  const { baseUrl, companyId, credentials } = found.value
  const ask = makeAsk(baseUrl, credentials)
  if (!(yield* checkAccess(findings, ask))) return
  const seen = yield* checkList(findings, ask)
  yield* checkLookup(findings, ask, transactionId, companyId, seen)
  yield* checkBalance(findings, ask, companyId)
  const wrong = { ...credentials, apiKey: Redacted.make("a-wrong-key-of-effect-pix-doctor") }
  yield* checkRefusals(findings, ask, makeAsk(baseUrl, wrong))
})

export const doctor = Command.make(
  "doctor",
  {
    transaction: text(
      "transaction",
      "id",
      "Look this transaction up too: the rows of a list have no id that a lookup takes"
    ),
    json
  },
  Effect.fnUntraced(function* ({ json, transaction }) {
    const findings = makeFindings()
    yield* examine(findings, Option.getOrUndefined(transaction))
    const all = findings.all()
    if (json) yield* Effect.forEach(all, writeJson, { discard: true })
    else yield* writeLine(textOf(all))
    yield* note(countsOf(all))
    if (all.some(({ verdict }) => verdict === "wrong")) return yield* failed("", codes.Wrong)
  })
).pipe(
  Command.withDescription(
    "Check the settings, the service, the credentials, and every assumption that a read can check.\n\n" +
      "  It changes nothing. It sends one request with a wrong key, and one for an id that nobody has. Exit code 7 if an\n" +
      "  assumption is wrong."
  ),
  Command.withShortDescription("Check whether a gateway is as this library assumes"),
  Command.withExamples([{ command: "effect-pix doctor --transaction <id>", description: "all checks" }])
)
