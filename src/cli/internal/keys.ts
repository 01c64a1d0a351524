/** The keys that a person may press while the sandbox runs, and what each does. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Pull from "effect/Pull"
import * as Queue from "effect/Queue"
import type * as Terminal from "effect/Terminal"
import { spawn } from "node:child_process"
import process from "node:process"
import * as Money from "../../pix/Money.ts"
import { Sandbox } from "../../sandbox/Sandbox.ts"
import { note } from "./output.ts"

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
export const keys = (url: string) =>
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
