/**
 * What a webhook handler must not forget: the calls that it accepted and has not finished, what it handed out already,
 * and the withdrawals that were noted. In memory, or in a `KeyValueStore` (files, SQL), or in Redis.
 *
 * Gotchas:
 * - An unfinished call is kept with its body, which may hold what the payer is called: keep the store as safe as the
 *   rest of your data. It is removed when the call is finished. Everything else is under keys that are hashes; the note
 *   of a withdrawal has its amount, its idempotency key and your metadata.
 * - Several processes may share a store. Each resumes at its start what any of them left unfinished, so an event may
 *   then be handed out twice: at least once is the promise, and `Confirmed.id` is there to dedupe by.
 * - A `KeyValueStore` lists all its keys when a handler starts, and has no expiry: one short entry stays for each
 *   transaction. Give it a table of its own. Redis has an expiry, {@link WebhookStore.layerRedis}.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"

/** The store failed. */
export class WebhookStoreError extends Schema.TaggedError<WebhookStoreError>()("WebhookStoreError", {
  method: Schema.Literals(["record", "finish", "unfinished", "get", "set"]),
  /** The name of the driver's error. Its message may quote what was stored, so it is not kept. */
  reason: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const reason = this.reason === undefined ? "" : `: ${this.reason}`
    return `The store of the webhook handler failed (${this.method}${reason}).`
  }
}

/** A call that was accepted and is not finished. */
export interface UnfinishedCall {
  readonly id: string
  readonly body: string
}

/** The store. Any implementation that keeps these five promises will do. */
export class WebhookStore extends Context.Service<
  WebhookStore,
  {
    /** Keeps a call, durably before it returns. The same id again: the same call. */
    readonly record: (call: UnfinishedCall) => Effect.Effect<void, WebhookStoreError>
    /** Forgets a call. */
    readonly finish: (id: string) => Effect.Effect<void, WebhookStoreError>
    /** All calls that were recorded and not finished. */
    readonly unfinished: Effect.Effect<ReadonlyArray<UnfinishedCall>, WebhookStoreError>
    readonly get: (key: string) => Effect.Effect<string | undefined, WebhookStoreError>
    readonly set: (key: string, value: string) => Effect.Effect<void, WebhookStoreError>
  }
>()("effect-pix/webhook/WebhookStore") {
  /** In the `KeyValueStore` that it is given: `KeyValueStore.layerSql`, `layerFileSystem`, or your own. */
  static readonly layerKeyValueStore: Layer.Layer<WebhookStore, never, KeyValueStore.KeyValueStore> = Layer.suspend(
    () => Layer.effect(WebhookStore, Effect.map(KeyValueStore.KeyValueStore, fromKeyValueStore))
  )

  /**
   * In memory: what is unfinished is lost with the process. Of what was handed out and noted it keeps the latest
   * 100 000, so a process that runs for long does not grow without end.
   */
  static readonly layerMemory: Layer.Layer<WebhookStore> = Layer.sync(WebhookStore, () => inMemory())

  /** In the Redis that it is given. */
  static readonly layerRedis = (
    options: {
      /** What its keys begin with. Default `effect-pix:webhook:`. */
      readonly prefix?: string | undefined
      /** How long it is remembered what was handed out and noted. Default 180 days. */
      readonly retention?: Duration.Input | undefined
    } = {}
  ): Layer.Layer<WebhookStore, never, Redis.Redis> =>
    Layer.effect(
      WebhookStore,
      Effect.map(Redis.Redis, (redis) =>
        fromRedis(redis, options.prefix ?? "effect-pix:webhook:", options.retention ?? Duration.days(180))
      )
    )
}

const maxNotes = 100_000

const inMemory = (): WebhookStore["Service"] => {
  const calls = new Map<string, UnfinishedCall>()
  /** In the order of their use. */
  const notes = new Map<string, string>()
  const note = (key: string, value: string) => {
    notes.delete(key)
    notes.set(key, value)
    for (const oldest of notes.keys()) {
      if (notes.size <= maxNotes) return
      notes.delete(oldest)
    }
  }
  return {
    record: (call) => Effect.sync(() => void calls.set(call.id, call)),
    finish: (id) => Effect.sync(() => void calls.delete(id)),
    unfinished: Effect.sync(() => [...calls.values()]),
    get: (key) =>
      Effect.sync(() => {
        const value = notes.get(key)
        if (value !== undefined) note(key, value)
        return value
      }),
    set: (key, value) => Effect.sync(() => note(key, value))
  }
}

const orStoreError = (method: WebhookStoreError["method"]) =>
  Effect.mapError((cause: { readonly _tag: string }) => new WebhookStoreError({ method, reason: cause._tag }))

const fromKeyValueStore = (all: KeyValueStore.KeyValueStore): WebhookStore["Service"] => {
  const inbox = KeyValueStore.prefix(all, "effect-pix/webhook/call/")
  const notes = KeyValueStore.prefix(all, "effect-pix/webhook/note/")
  return {
    // A file is emptied before it is written, so what is safe already is not put at risk again.
    record: ({ body, id }) =>
      orStoreError("record")(
        Effect.flatMap(inbox.get(id), (stored) => (stored === body ? Effect.void : inbox.set(id, body)))
      ),
    finish: (id) => orStoreError("finish")(inbox.remove(id)),
    unfinished: Effect.gen(function* () {
      const calls: Array<UnfinishedCall> = []
      for (const id of yield* inbox.keys) {
        const body = yield* inbox.get(id)
        // An empty one is a file whose writer ended before it wrote, and nobody was told that it is kept. It is not
        // removed: its writer may be another process that is writing now.
        if (body !== undefined && body !== "") calls.push({ id, body })
      }
      return calls
    }).pipe(orStoreError("unfinished")),
    get: (key) => orStoreError("get")(notes.get(key)),
    set: (key, value) => orStoreError("set")(notes.set(key, value))
  }
}

const Call = Schema.fromJsonString(Schema.Struct({ id: Schema.String, body: Schema.String }))
const Calls = Schema.decodeUnknownEffect(Schema.Array(Call))
const Value = Schema.decodeUnknownEffect(Schema.NullOr(Schema.String))

const fromRedis = (
  redis: Redis.Redis["Service"],
  prefix: string,
  retention: Duration.Input
): WebhookStore["Service"] => {
  const inbox = `${prefix}calls`
  const seconds = String(Math.max(1, Math.ceil(Duration.toSeconds(Duration.fromInputUnsafe(retention)))))
  const encode = Schema.encodeSync(Call)
  return {
    record: (call) => Effect.asVoid(orStoreError("record")(redis.send("HSET", inbox, call.id, encode(call)))),
    finish: (id) => Effect.asVoid(orStoreError("finish")(redis.send("HDEL", inbox, id))),
    unfinished: orStoreError("unfinished")(Effect.flatMap(redis.send("HVALS", inbox), (values) => Calls(values))),
    get: (key) =>
      redis.send("GET", `${prefix}note:${key}`).pipe(
        Effect.flatMap((value) => Value(value)),
        Effect.map((value) => value ?? undefined),
        orStoreError("get")
      ),
    set: (key, value) =>
      Effect.asVoid(orStoreError("set")(redis.send("SET", `${prefix}note:${key}`, value, "EX", seconds)))
  }
}
