/**
 * Webhooks on the database of a test.
 */
import { it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { Webhook, type WebhookOptions, type WebhookSqlOptions } from "effect-pix/webhook"
import type { SqlClient } from "effect/sql"
import type { databases } from "./database.ts"
import { recording, world } from "./webhooks.ts"

/** Starts a webhook on the database of the test, as a process of its own. */
export const starting = (options: WebhookOptions & WebhookSqlOptions = {}, settings: WebhookSqlOptions = {}) =>
  recording(options, (wrapped) => Webhook.layerSql({ poll: "50 millis", lease: "2 seconds", ...settings, ...wrapped }))

/** A test on a new database and a gateway of its own. */
export const testOn =
  ({ client, skip }: Pick<(typeof databases)[number], "client" | "skip">) =>
  <E>(title: string, effect: Effect.Effect<void, E, SqlClient.SqlClient | Layer.Success<typeof world> | Scope.Scope>) =>
    it.live.skipIf(skip)(title, () =>
      Effect.provide(Effect.scoped(effect), Layer.mergeAll(Layer.fresh(world), Layer.fresh(client())))
    )
