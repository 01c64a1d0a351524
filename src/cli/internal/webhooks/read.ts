/** Runs `effect-pix webhooks dead` and `show`, and finds the deliveries for the steps. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Webhook, WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { failingAs, layerDatabase, notReadable } from "../database.ts"
import { codes, failed } from "../exit.ts"
import { hasReader, note, write, writeResult } from "../output.ts"
import { ageOf, fieldLines, jsonLine, plain, tableRow, time } from "../text.ts"

/** The webhooks of the database, or the one of this name, if its table is of this version. */
export const layerNamed = (name?: string) => failingAs(Webhook.layerClient({ name }), notReadable)

export const layerClient = (access: "read" | "write") => Layer.provideMerge(layerNamed(), layerDatabase(access))

/** What is stored about an id, or the failure of an unknown id. */
export const find = Effect.fnUntraced(function* (id: string) {
  const webhooks = yield* WebhookClient
  const found = yield* Effect.mapError(webhooks.find(id), notReadable)
  if (found.length > 0) return found
  return yield* failed("No webhook on this database stores anything of this id.", codes.Rejected)
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

const row = tableRow(14, -8, -11, 12, 0)

interface Input {
  readonly json: boolean
}

export const dead = Effect.fnUntraced(
  function* ({ json }: Input) {
    const webhooks = yield* WebhookClient
    const letters = yield* Effect.mapError(webhooks.deadLetters, notReadable)
    const now = yield* Clock.currentTimeMillis
    if (!json) yield* write(row("FAILED AT", "ATTEMPTS", "DEAD FOR", "WEBHOOK", "ID"))
    for (const letter of letters) {
      const { at, failures, handler, id, transactionId = id, webhook } = letter
      const cells = [handler ?? "?", `${failures ?? "?"}`, ageOf(at, now), webhook, transactionId]
      yield* write(json ? jsonLine(letter) : row(...cells))
    }
    if (hasReader()) yield* note(`${letters.length} dead letter(s)`)
  },
  Effect.provide(layerClient("read"))
)

export const show = Effect.fnUntraced(
  function* ({ id, json }: Input & { readonly id: string }) {
    const found = yield* find(id)
    const now = yield* Clock.currentTimeMillis
    for (const [index, stored] of found.entries()) {
      yield* writeResult(json, stored, `${index === 0 ? "" : "\n"}${textOf(stored, now)}`)
    }
  },
  Effect.provide(layerClient("read"))
)
