/** Runs `effect-pix sandbox` until it is stopped, which is its normal end. */
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import process from "node:process"
import { repeatedly } from "../../durable/Work.ts"
import * as Money from "../../pix/Money.ts"
import { isLoopback, parseLocalUrl } from "../../internal/loopback.ts"
import { Sandbox } from "../../panel/Sandbox.ts"
import { SandboxOptions } from "../../sandbox/SandboxOptions.ts"
import { levelWithWarnings } from "./client.ts"
import { codeOf } from "./errorCode.ts"
import { failed } from "./exit.ts"
import { note, writeJson, writeLine } from "./output.ts"
import { fieldLines, plain, shellWord } from "./text.ts"

/** What the flags say: options of the sandbox, and of the command. */
interface Input extends SandboxOptions {
  readonly port: number
  readonly host: string
  readonly webhookUrl: ReadonlyArray<string>
  readonly allowHost: ReadonlyArray<string>
  readonly log: boolean
  readonly json: boolean
}

const isLocal = (host: string) => isLoopback(host) || host === "::1"

const notTarget = failed(
  "--webhook takes a loopback address only, as http://127.0.0.1:3000/webhooks, or a name of --allow-host."
)

/** Prints each request when it ends. The sandbox publishes a request when it arrives, and again when it is answered or broken off. */
const logRequests = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const arrived = new Set<number>()
  yield* Stream.runForEach(sandbox.changes, (change) =>
    Effect.gen(function* () {
      if (change._tag !== "Request") return
      const { fault, id, method, path, status } = change.request
      if (!arrived.delete(id)) {
        arrived.add(id)
        return
      }
      const met = fault === undefined ? "" : ` (fault: ${plain(JSON.stringify(fault))})`
      yield* note(`${method} ${plain(path)} ${status ?? "no answer"}${met}`)
    })
  )
})

const problemOf = ({ cause }: HttpServerError.ServeError, { host, port }: Input): string => {
  const code = codeOf(cause) ?? "no code"
  return code === "EADDRINUSE"
    ? `Port ${port} is taken. Try another --port; --port 0 takes a free one.`
    : `The sandbox cannot listen on ${host}, port ${port} (${code}).`
}

/** The host to connect to: an address such as 0.0.0.0, for every interface, is replaced by the loopback. */
const reachable = (baseUrl: string) => baseUrl.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

const writeBanner = Effect.fnUntraced(function* ({ json, stateFile }: Input) {
  const sandbox = yield* Sandbox
  const { apiKey, clientId } = yield* sandbox.credentials
  const baseUrl = reachable(sandbox.baseUrl)
  const variables = {
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: Redacted.value(apiKey), // the sandbox's own, which opens nothing
    PAYMENTS_COMPANY_ID: `${sandbox.companyId}`
  }
  const { as, targets } = yield* sandbox.overview
  if (json) {
    yield* writeJson({
      baseUrl,
      panel: `${baseUrl}/`,
      companyId: sandbox.companyId,
      state: stateFile ?? null,
      webhooks: targets,
      env: variables
    })
    return
  }
  const balance = Money.format(Money.centavos(yield* sandbox.balance))
  const facts = fieldLines([
    ["# Panel", `${baseUrl}/`],
    ["# Balance", balance],
    ["# State", stateFile ? `stored in ${stateFile}` : "not kept: all is gone when it stops (--state FILE keeps it)"],
    ["# Answers", as === "seen" ? "as the gateway was seen to, beyond its document" : undefined],
    ...targets.map((target) => ["# Webhooks", target] as const)
  ])
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}\n`)
  yield* writeLine(
    `# A PIX gateway on this machine: nothing here is real money, and it is no server for production.\n${facts}\n\n${exports.join("")}`
  )
})

const serving = Effect.fnUntraced(function* (input: Input) {
  // From here on ctrl-C ends the command with 0.
  process.exitCode = 0
  yield* writeBanner(input)
  if (!isLocal(input.host)) {
    yield* note(
      `Warning: it listens on ${input.host}. Whoever reaches that address can read and steer this sandbox, and the ` +
        "client speaks http to a host that is not its own machine with PAYMENTS_INSECURE=true only."
    )
  }
  if (input.log) yield* Effect.forkScoped(repeatedly("Sandbox: printing its requests", "1 second", logRequests))
  return yield* Effect.never
})

export const run = Effect.fnUntraced(function* (input: Input) {
  if (input.webhookUrl.some((url) => parseLocalUrl(url, input.allowHost) === undefined)) return yield* notTarget
  return yield* Effect.scoped(serving(input)).pipe(
    Effect.provide(Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, input))),
    // Warnings are always shown: they name flags that a stored state overrides, and changes that may be lost.
    Effect.provideServiceEffect(References.MinimumLogLevel, levelWithWarnings),
    Effect.catchTags({
      ServeError: (error) => failed(problemOf(error, input)),
      SandboxStateError: ({ message }) => failed(message)
    })
  )
})
