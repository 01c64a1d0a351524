/** Dead letters, what your code refused for good: of `onState` in the queue, and of the webhooks. And what a webhook stores. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
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
import { givenLang, text, type Text } from "../lang.ts"
import { type Columns, type Format, printCounted } from "../list.ts"
import { writeResult } from "../output.ts"
import { ageOf, plain, time } from "../text.ts"
import { linesOf } from "./describe.ts"
import { layerQueue, layerReading } from "./queue.ts"
import type { LetterStep } from "./stepShape.ts"
import { ago, waits } from "./words.ts"

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

type StepError = { readonly _tag: string; readonly message: string }

/** Where dead letters are. A step answers false where there is no such letter any more. */
export interface Source<R> {
  readonly group: "payouts" | "webhooks"
  readonly layer: (access: "read" | "write") => Layer.Layer<R | SqlClient.SqlClient, Failed>
  readonly all: Effect.Effect<ReadonlyArray<Letter>, Failed, R>
  readonly take: (
    step: LetterStep["name"],
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
export const findLetter = <R>({ all }: Source<R>, id: string, webhook: Option.Option<string>) =>
  Effect.flatMap(all, (letters) => {
    const found = letters.filter(
      (letter) =>
        [letter.id, letter.of].includes(id) && Option.getOrElse(webhook, () => letter.webhook) === letter.webhook
    )
    if (found[0] === undefined) return Effect.fail(noLetter())
    if (found.length === 1) return Effect.succeed(found[0])
    const names = found.map((each) => each.webhook).join(", ")
    return Effect.fail(failed(`Several webhooks have a dead letter of this id: choose one by --webhook, of ${names}.`))
  })

/** A dead letter in a line. */
export const lineOf = ({ failures, handler, held, id, of }: Letter): Text =>
  text(
    `Dead letter ${plain(id)} of ${plain(of)}: ${handler} failed ${failures} times, and ${held} later ones wait for it`,
    `Entrega ${plain(id)} de ${plain(of)}: ${handler} falhou ${failures} vezes, e ${held} seguintes esperam por ela`
  )

const columnsAt = (now: number): Columns<Letter> => ({
  noun: text("dead letter(s)", "entrega(s) que falharam"),
  columns: [
    [({ handler }) => handler, text("failed_at", "falhou_em"), text("FAILED AT", "FALHOU EM"), 14],
    [({ failures }) => failures, text("attempts", "tentativas"), text("ATTEMPTS", "VEZES"), -8],
    [({ held }) => held, text("held", "seguintes"), text("HELD", "ESPERAM"), -7],
    [({ at }) => ageOf(at, now), undefined, text("DEAD FOR", "HÁ"), -11],
    [({ at }) => at, text("dead_since", "desde")],
    [({ webhook = "" }) => webhook, "webhook", "WEBHOOK", 12],
    [({ id }) => id, "id", "ID", 10],
    [({ id, of }) => (id === of ? "" : of), text("of", "de"), text("OF", "DE")]
  ],
  json: (letter) => letter
})

export const listLetters = (group: keyof typeof sources) => (format: Format) => {
  const list = <R>({ all, layer }: Source<R>) =>
    Effect.gen(function* () {
      const rows = Stream.unwrap(Effect.map(all, (letters) => Stream.fromIterable(letters)))
      yield* printCounted(rows, columnsAt(yield* Clock.currentTimeMillis), format)
    }).pipe(Effect.provide(layer("read")))
  return group === "payouts" ? list(payouts) : list(webhooks)
}

/** Shows what is stored about a transaction, or about a delivery that names none. */
export const showStored = Effect.fnUntraced(
  function* ({ id, json }: { readonly id: string; readonly json: boolean }) {
    const { find } = yield* WebhookClient
    const found = yield* Effect.mapError(find(id), notReadable)
    if (found.length === 0)
      return yield* failed("No webhook on this database stores anything of this id.", codes.Rejected)
    const [now, lang] = [yield* Clock.currentTimeMillis, yield* givenLang]
    for (const [index, stored] of found.entries()) {
      const isWaiting = stored.state === "Waiting"
      const since = (at: DateTime.Utc | undefined) => at && `${time(at)} (${ago(ageOf(at, now))[lang]})`
      const lines = linesOf(
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
          [text("Due at", "Vence em"), isWaiting ? time(stored.at) : undefined],
          [text("Ended at", "Encerrado em"), isWaiting ? undefined : since(stored.at)],
          [text("Since", "Desde"), since(stored.since)],
          [text("Deliveries", "Entregas"), stored.deliveries],
          [text("Claimed", "Avisado"), stored.claimed?.map((claim) => claim ?? "-").join(", ") || undefined],
          [text("Handed out", "Entregue"), stored.handedOut.map(plain).join(", ") || text("nothing", "nada")]
        ],
        lang
      )
      yield* writeResult(json, stored, `${index === 0 ? "" : "\n"}${lines}`)
    }
  },
  Effect.provide(webhooks.layer("read"))
)
