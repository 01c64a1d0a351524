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
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { Credentials } from "../client/Credentials.ts"
import {
  type Endpoint,
  getBalance,
  getTransaction,
  getWithdrawal,
  headerNames,
  listTransactions
} from "../contract/Endpoints.ts"
import {
  type Answer,
  type Answers,
  assumptions,
  type Finding,
  inSettings,
  judge,
  judgeAccess,
  refusalsMet
} from "./internal/assumptions.ts"
import { client } from "./internal/client.ts"
import { codeOf, problemOf } from "./internal/errorCode.ts"
import { codes, failed } from "./internal/exit.ts"
import { json, text } from "./internal/flags.ts"
import { writeJson, writeLine } from "./internal/output.ts"

/** The settings, checked by the layers that a program uses. */
const settings = Effect.gen(function* () {
  yield* Effect.scoped(Layer.build(client))
  // The client has accepted them, so they can be read.
  const accepted = yield* Effect.orDie(
    Config.all({
      baseUrl: Config.String("PAYMENTS_BASE_URL"),
      credentials: Credentials.config,
      company: Config.option(Config.Int("PAYMENTS_COMPANY_ID")),
      zone: Config.option(Config.String("PAYMENTS_ZONE"))
    })
  )
  return {
    baseUrl: accepted.baseUrl,
    companyId: Option.getOrUndefined(accepted.company),
    zone: Option.getOrUndefined(Option.flatMap(accepted.zone, DateTime.zoneFromString)),
    credentials: accepted.credentials
  }
})

type Settings = Effect.Success<typeof settings>

/** A body as text, cut after four megabytes. */
const bodyOf = ({ stream }: HttpClientResponse.HttpClientResponse) => {
  const decoder = new TextDecoder()
  let left = 4 * 1024 * 1024
  const read = (text: string, chunk: Uint8Array) => {
    const part = chunk.subarray(0, left)
    left -= part.length
    return text + decoder.decode(part, { stream: true })
  }
  return Stream.runFold(
    Stream.takeWhile(stream, () => left > 0),
    () => "",
    read
  )
}

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
    Effect.flatMap((response) =>
      Effect.map(bodyOf(response), (text): Answer => {
        const { "content-type": type = "", date = "" } = response.headers
        return { status: response.status, type, date, text }
      })
    ),
    Effect.catch((error) => Effect.succeed(noAnswer(error))),
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => Effect.succeed(unanswered("no answer within 30 seconds"))
    }),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )

/** An id that no transaction has. */
const unusedId = "00000000-0000-4000-8000-000000000000"

/** What the flags name, to be asked for too. */
interface Asked {
  readonly transactionId: string | undefined
  readonly withdrawalId: number | undefined
  readonly webhookUrl: string | undefined
}

/** Asks for everything that the assumptions are about; for nothing more where the first answer is no access. */
const examine = Effect.fnUntraced(function* (
  { baseUrl, companyId, credentials, zone }: Settings,
  { transactionId, webhookUrl, withdrawalId }: Asked
) {
  const ask = (
    { path }: Endpoint,
    param: string | number,
    query: Readonly<Record<string, string>>,
    apiKey = Redacted.value(credentials.apiKey)
  ) => {
    const url = `${baseUrl.trim().replace(/(?<!\/)\/+$/, "")}${path.replace(/:\w+/, encodeURIComponent(param))}`
    const headers = {
      [headerNames.accept]: "application/json",
      [headerNames.clientId]: credentials.clientId,
      [headerNames.apiKey]: apiKey
    }
    return get(url, headers, query)
  }
  const list = (pageSize: string, apiKey?: string) =>
    ask(listTransactions, "", { page: "1", pageSize, sort: "createdAt_desc" }, apiKey)
  const newest = yield* list("100")
  const access = judgeAccess(newest)
  if (access.some(({ verdict }) => verdict === "wrong")) return access
  const answers: Answers = {
    newest,
    lookup: transactionId === undefined ? "give --transaction ID" : yield* ask(getTransaction, transactionId, {}),
    balance:
      companyId === undefined ? "set PAYMENTS_COMPANY_ID" : yield* ask(getBalance, companyId, { currency: "BRL" }),
    withdrawal: withdrawalId === undefined ? "give --withdrawal ID" : yield* ask(getWithdrawal, withdrawalId, {}),
    missing: yield* ask(getTransaction, unusedId, {}),
    denied: yield* list("1", "a-wrong-key-of-effect-pix-doctor"),
    webhook: webhookUrl === undefined ? "give --webhook URL" : yield* get(webhookUrl),
    transactionId,
    withdrawalId,
    companyId,
    zone
  }
  const secrets = [credentials.clientId, Redacted.value(credentials.apiKey), transactionId ?? unusedId]
  return [...access, ...assumptions.map((assumption) => assumption(answers)), ...refusalsMet(answers, secrets)]
})

const signs = { holds: "holds ", unchecked: "?     ", met: "met   ", wrong: "WRONG " } as const

/** What holds, what was not checked and why, the refusals that were met, and last what is wrong; then the counts. */
const textOf = (findings: ReadonlyArray<Finding>): string => {
  const of = (verdict: Finding["verdict"]) => findings.filter((finding) => finding.verdict === verdict)
  const [holds, unchecked, wrong] = [of("holds"), of("unchecked"), of("wrong")]
  const lines = [...holds, ...unchecked, ...of("met"), ...wrong].map(({ seen, verdict, what, where }) =>
    [
      `${signs[verdict]} ${what}${seen === undefined ? "" : `: ${seen}`}`,
      ...(verdict === "wrong" ? [`         in ${where}`] : [])
    ].join("\n")
  )
  return [...lines, `${holds.length} hold, ${wrong.length} wrong, ${unchecked.length} not checked`].join("\n")
}

export const doctor = Command.make(
  "doctor",
  {
    transaction: text(
      "transaction",
      "id",
      "Look this transaction up too: a list's rows have no id that a lookup takes"
    ),
    withdrawal: Flag.Int("withdrawal").pipe(
      Flag.withMetavar("id"),
      Flag.filter(
        (id) => id >= 0,
        () => "the number of a withdrawal"
      ),
      Flag.withDescription("Look this withdrawal up too: whether the gateway has that lookup is not documented"),
      Flag.optional
    ),
    webhook: text("webhook", "url", "Send a GET to the address of your webhook too, from this machine"),
    json
  },
  Effect.fnUntraced(function* ({ json, transaction, webhook, withdrawal }) {
    const asked = {
      transactionId: Option.getOrUndefined(transaction),
      withdrawalId: Option.getOrUndefined(withdrawal),
      webhookUrl: Option.getOrUndefined(webhook)
    }
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
