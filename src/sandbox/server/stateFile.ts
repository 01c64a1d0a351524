/**
 * Stores a sandbox's state in a file. The file is read at the start. It is written about once a second while the state
 * changes, and at the end.
 *
 * Details: the state is written to a second file, which then replaces the first, so that a killed process leaves a whole
 * state. A file belongs to one sandbox: a lock file holds the number of its process, and is removed when the sandbox ends. A
 * lock of a process that no longer runs shows that the process was killed.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs/promises"
import * as NodePath from "node:path"
import process from "node:process"
import type { Gateway } from "../internal/gateway.ts"
import { SandboxStateError } from "../SandboxError.ts"
import { SandboxState } from "../SandboxState.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(SandboxState)))

/** `node:fs` fails with this class only. */
const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException).code)

const read = (file: string): Effect.Effect<SandboxState | undefined, SandboxStateError> =>
  Effect.tryPromise({ try: () => Fs.readFile(file, "utf8"), catch: codeOf }).pipe(
    Effect.mapError((code) => ({ code })),
    Effect.flatMap((text) => Effect.mapError(decode(text), () => ({ code: undefined }))),
    Effect.catch(({ code }) => {
      if (code === "ENOENT") return Effect.undefined
      const problem =
        code === undefined
          ? "is not the state of a sandbox of this version. Move it away to start anew"
          : `cannot be read: ${code}`
      return Effect.fail(new SandboxStateError({ file, problem }))
    })
  )

/** Writes a state. It is plain JSON already, and to encode it by its schema would take seconds for many charges. */
const write = (file: string, { state, version }: SandboxState): Effect.Effect<void, SandboxStateError> => {
  const next = `${file}.next`
  const text = JSON.stringify({ version, state: Redacted.value(state) })
  const failed = (error: unknown) => new SandboxStateError({ file, problem: `cannot be written: ${codeOf(error)}` })
  return Effect.andThen(
    Effect.tryPromise({ try: () => Fs.writeFile(next, text, { mode: 0o600 }), catch: failed }),
    Effect.tryPromise({ try: () => Fs.rename(next, file), catch: failed })
  )
}

/** The files that sandboxes of this process use. */
const used = new Set<string>()

const isRunning = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  // Signal 0 is not sent. A process of another user is running too.
  const asked = Result.try({ try: () => process.kill(pid, 0), catch: codeOf })
  return Result.isSuccess(asked) || asked.failure === "EPERM"
}

/** Locks a file until the scope ends, and returns whether the process that had the lock before was killed. */
const lock = (file: string): Effect.Effect<boolean, SandboxStateError, Scope.Scope> => {
  const path = `${file}.lock`
  const create = Effect.tryPromise({ try: () => Fs.writeFile(path, `${process.pid}`, { flag: "wx" }), catch: codeOf })
  const takeOver = Effect.gen(function* () {
    const owner = Number(yield* Effect.tryPromise({ try: () => Fs.readFile(path, "utf8"), catch: codeOf }))
    // Each process of a container may have the same number: a lock with our number is that of an earlier process.
    if (used.has(file) || (owner !== process.pid && isRunning(owner))) {
      const problem = `is used by another sandbox, of process ${owner}. Stop it; if there is none, delete ${path}`
      return yield* new SandboxStateError({ file, problem })
    }
    yield* Effect.tryPromise({ try: () => Fs.rm(path), catch: codeOf })
    yield* create
    return true
  })
  const taken = Effect.as(create, false).pipe(
    Effect.catchIf(
      (code) => code === "EEXIST",
      () => takeOver
    ),
    Effect.mapError((error) =>
      error instanceof SandboxStateError
        ? error
        : new SandboxStateError({ file, problem: `cannot be written: ${error}` })
    ),
    Effect.tap(() => Effect.sync(() => used.add(file)))
  )
  return Effect.acquireRelease(taken, () =>
    Effect.promise(() => Fs.rm(path, { force: true })).pipe(Effect.ensuring(Effect.sync(() => used.delete(file))))
  )
}

/** Restores the state of the file, logs which options are not used, and saves the state from then on. */
export const saveIn = Effect.fnUntraced(function* (
  gateway: Gateway,
  path: string
): Effect.fn.Return<void, SandboxStateError, Scope.Scope> {
  const file = NodePath.resolve(path)
  const { balance, webhookUrls } = gateway.settings
  if (yield* lock(file)) {
    yield* Effect.logWarning(
      `The sandbox that used ${file} was killed. What changed in its last second or so may be lost: charges and payouts ` +
        "that your database knows may be missing here."
    )
  }
  const stored = yield* read(file)
  if (stored !== undefined) {
    yield* gateway.restore(stored)
    const { ledger } = Redacted.value(stored.state)
    if (balance !== 0 && balance !== ledger.balance) {
      yield* Effect.logWarning(
        `${file} has a balance of ${ledger.balance} centavos. The balance of ${balance} centavos in the options is not used.`
      )
    }
    for (const url of webhookUrls) gateway.webhooks.subscribe(url)
  }
  let saved = -1
  const save = Effect.suspend(() => {
    const now = gateway.changes.sequence()
    if (now === saved) return Effect.void
    saved = now
    return write(file, gateway.snapshot())
  })
  // The first write shows at the start whether the file can be written.
  yield* save
  yield* Effect.addFinalizer(() => Effect.ignore(save, { log: "Error" }))
  // A large state takes a while to write: writing takes at most a twentieth of the time.
  const saveAndWait = Effect.flatMap(Effect.timed(Effect.ignore(save, { log: "Error" })), ([taken]) =>
    Effect.sleep(Duration.max(Duration.seconds(1), Duration.times(taken, 20)))
  )
  yield* Effect.forkScoped(Effect.forever(saveAndWait))
})
