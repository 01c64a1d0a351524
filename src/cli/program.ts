/**
 * The program of the command. Each file of this folder is one subcommand, with its flags. A subcommand that changes
 * something follows the steps of `internal/perform.ts`. The code of the sandbox is loaded only when it runs.
 *
 * Details: data is written to stdout and everything else to stderr, see `internal/output.ts`. The exit codes are in
 * `internal/exit.ts`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import process from "node:process"
import { charge } from "./charge.ts"
import { doctor } from "./doctor.ts"
import { reads } from "./gateway.ts"
import { codes, codesInWords, Failed, failedOf } from "./internal/exit.ts"
import { listenForErrors, note, writeLine } from "./internal/output.ts"
import { payouts } from "./payouts.ts"
import { sandbox } from "./sandbox.ts"
import { version } from "../internal/version.ts"
import { webhooks } from "./webhooks.ts"

/** Logs why a command failed, at the level that its `--log-level` sets. */
const logFailure = Layer.effectDiscard(
  Effect.addFinalizer((exit) => (Exit.isFailure(exit) ? Effect.logDebug(exit.cause) : Effect.void))
)

const root = Command.make("effect-pix").pipe(
  Command.withDescription(
    "PIX charges, lookups, balance and payouts, and a sandbox of the gateway.\n\n" +
      "  The gateway is named by PAYMENTS_BASE_URL, PAYMENTS_CLIENT_ID, PAYMENTS_API_KEY and, where a balance is read,\n" +
      "  PAYMENTS_COMPANY_ID. `sandbox` needs none of them, `payouts` and `webhooks` need DATABASE_URL. No\n" +
      "  secret is a flag.\n\n" +
      `EXIT CODES\n  ${codesInWords}`
  ),
  Command.withSubcommands([sandbox, charge, ...reads, payouts, webhooks, doctor]),
  Command.provide(logFailure)
)

/** For a wrong invocation: prints one sentence for each mistake on stderr, in place of the whole help on stdout. */
const presenter = CliOutput.layerPresenter({
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? note(
          [
            ...event.errors.map(({ message }) => message),
            `See \`${event.commandPath.join(" ")} --help\` for what it takes.`
          ].join("\n")
        )
      : CliOutput.defaultPresenter.present(event)
})

const base = Layer.mergeAll(
  NodeServices.layer,
  presenter,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions, GlobalFlag.LogLevel] }),
  Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
  // The command reports its failures itself.
  Layer.succeed(References.MinimumLogLevel, "Error")
)

/** Help, version and completions are printed on the console. They are data, so this console writes them to stdout. */
const writePrinted = Effect.fnUntraced(function* <E, R>(effect: Effect.Effect<void, E, R>) {
  const printed: Array<unknown> = []
  const console = yield* Console.Console
  const exit = yield* Effect.exit(
    Effect.provideService(effect, Console.Console, { ...console, log: (text) => printed.push(text) })
  )
  yield* Effect.forEach(printed, (text) => writeLine(String(text)), { discard: true })
  return yield* exit
})

/** Runs a command line, and writes to `Output`. */
export const runWords = (words: ReadonlyArray<string>) =>
  Command.runWith(root, { version })(words).pipe(
    writePrinted,
    Effect.catchCause((cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
      const failed = failedOf(cause)
      if (failed === undefined) return Effect.void
      return Effect.gen(function* () {
        if (failed.message !== "") yield* note(failed.message)
        return yield* failed
      })
    }),
    Effect.provide(base)
  )

/** The exit code of a command. An interrupted one may have set its own for the process. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  const error = Cause.squash(exit.cause)
  return error instanceof Failed ? error.code : Number(process.exitCode ?? codes.Interrupted)
}

/** Runs the command line of this process. */
export const run = (): void => {
  listenForErrors()
  // SIGHUP means that the terminal was closed. `runMain` handles ctrl-C and SIGTERM.
  process.on("SIGHUP", () => process.emit("SIGTERM"))
  NodeRuntime.runMain(runWords(process.argv.slice(2)), {
    disableErrorReporting: true,
    teardown: (exit, onExit) => onExit(exitCodeOf(exit))
  })
}
