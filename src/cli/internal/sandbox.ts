/** Runs `effect-pix sandbox` until it is stopped, which is its normal end. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Stream from "effect/Stream"
import type * as Terminal from "effect/Terminal"
import { spawn, spawnSync } from "node:child_process"
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
import { plain, shellWord } from "./text.ts"

interface Input {
  readonly port: number
  readonly host: string
  readonly state: Option.Option<string>
  readonly webhook: ReadonlyArray<string>
  readonly allowHost: ReadonlyArray<string>
  readonly webhookSecret: Option.Option<string>
  readonly as: Option.Option<"documented" | "seen">
  readonly lenient: boolean
  readonly log: boolean
  readonly balance: Money.Centavos
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
  const code = codeOf(cause)
  if (code === "EADDRINUSE") return `Port ${port} is taken. Try another --port; --port 0 takes a free one.`
  if (code === "EACCES") return `Port ${port} needs more rights. Try one above 1023.`
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") return `This machine has no address ${host} to listen on.`
  return `The sandbox cannot listen on ${host}, port ${port}${code === undefined ? "" : ` (${code})`}.`
}

/** The host to connect to: an address such as 0.0.0.0, for every interface, is replaced by the loopback. */
const reachable = (baseUrl: string) => baseUrl.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

const banner = Effect.fnUntraced(function* (input: Input) {
  const sandbox = yield* Sandbox
  const { apiKey, clientId } = yield* sandbox.credentials
  const baseUrl = reachable(sandbox.baseUrl)
  const variables = {
    PAYMENTS_BASE_URL: baseUrl,
    PAYMENTS_CLIENT_ID: clientId,
    PAYMENTS_API_KEY: Redacted.value(apiKey), // the sandbox's own, which opens nothing
    PAYMENTS_COMPANY_ID: `${sandbox.companyId}`
  }
  const stateFile = Option.getOrUndefined(input.state)
  const { as, targets } = yield* sandbox.overview
  if (input.json) {
    yield* writeJson({
      baseUrl,
      panel: `${baseUrl}/`,
      companyId: sandbox.companyId,
      state: stateFile ?? null,
      webhooks: targets,
      env: variables
    })
    return baseUrl
  }
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`)
  yield* writeLine(
    [
      "# A PIX gateway on this machine: nothing here is real money, and it is no server for production.",
      `# Panel      ${baseUrl}/`,
      `# Balance    ${Money.format(Money.centavos(yield* sandbox.balance))}`,
      stateFile === undefined
        ? "# State      not kept: all is gone when it stops (--state FILE keeps it)"
        : `# State      stored in ${stateFile}`,
      ...(as === "seen" ? ["# Answers    as the gateway was seen to, beyond its document"] : []),
      ...targets.map((target) => `# Webhooks   ${target}`),
      "",
      ...exports,
      ""
    ].join("\n")
  )
  return baseUrl
})

/**
 * Whether this process is in the foreground of its terminal. The system stops a background process (`&`) that reads keys.
 * Without `ps` a process counts as in the foreground.
 */
const hasKeys = (): boolean => {
  if (!process.stdin.isTTY) return false
  const { status, stdout } = spawnSync("ps", ["-o", "pgid=,tpgid=", "-p", `${process.pid}`], { encoding: "utf8" })
  const [own, foreground] = status === 0 ? stdout.trim().split(/\s+/) : []
  return own === foreground
}

const isEnd = ({ key }: Terminal.UserInput) => (key.ctrl && (key.name === "c" || key.name === "d")) || key.name === "q"

const opener = { darwin: "open", win32: "explorer" } as Readonly<Record<string, string>>

/** What a browser needs of the environment, which may hold secrets too. */
const forBrowser =
  /^(?:PATH|HOME|USER|LANG|BROWSER|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|SYSTEMROOT|USERPROFILE|(?:LOCAL)?APPDATA)$/i

const open = (url: string) =>
  Effect.callback<void>((resume) => {
    const child = spawn(opener[process.platform] ?? "xdg-open", [url], {
      detached: true,
      stdio: "ignore",
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => forBrowser.test(name)))
    })
    child.once("error", () => resume(note(`No browser could be opened. The panel is at ${url}`)))
    child.once("spawn", () => resume(note("Opened the panel.")))
    child.unref()
  })

const payNewest = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const newest = (yield* sandbox.transactions).findLast(({ status }) => status === "Awaiting")
  if (newest === undefined) return yield* note("No charge awaits its payment.")
  yield* sandbox.markPaid(newest.transactionId)
  yield* note(`Paid ${Money.format(newest.amount)}: ${newest.transactionId}`)
  // The charge may expire between the list and the payment.
}).pipe(Effect.catch(({ message }) => note(message)))

const act = (name: string, url: string) => {
  if (name === "o") return open(`${url}/`)
  return name === "p" ? payNewest : Effect.void
}

/** Reads keys until a key ends the sandbox. */
const keys = (url: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const terminal = yield* NodeTerminal.make(isEnd)
      const pressed = yield* terminal.readInput
      yield* note("Keys: o opens the panel, p pays the newest charge, q quits.")
      return yield* Effect.forever(Effect.flatMap(Queue.take(pressed), ({ key }) => act(key.name, url)))
    }).pipe(Pull.catchDone(() => note("Stopped.")))
  ).pipe(
    // The mode of a closed terminal cannot be reset, and need not be.
    Effect.catchDefect((defect) =>
      Predicate.hasProperty(defect, "syscall") && defect.syscall === "setRawMode" ? Effect.void : Effect.die(defect)
    )
  )

const serving = Effect.fnUntraced(function* (input: Input) {
  // From here on ctrl-C ends the command with 0.
  process.exitCode = 0
  const baseUrl = yield* banner(input)
  if (!isLocal(input.host)) {
    yield* note(
      `Warning: it listens on ${input.host}. Whoever reaches that address can read and steer this sandbox, and the ` +
        "client speaks http to a host that is not its own machine with PAYMENTS_INSECURE=true only."
    )
  }
  if (input.log) yield* Effect.forkScoped(repeatedly("Sandbox: printing its requests", "1 second", logRequests))
  if (input.json || !hasKeys()) return yield* Effect.never
  yield* keys(baseUrl)
})

export const run = Effect.fnUntraced(function* (input: Input) {
  if (input.webhook.some((url) => parseLocalUrl(url, input.allowHost) === undefined)) return yield* notTarget
  const options = Layer.succeed(SandboxOptions, {
    port: input.port,
    host: input.host,
    balance: input.balance,
    stateFile: Option.getOrUndefined(input.state),
    webhookUrl: input.webhook,
    allowHost: input.allowHost,
    webhookSecret: Option.getOrUndefined(Option.map(input.webhookSecret, (secret) => Redacted.make(secret))),
    as: Option.getOrUndefined(input.as),
    strict: !input.lenient
  })
  yield* Effect.scoped(serving(input)).pipe(
    Effect.provide(Layer.provide(Sandbox.layerServer, options)),
    // Warnings are always shown: they name flags that a stored state overrides, and changes that may be lost.
    Effect.provideServiceEffect(References.MinimumLogLevel, levelWithWarnings),
    Effect.catchTags({
      ServeError: (error) => Effect.fail(failed(problemOf(error, input))),
      SandboxStateError: ({ message }) => Effect.fail(failed(message))
    })
  )
})
