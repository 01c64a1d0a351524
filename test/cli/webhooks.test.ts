/** `effect-pix webhooks` on a program's own database. */
import { describe, expect, vi } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import type { SqlClient } from "effect/sql"
import { paidCharge } from "../support/charges.ts"
import { runRows } from "../support/command.ts"
import { live } from "../support/effect.ts"
import { databases } from "../support/operated.ts"
import { exhaust } from "../support/webhooks.ts"

type Client = Layer.Layer<SqlClient.SqlClient, unknown>

const delivery = (transactionId: string) =>
  new Request("https://shop.example/webhooks/pix", {
    method: "POST",
    body: JSON.stringify({ transactionId, status: "Paid", payer: "Maria Silva" })
  })

/** A process of the webhook of this name. */
const working = (client: Client, name: string, onPaid: Effect.Effect<void, string>) =>
  Layer.provideMerge(Webhook.layerSql({ name, poll: "20 millis", onPaid: () => onPaid }), client)

/** Paid charges whose handler fails for good. */
const dead = (client: Client, ids: ReadonlyArray<string>, name: string) =>
  Effect.gen(function* () {
    const { answer } = yield* Webhook
    const { idle } = yield* WebhookClient
    for (const id of ids) yield* answer(delivery(id))
    yield* exhaust("failed", ids.length)
    yield* idle
  }).pipe(Effect.provide(working(client, name, Effect.fail("away"))))

describe.each(databases)("webhooks in %s", (_, database) => {
  live(
    "dead letters are listed, shown, tried again, and forgotten by a confirmed step",
    Sandbox.layerPayments,
    function* () {
      const { client, env } = yield* database
      // A SQLite file is there once it was opened.
      yield* Effect.provide(Effect.void, client)
      yield* runRows(env, [["webhooks dead-letters", 1, "", /has no tables in this database/]])
      const [again, elsewhere] = [yield* paidCharge, yield* paidCharge]
      yield* dead(client, [again, elsewhere], "shop")
      const both = new RegExp(`^FAILED AT .*\n(onPaid +1000 .* shop +(${again}|${elsewhere})\n){2}$`)
      const logged = vi.spyOn(console, "error").mockReturnValue()
      const written = yield* runRows(env, [
        ["webhooks dead-letters", 0, both, /^2 dead letter\(s\)\n$/],
        ["webhooks dead-letters --csv", 0, /^\uFEFFfailed_at,.*\r\n(onPaid,1000,0,\S+Z,shop,[^,]+,\r\n){2}$/],
        [`webhooks show ${again} --json`, 0, /"state":"Dead",.*"claimed":\["Paid"\],.*"handler":"onPaid"/],
        [`webhooks show ${again}`, 0, /^Claimed +Paid\nHanded out +nothing$/m],
        [`webhooks dead-letters discard ${elsewhere} ${again}`, 2, "", /failed 1000 times[^]*2 dead letters: Forget/],
        ["webhooks dead-letters discard --yes", 1, "", /Name at least one id/],
        [`webhooks dead-letters discard ${elsewhere} --yes --by ana`, 0, `discard of ${elsewhere} was done.\n`],
        [`webhooks show ${elsewhere}`, 0, /^State +Finished$/m],
        [`webhooks dead-letters discard ${elsewhere} --yes`, 4, ""],
        [
          `webhooks dead-letters retry ${again} --yes --json`,
          0,
          `{"id":"${again}","webhook":"shop","step":"retry"}\n`,
          /up again within a second/
        ]
      ])
      expect(written).not.toContain("Maria")
      expect(logged.mock.calls.join()).toMatch(/level=INFO .*discard of a dead letter.*webhook\.by=ana/)
      logged.mockRestore()
      yield* Effect.provide(
        WebhookClient.use(({ idle }) => idle),
        working(client, "shop", Effect.void)
      )
      yield* runRows(env, [[`webhooks show ${again}`, 0, /^State +Finished$[^]*^Handed out +Paid$/m]])
    }
  )

  live("a dead letter of several webhooks is changed if its webhook is named", Sandbox.layerPayments, function* () {
    const { client, env } = yield* database
    const id = yield* paidCharge
    yield* dead(client, [id], "shop-a")
    yield* dead(client, [id], "shop-b")
    yield* runRows(env, [
      [`webhooks dead-letters discard ${id} --yes`, 1, "", /--webhook, of shop-a, shop-b/],
      [`webhooks dead-letters discard ${id} --webhook shop-b --yes`, 0, `discard of ${id} was done.\n`],
      ["webhooks dead-letters --json", 0, /^{"id":.*,"webhook":"shop-a",.*}\n$/]
    ])
  })
})
