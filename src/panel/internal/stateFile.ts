/**
 * Stores a sandbox's state in a file. The file is read at the start. It is written about once a second while the state
 * changes, and at the end.
 *
 * Details: the state is written to a second file, which then replaces the first, so that a killed process leaves a whole
 * state. A file belongs to one sandbox: a lock file holds the number of its process, and is removed when the sandbox ends. The
 * lock of a process that no longer runs is taken over.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs/promises"
import * as NodePath from "node:path"
import process from "node:process"
import type { Gateway } from "../../sandbox/Gateway.ts"
import { SandboxState } from "../../sandbox/SandboxState.ts"
import { SandboxStateError } from "../../sandbox/SandboxError.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(SandboxState))

/** `node:fs` fails with this class only. */
const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException).code)

/** A step on a file, whose failure is a code such as `ENOENT`. */
const step = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: codeOf })

const problem = (file: string, problem: string) => new SandboxStateError({ file, problem })
const unwritten = (file: string) => (code: string) => problem(file, `cannot be written: ${code}`)

const read = (file: string): Effect.Effect<SandboxState | undefined, SandboxStateError> =>
  step(() => Fs.readFile(file, "utf8")).pipe(
    Effect.matchEffect({
      onFailure: (code) =>
        code === "ENOENT" ? Effect.undefined : Effect.fail(problem(file, `cannot be read: ${code}`)),
      onSuccess: (text) =>
        Effect.mapError(decode(text), () =>
          problem(file, "is not the state of a sandbox of this version. Move it away to start anew")
        )
    })
  )

/** Writes a state, which is plain JSON. */
const write = (file: string, state: SandboxState): Effect.Effect<void, SandboxStateError> =>
  step(() => Fs.writeFile(`${file}.next`, JSON.stringify(state), { mode: 0o600 })).pipe(
    Effect.andThen(step(() => Fs.rename(`${file}.next`, file))),
    Effect.mapError(unwritten(file))
  )

/** The files that sandboxes of this process use. */
const used = new Set<string>()

const isRunning = (pid: number): boolean => {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  // Signal 0 is not sent. A process of another user is running too.
  const asked = Result.try({ try: () => process.kill(pid, 0), catch: codeOf })
  return Result.isSuccess(asked) || asked.failure === "EPERM"
}

/** Locks a file until the scope ends. */
const lock = (file: string): Effect.Effect<void, SandboxStateError, Scope.Scope> => {
  const path = `${file}.lock`
  const create = step(() => Fs.writeFile(path, `${process.pid}`, { flag: "wx" }))
  const takeOver = Effect.gen(function* () {
    const owner = Number(yield* step(() => Fs.readFile(path, "utf8")))
    // Each process of a container may have the same number: a lock with our number is that of an earlier process.
    if (used.has(file) || (owner !== process.pid && isRunning(owner))) {
      return yield* problem(
        file,
        `is used by another sandbox, of process ${owner}. Stop it; if there is none, delete ${path}`
      )
    }
    yield* step(() => Fs.rm(path))
    yield* create
  })
  const taken = create.pipe(
    Effect.catchIf(
      (code) => code === "EEXIST",
      () => takeOver
    ),
    Effect.mapError((error) => (error instanceof SandboxStateError ? error : unwritten(file)(error))),
    Effect.andThen(Effect.sync(() => used.add(file)))
  )
  return Effect.acquireRelease(taken, () =>
    Effect.promise(() => Fs.rm(path, { force: true })).pipe(Effect.ensuring(Effect.sync(() => used.delete(file))))
  )
}

/** Restores the state of the file, and saves the state from then on. Webhooks go to the addresses of both. */
export const saveIn = Effect.fnUntraced(function* (
  gateway: Gateway,
  path: string
): Effect.fn.Return<void, SandboxStateError, Scope.Scope> {
  const file = NodePath.resolve(path)
  yield* lock(file)
  const stored = yield* read(file)
  if (stored !== undefined) {
    yield* gateway.restore(stored)
    for (const url of gateway.settings.webhookUrls) gateway.webhooks.subscribe(url)
  }
  let saved = -1
  const save = Effect.suspend(() => {
    const now = gateway.changes.sequence()
    if (now === saved) return Effect.void
    // What was not written is written at the next time, and at the end.
    return Effect.tap(write(file, gateway.snapshot()), () => Effect.sync(() => (saved = now)))
  })
  // The first write shows at the start whether the file can be written.
  yield* save
  yield* Effect.addFinalizer(() => Effect.ignore(save, { log: "Error" }))
  // A large state takes a while to write: writing takes at most a twentieth of the time.
  const saveAndWait = Effect.flatMap(Effect.timed(Effect.ignoreCause(save, { log: "Error" })), ([taken]) =>
    Effect.sleep(Duration.max(Duration.seconds(1), Duration.times(taken, 20)))
  )
  yield* Effect.forkScoped(Effect.forever(saveAndWait))
})
