/** `effect-pix doctor`: checks whether a gateway is as this library assumes. It sends only reads. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { Credentials } from "../client/Credentials.ts"
import { PaymentsClient } from "../client/PaymentsClient.ts"
import {
  type Endpoint,
  getBalance,
  getTransaction,
  getWithdrawal,
  headerNames,
  listTransactions
} from "../contract/Endpoints.ts"
import type { Answer, Answers, Asked, Finding } from "./internal/assumptions.ts"
import { assumptions, inSettings, judge, judgeAccess } from "./internal/assumptions.ts"
import { client } from "./internal/client.ts"
import { codeOf, problemOf } from "./internal/errorCode.ts"
import { codes, failed } from "./internal/exit.ts"
import { json, optional, text } from "./internal/flags.ts"
import { writeJson, writeLine } from "./internal/output.ts"

/** The settings, as the client has accepted them. */
const settings = Effect.gen(function* () {
  const { baseUrl, companyId } = yield* Effect.flatMap(PaymentsClient, ({ sender }) => sender)
  const { credentials, zone } = yield* Effect.orDie(
    Config.all({ credentials: Credentials.config, zone: Config.option(Config.String("PAYMENTS_ZONE")) })
  )
  return { baseUrl, companyId, credentials, zone: Option.getOrUndefined(Option.flatMap(zone, DateTime.zoneFromString)) }
}).pipe(Effect.provide(client))

type Settings = Effect.Success<typeof settings>

const unanswered = (problem: string): Answer => ({ problem, status: 0, type: "", date: "", text: "" })

/** The error of a transport may show a header, so only its code is taken. */
const noAnswer = ({ reason: { cause } }: HttpClientError.HttpClientError): Answer => {
  const code = codeOf(cause)
  if (code === undefined) return unanswered("the transport failed without a code")
  return unanswered(`${problemOf(code) ?? "the transport failed"} (${code})`)
}

/** A GET that the client has no operation for: sent once, it follows no redirect, and waits for its whole answer for 30 seconds. */
const get = (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string>> = {}
) =>
  HttpClientRequest.get(url).pipe(
    HttpClientRequest.setUrlParams(query),
    HttpClientRequest.setHeaders(headers),
    HttpClient.execute,
    Effect.flatMap(({ headers: { "content-type": type = "", date = "" }, status, text }) =>
      Effect.map(text, (text): Answer => ({ status, type, date, text }))
    ),
    Effect.catch((error) => Effect.succeed(noAnswer(error))),
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => Effect.succeed(unanswered("no answer within 30 seconds"))
    }),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )

/** Asks for everything that the assumptions are about; for nothing more where the first answer is no access. */
const examine = Effect.fnUntraced(function* ({ baseUrl, companyId, credentials, zone }: Settings, asked: Asked) {
  const { transactionId, webhookUrl, withdrawalId } = asked
  const ask = (
    { path }: Endpoint,
    param: string | number,
    query?: Readonly<Record<string, string>>,
    apiKey = Redacted.value(credentials.apiKey)
  ) => {
    const headers = {
      [headerNames.accept]: "application/json",
      [headerNames.clientId]: credentials.clientId,
      [headerNames.apiKey]: apiKey
    }
    return get(`${baseUrl}${path.replace(/:\w+/, encodeURIComponent(param))}`, headers, query)
  }
  const list = (pageSize: string, apiKey?: string) =>
    ask(listTransactions, "", { page: "1", pageSize, sort: "createdAt_desc" }, apiKey)
  const newest = yield* list("100")
  const access = judgeAccess(newest)
  if (access.some(({ verdict }) => verdict === "wrong")) return access
  const answers: Answers = {
    ...asked,
    companyId,
    zone,
    newest,
    lookup: transactionId === undefined ? "give --transaction ID" : yield* ask(getTransaction, transactionId),
    balance:
      companyId === undefined ? "set PAYMENTS_COMPANY_ID" : yield* ask(getBalance, companyId, { currency: "BRL" }),
    withdrawal: withdrawalId === undefined ? "give --withdrawal ID" : yield* ask(getWithdrawal, withdrawalId),
    missing: yield* ask(getTransaction, "00000000-0000-4000-8000-000000000000"),
    denied: yield* list("1", "a-wrong-key-of-effect-pix-doctor"),
    webhook: webhookUrl === undefined ? "give --webhook URL" : yield* get(webhookUrl)
  }
  return [...access, ...assumptions.map((assumption) => assumption(answers))]
})

const signs = { holds: "holds ", unchecked: "?     ", wrong: "WRONG " } as const

/** What holds, what was not checked and why, and last what is wrong; then the counts. */
const textOf = (findings: ReadonlyArray<Finding>): string => {
  const of = (verdict: Finding["verdict"]) => findings.filter((finding) => finding.verdict === verdict)
  const [holds, unchecked, wrong] = [of("holds"), of("unchecked"), of("wrong")]
  const lines = [...holds, ...unchecked, ...wrong].map(
    ({ seen, verdict, what, where }) =>
      `${signs[verdict]} ${what}${seen === undefined ? "" : `: ${seen}`}${verdict === "wrong" ? `\n         in ${where}` : ""}`
  )
  return [...lines, `${holds.length} hold, ${wrong.length} wrong, ${unchecked.length} not checked`].join("\n")
}

export const doctor = Command.make(
  "doctor",
  {
    transactionId: text(
      "transaction",
      "id",
      "Look this transaction up too: a list's rows have no id that a lookup takes"
    ),
    withdrawalId: Flag.Int("withdrawal").pipe(
      Flag.withMetavar("id"),
      Flag.withDescription("Look this withdrawal up too: whether the gateway has that lookup is not documented"),
      optional
    ),
    webhookUrl: text("webhook", "url", "Send a GET to the address of your webhook too, from this machine"),
    json
  },
  Effect.fnUntraced(function* ({ json, ...asked }) {
    const findings = yield* settings.pipe(
      Effect.flatMap((found) => examine(found, asked)),
      Effect.catchTag("ConfigurationError", ({ settings }) =>
        Effect.succeed(settings.map(({ problem, setting }) => judge(`${setting} can be used`, inSettings, problem)))
      )
    )
    if (json) yield* Effect.forEach(findings, writeJson, { discard: true })
    else yield* writeLine(textOf(findings))
    if (findings.some(({ verdict }) => verdict === "wrong")) return yield* failed("", codes.Wrong)
  })
).pipe(
  Command.withDescription(
    "Check the settings, the service, the credentials, and what this library assumes, as far as a read shows it.\n\n" +
      "  It changes nothing. It sends one request with a wrong key, and one for an id that nobody has. Exit code 7 if an\n" +
      "  assumption is wrong."
  ),
  Command.withShortDescription("Check whether a gateway is as this library assumes"),
  Command.withExamples([{ command: "effect-pix doctor --transaction <id>", description: "all checks of a gateway" }])
)
