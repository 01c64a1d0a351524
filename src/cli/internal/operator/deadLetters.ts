/** Runs `effect-pix webhooks list` and `show`, and finds the dead letters of the steps. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Webhook, WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { failingAs, layerDatabase, notReadable } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { type Columns, type Format, printList } from "../list.ts"
import { hasReader, note, writeResult } from "../output.ts"
import { ageOf, fieldLines, plain, time } from "../text.ts"

/** The webhooks of the database, or the one of this name, if its table is of this version. */
export const layerNamed = (name?: string) => failingAs(Webhook.layerClient({ name }), notReadable)

export const layerClient = (access: "read" | "write") => Layer.provideMerge(layerNamed(), layerDatabase(access))

/** What is stored about an id, or the failure of an unknown id. */
const find = Effect.fnUntraced(function* (id: string) {
  const webhooks = yield* WebhookClient
  const found = yield* Effect.mapError(webhooks.find(id), notReadable)
  if (found.length > 0) return found
  return yield* failed("No webhook on this database stores anything of this id.", codes.Rejected)
})

export const noLetter = (): Failed => failed("No dead letter has this id. Nothing was changed.", codes.Rejected)

/** The dead letter of an id, of the named webhook where several have one. */
export const findLetter = Effect.fnUntraced(function* (id: string, webhook: Option.Option<string>) {
  const letters = (yield* find(id)).filter(
    (stored) => stored.state === "Dead" && Option.getOrElse(webhook, () => stored.webhook) === stored.webhook
  )
  const [letter, another] = letters
  if (letter === undefined) return yield* noLetter()
  if (another === undefined) return letter
  const names = letters.map((each) => each.webhook).join(", ")
  return yield* failed(`Several webhooks have a dead letter of this id: choose one by --webhook, of ${names}.`)
})

const wordsOfWait = {
  first: "more ids arrive than may be looked up",
  early: "the lookup does not show yet what the delivery claims",
  outage: "the service gave no answer to the lookup",
  failed: "your code failed"
} as const

/** What is stored, in lines. */
export const textOf = (stored: StoredDelivery, now: number): string => {
  const at = `${time(stored.at)} (${ageOf(stored.at, now)} ago)`
  const isWaiting = stored.state === "Waiting"
  return fieldLines({
    Webhook: stored.webhook,
    Id: stored.id,
    Transaction: stored.transactionId,
    Withdrawal: stored.withdrawalId,
    Key: stored.idempotencyKey,
    State: stored.state,
    "Failed at": stored.handler,
    Failures: stored.failures || undefined,
    "Waits because": stored.waits && wordsOfWait[stored.waits],
    "Due at": isWaiting ? time(stored.at) : undefined,
    "Ended at": isWaiting ? undefined : at,
    Since: stored.since && `${time(stored.since)} (${ageOf(stored.since, now)} ago)`,
    Deliveries: stored.deliveries,
    Claimed: stored.claimed?.map((claim) => claim ?? "(no status)").join(", ") || undefined,
    "Handed out": stored.handedOut.map(plain).join(", ") || "nothing"
  })
}

const columnsAt = (now: number): Columns<StoredDelivery> => ({
  noun: "dead letters",
  table: {
    "FAILED AT": [14, ({ handler = "?" }) => handler],
    ATTEMPTS: [-8, ({ failures = "?" }) => `${failures}`],
    "DEAD FOR": [-11, ({ at }) => ageOf(at, now)],
    WEBHOOK: [12, ({ webhook }) => webhook],
    ID: [0, ({ id, transactionId = id }) => transactionId]
  },
  csv: {
    id: ({ id, transactionId = id }) => transactionId,
    webhook: ({ webhook }) => webhook,
    failed_at: ({ handler = "" }) => handler,
    attempts: ({ failures }) => failures,
    dead_since: ({ at }) => at
  },
  json: (letter) => letter
})

export const list = Effect.fnUntraced(
  function* (format: Format) {
    const webhooks = yield* WebhookClient
    const letters = Stream.unwrap(
      Effect.map(Effect.mapError(webhooks.deadLetters, notReadable), (found) => Stream.fromIterable(found))
    )
    const count = yield* printList(letters, columnsAt(yield* Clock.currentTimeMillis), format)
    if (hasReader()) yield* note(`${count} dead letter(s)`)
  },
  Effect.provide(layerClient("read"))
)

export const show = Effect.fnUntraced(
  function* ({ id, json }: { readonly id: string; readonly json: boolean }) {
    const found = yield* find(id)
    const now = yield* Clock.currentTimeMillis
    for (const [index, stored] of found.entries()) {
      yield* writeResult(json, stored, `${index === 0 ? "" : "\n"}${textOf(stored, now)}`)
    }
  },
  Effect.provide(layerClient("read"))
)
