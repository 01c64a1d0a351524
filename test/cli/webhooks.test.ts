/** `effect-pix webhooks` on a program's own database. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Payments } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import type { SqlClient } from "effect/sql"
import { exhaust } from "../support/webhooks.ts"
import { charge } from "../support/charges.ts"
import { run as runProcess, runHere as run } from "../support/command.ts"
import { databases } from "../support/operated.ts"

type Client = Layer.Layer<SqlClient.SqlClient, unknown>

const delivery = (transactionId: string) =>
  new Request("https://shop.example/webhooks/pix", {
    method: "POST",
    body: JSON.stringify({ transactionId, status: "Paid", payer: "Maria Silva" })
  })

/** Paid charges whose handler fails for good, of the webhooks of these names. */
const dead = (client: Client, ids: ReadonlyArray<string>, name: string) =>
  Effect.gen(function* () {
    const { answer, idle } = yield* Webhook
    for (const id of ids) yield* answer(delivery(id))
    yield* exhaust("failed", ids.length)
    yield* idle
  }).pipe(
    Effect.provide(
      Layer.provideMerge(Webhook.layerSql({ name, poll: "20 millis", onPaid: () => Effect.fail("away") }), client)
    ),
    Effect.orDie
  )

/** What a process hands out that runs the webhook, from its start until nothing waits. */
const handedOut = (client: Client, name: string) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    const onPaid = ({ transaction }: { readonly transaction: { readonly transactionId: string } }) =>
      Effect.sync(() => seen.push(transaction.transactionId))
    const working = Webhook.layerSql({ name, poll: "20 millis", onPaid })
    yield* Effect.provide(
      Effect.flatMap(Webhook, ({ idle }) => idle),
      Layer.provide(working, client)
    )
    return seen
  }).pipe(Effect.orDie)

const paid = Effect.gen(function* () {
  const { id } = yield* charge
  yield* (yield* Sandbox).markPaid(id)
  return id
})

const inSandbox = <A, E, R>(effect: Effect.Effect<A, E, R | Payments | Sandbox>) =>
  Effect.provide(effect, Layer.fresh(Sandbox.layerPayments))

describe.each(databases)("webhooks in %s", (_, database) => {
  it.live("dead letters are listed and shown, and are tried again or forgotten by a confirmed step", () =>
    inSandbox(
      Effect.gen(function* () {
        const { client, env } = yield* database
        // A SQLite file is there once it was opened.
        yield* Effect.orDie(Effect.provide(Effect.void, client))
        const none = yield* run(["webhooks", "list"], env)
        expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("has no tables in this database")])
        const [again, elsewhere] = [yield* paid, yield* paid]
        yield* dead(client, [again, elsewhere], "shop")

        const listed = yield* run(["webhooks", "list"], env)
        const rows = listed.stdout.trimEnd().split("\n").slice(1)
        // Which of the two died first is up to the worker.
        const cells = rows.map((line) => line.split(/ {2,}/).toSpliced(2, 1).join(" "))
        expect(cells.toSorted()).toEqual([`onPaid 1000 shop ${again}`, `onPaid 1000 shop ${elsewhere}`].toSorted())
        expect([listed.code, listed.stderr]).toEqual([0, "2 dead letter(s)\n"])

        const shown = yield* run(["webhooks", "show", again, "--json"], env)
        expect(JSON.parse(shown.stdout)).toMatchObject({ state: "Dead", handler: "onPaid", claimed: ["Paid"] })
        expect(shown.stdout + listed.stdout).not.toContain("Maria")

        const refused = yield* run(["webhooks", "discard", elsewhere, again], env)
        expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Nothing was changed.")])
        expect(refused.stderr).toContain("discard: 2 dead letters: it is forgotten.")
        const done = yield* runProcess(["webhooks", "discard", elsewhere, "--yes", "--by", "ana"], env)
        expect([done.code, done.stdout]).toEqual([0, `discard of ${elsewhere} was done.\n`])
        expect(done.stderr).toMatch(/^.*level=INFO.*discard of a dead letter.*webhook\.by=ana.*$/m)
        const discarded = yield* run(["webhooks", "show", elsewhere], env)
        expect(discarded.stdout).toMatch(/^State +Finished$/m)
        const gone = yield* run(["webhooks", "discard", elsewhere, "--yes"], env)
        expect([gone.code, gone.stdout]).toEqual([4, ""])

        const retried = yield* run(["webhooks", "retry", again, "--yes"], env)
        expect([retried.code, retried.stdout]).toEqual([0, `retry of ${again} was done.\n`])
        expect(yield* handedOut(client, "shop")).toEqual([again])
        const finished = yield* run(["webhooks", "show", again], env)
        expect(finished.stdout).toMatch(/^State +Finished$[^]*^Handed out +Paid$/m)
      })
    )
  )
})

describe("a dead letter of several webhooks", () => {
  it.live("a dead letter of several webhooks is changed if its webhook is named", () =>
    inSandbox(
      Effect.gen(function* () {
        const [, database] = databases[0] ?? []
        const { client, env } = yield* database ?? Effect.die("no database")
        const id = yield* paid
        yield* dead(client, [id], "shop-a")
        yield* dead(client, [id], "shop-b")
        const unclear = yield* run(["webhooks", "discard", id, "--yes"], env)
        expect([unclear.code, unclear.stderr]).toEqual([1, expect.stringContaining("--webhook, of shop-a, shop-b")])
        expect((yield* run(["webhooks", "discard", id, "--webhook", "shop-b", "--yes"], env)).code).toBe(0)
        const left = yield* run(["webhooks", "list", "--json"], env)
        expect(left.stdout.trim().split("\n")).toHaveLength(1)
        expect(JSON.parse(left.stdout)).toMatchObject({ webhook: "shop-a", transactionId: id })
      })
    )
  )
})
