/** Dead letters, what your code refused for good: of `onState` in the queue, and of the webhooks. And what a webhook stores. */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import type { StepOptions } from "../../../durable/Step.ts"
import type { PayoutLetter } from "../../../payouts/OnState.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { Webhook, WebhookClient } from "../../../webhook/Webhook.ts"
import type { StoredDelivery } from "../../../webhook/WebhookEvent.ts"
import { failingAs, layerDatabase, notRead, notReadable } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { text, type Text } from "../lang.ts"
import { type Columns, currentView, type Format, linesOfFields, printCounted } from "../list.ts"
import { writeResult } from "../output.ts"
import { plain } from "../text.ts"
import { layerQueue, layerReading } from "./queue.ts"
import { waits } from "./words.ts"

export interface Letter {
  readonly id: string
  /** The name of its webhook; absent for one of `onState`. */
  readonly webhook?: string
  /** The payout with its state, or the transaction, that it is about. */
  readonly of: string
  /** Your code that failed, and how often. */
  readonly handler: string
  readonly failures: number
  /** How many later ones wait for it. */
  readonly held: number
  readonly at: DateTime.Utc
}

export type StepError = { readonly _tag: string; readonly message: string }

/** Where dead letters are. A step answers false where there is no such letter any more. */
export interface Source<R> {
  readonly group: "payouts" | "webhooks"
  readonly layer: (access: "read" | "write") => Layer.Layer<R | SqlClient.SqlClient, Failed>
  readonly all: Effect.Effect<ReadonlyArray<Letter>, Failed, R>
  readonly take: (
    step: "retry" | "discard",
    letter: Letter,
    by: Pick<StepOptions, "by">
  ) => Effect.Effect<boolean, StepError, R | SqlClient.SqlClient | Scope.Scope>
}

/** Those of `onState`. */
const ofPayout = ({ at, failures, held, id, status }: PayoutLetter): Letter => ({
  id: `${id}`,
  of: status === undefined ? "?" : `${status.reference} (${status.state})`,
  handler: "onState",
  failures,
  held,
  at
})

const payouts: Source<PayoutQueue> = {
  group: "payouts",
  layer: (access) => (access === "read" ? layerReading : layerQueue),
  all: Effect.flatMap(PayoutQueue, ({ deadLetters }) =>
    Effect.mapBoth(deadLetters, { onFailure: notRead, onSuccess: (all) => all.map(ofPayout) })
  ),
  take: (step, { id }, by) =>
    Effect.flatMap(PayoutQueue, (queue) =>
      step === "retry" ? queue.retryLetter(Number(id), by) : queue.discardLetter(Number(id), by)
    )
}

/** The webhooks of the database, or the one of this name, if its table is of this version. */
const layerNamed = (name?: string) => failingAs(Webhook.layerClient({ name }), notReadable)

const ofWebhook = ({ at, failures = 0, handler, id, transactionId = id, webhook }: StoredDelivery): Letter => ({
  id,
  webhook,
  of: transactionId,
  handler: handler ?? "?",
  failures,
  held: 0,
  at
})

const webhooks: Source<WebhookClient> = {
  group: "webhooks",
  layer: (access) => Layer.provideMerge(layerNamed(), layerDatabase(access)),
  all: Effect.flatMap(WebhookClient, ({ deadLetters }) =>
    Effect.mapBoth(deadLetters, { onFailure: notReadable, onSuccess: (all) => all.map(ofWebhook) })
  ),
  take: (step, { id, webhook }, by) =>
    Effect.flatMap(Layer.build(layerNamed(webhook)), (context) => Context.get(context, WebhookClient)[step](id, by))
}

export const sources = { payouts, webhooks }

export const noLetter = (): Failed => failed("No dead letter has this id. Nothing was changed.", codes.Rejected)

/** The dead letter of an id, of the named webhook where several have one. */
export const findLetter = <R>({ all }: Source<R>, id: string, webhook: string | undefined) =>
  Effect.flatMap(all, (letters): Effect.Effect<Letter, Failed> => {
    const found = letters.filter(
      (letter) => [letter.id, letter.of].includes(id) && (webhook ?? letter.webhook) === letter.webhook
    )
    if (found[0] === undefined) return noLetter()
    if (found.length === 1) return Effect.succeed(found[0])
    const names = found.map((each) => each.webhook).join(", ")
    return failed(`Several webhooks have a dead letter of this id: choose one by --webhook, of ${names}.`)
  })

/** A dead letter in a line. */
export const lineOf = ({ failures, handler, held, id, of }: Letter): Text =>
  text(
    `Dead letter ${plain(id)} of ${plain(of)}: ${handler} failed ${failures} times, and ${held} later ones wait for it`,
    `Entrega ${plain(id)} de ${plain(of)}: ${handler} falhou ${failures} vezes, e ${held} seguintes esperam por ela`
  )

const columns: Columns<Letter> = {
  noun: text("dead letter(s)", "entrega(s) que falharam"),
  columns: [
    [text("Failed at", "Falhou em"), ({ handler }) => handler, 14],
    [text("Attempts", "Tentativas"), ({ failures }) => failures, -10],
    [text("Held", "Seguintes"), ({ held }) => held, -9],
    [text("Dead since", "Desde"), ({ at }) => at, -11, text("Dead for", "Há")],
    ["Webhook", ({ webhook }) => webhook, 12],
    ["Id", ({ id }) => id, 10],
    [text("Of", "De"), ({ id, of }) => (id === of ? "" : of), 0]
  ],
  json: (letter) => letter
}

export const listLetters = (group: keyof typeof sources) => (format: Format) => {
  const list = <R>({ all, layer }: Source<R>) =>
    printCounted(Stream.fromIterableEffect(all), columns, format).pipe(Effect.provide(layer("read")))
  return group === "payouts" ? list(payouts) : list(webhooks)
}

/** Shows what is stored about a transaction, or about a delivery that names none. */
export const showStored = Effect.fnUntraced(
  function* ({ id, json }: { readonly id: string; readonly json: boolean }) {
    const { find } = yield* WebhookClient
    const found = yield* Effect.mapError(find(id), notReadable)
    if (found.length === 0)
      return yield* failed("No webhook on this database stores anything of this id.", codes.Rejected)
    const view = yield* currentView
    for (const [index, stored] of found.entries()) {
      const isWaiting = stored.state === "Waiting"
      const lines = linesOfFields(
        [
          ["Webhook", stored.webhook],
          ["Id", stored.id],
          [text("Transaction", "Transação"), stored.transactionId],
          [text("Withdrawal", "Saque"), stored.withdrawalId],
          [text("Key", "Chave"), stored.idempotencyKey],
          [text("State", "Estado"), stored.state],
          [text("Failed at", "Falhou em"), stored.handler],
          [text("Failures", "Falhas"), stored.failures || undefined],
          [text("Waits because", "Espera porque"), stored.waits && waits[stored.waits]],
          [isWaiting ? text("Due at", "Vence em") : text("Ended at", "Encerrado em"), stored.at],
          [text("Since", "Desde"), stored.since],
          [text("Deliveries", "Entregas"), stored.deliveries],
          [text("Claimed", "Avisado"), stored.claimed?.map((claim) => claim ?? "-").join(", ")],
          [text("Handed out", "Entregue"), stored.handedOut.join(", ") || text("nothing", "nada")]
        ],
        view
      )
      yield* writeResult(json, stored, `${index === 0 ? "" : "\n"}${lines}`)
    }
  },
  Effect.provide(webhooks.layer("read"))
)
