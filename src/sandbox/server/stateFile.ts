/**
 * A sandbox's state in a file: read at the start, and written about once a second while something changes, and at the
 * end. A file is written whole beside the old one and then put in its place, so that a process that is killed leaves
 * the last whole state.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs/promises"
import * as NodePath from "node:path"
import type { Gateway } from "../internal/gateway.ts"
import { SandboxStateError } from "../SandboxError.ts"
import { SandboxState } from "../SandboxState.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.toCodecJson(SandboxState)))

/** `node:fs` fails with nothing else. */
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

/** What is kept is plain JSON already: it needs no encoding, which would take seconds where there are many charges. */
const write = (file: string, { state, version }: SandboxState): Effect.Effect<void, SandboxStateError> => {
  const next = `${file}.next`
  const text = JSON.stringify({ version, state: Redacted.value(state) })
  const failed = (error: unknown) => new SandboxStateError({ file, problem: `cannot be written: ${codeOf(error)}` })
  return Effect.andThen(
    Effect.tryPromise({ try: () => Fs.writeFile(next, text, { mode: 0o600 }), catch: failed }),
    Effect.tryPromise({ try: () => Fs.rename(next, file), catch: failed })
  )
}

/** Takes up what the file holds, and keeps it from then on. */
export const keepIn = Effect.fnUntraced(function* (
  gateway: Gateway,
  path: string
): Effect.fn.Return<void, SandboxStateError, Scope.Scope> {
  const file = NodePath.resolve(path)
  const kept = yield* read(file)
  if (kept !== undefined) yield* gateway.restore(kept)
  let saved = -1
  const save = Effect.suspend(() => {
    const now = gateway.changes.sequence()
    if (now === saved) return Effect.void
    saved = now
    return write(file, gateway.snapshot())
  })
  // A file that cannot be written is found at the start, not after an hour.
  yield* save
  yield* Effect.addFinalizer(() => Effect.ignore(save, { log: "Error" }))
  // A large state takes a while to write: no more than a twentieth of the time goes into it.
  const keep = Effect.flatMap(Effect.timed(Effect.ignore(save, { log: "Error" })), ([taken]) =>
    Effect.sleep(Duration.max(Duration.seconds(1), Duration.times(taken, 20)))
  )
  yield* Effect.forkScoped(Effect.forever(keep))
})
