/**
 * The roles of `docs/sql/roles.sql` on a PostgreSQL: what each process does under its own, and what the database denies.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted, Result, Schedule } from "effect"
import { Money, PaymentsPolicy } from "effect-pix"
import { PayoutInsert, PayoutQueue, type PayoutQueueOptions, Payouts } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { makeBank } from "../support/bank.ts"
import { charge } from "../support/charges.ts"
import { run } from "../support/command.ts"
import { postgres } from "../support/database.ts"
import { payout } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"
import { exhaust } from "../support/webhooks.ts"
import { live } from "../support/effect.ts"

const file = readFileSync(resolve(import.meta.dirname, "../../docs/sql/roles.sql"), "utf8")

const logins = {
  application: ["effect_pix_application"],
  worker: ["effect_pix_worker"],
  program: ["effect_pix_application", "effect_pix_worker"],
  operator: ["effect_pix_operator"]
} as const
type Login = keyof typeof logins

/** A database with the tables and the roles, and a login for each program. */
const made = Effect.gen(function* () {
  const { url } = yield* postgres
  const client = (of: string) => Layer.fresh(PgClient.layer({ url: Redacted.make(of), maxConnections: 4 }))
  const owner = client(url)
  const urls = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Layer.build(PayoutQueue.layerClient())
    yield* Effect.scoped(Layer.build(Layer.provide(Webhook.layerSql({ name: "shop" }), Sandbox.layerPayments)))
    // A second time, as after a new version.
    for (const statement of `${file}\n${file}`.split(/;\n\n/)) yield* sql.unsafe(statement)
    const named = Object.entries(logins).map(([login, roles]) => {
      const name = `${login}_${new URL(url).pathname.slice(1)}`
      return [login, name, roles.join(", ")] as const
    })
    for (const [, name, roles] of named) yield* sql.unsafe(`CREATE ROLE ${name} LOGIN IN ROLE ${roles}`)
    return Object.fromEntries(named.map(([login, name]) => [login, url.replace("postgres@", `${name}@`)]))
  }).pipe(Effect.scoped, Effect.provide(owner))
  const urlOf = (login: Login) => urls[login] ?? ""
  return { owner, client: (login: Login) => client(urlOf(login)), env: { DATABASE_URL: urlOf("operator") } }
}).pipe(Effect.orDie)

const sheet = (reference: string, amount: number) => ({ ...payout(reference, amount), by: "ana" })

describe.skipIf(noPostgres() !== undefined)("the roles of docs/sql/roles.sql", () => {
  live(
    "let the application submit and run sheets, the worker send, and the operator take every step of the command",
    function* () {
      const { client, env } = yield* made
      const bank = makeBank()
      const gateway = Layer.merge(
        bank.makeClient("client-a", { companyId: 1 }).layer,
        PaymentsPolicy.layer(PaymentsPolicy.once)
      )
      const queued = { poll: "20 millis", dailyCap: 100_000 } as const
      const command = (by: string, ...words: ReadonlyArray<string>) =>
        run(["payouts", ...words, "--yes", "--by", by], env)
      const step = (by: string, ...words: ReadonlyArray<string>) =>
        Effect.map(command(by, ...words), ({ code, stderr }) =>
          assert.strictEqual(code, 0, `${words.join(" ")}: ${stderr}`)
        )
      yield* step("carla", "four-eyes", "5000")
      yield* Layer.build(PayoutQueue.layerWorker(queued).pipe(Layer.provide([client("worker"), gateway])))
      const application = Layer.provideMerge(
        PayoutQueue.layerClient({ poll: "20 millis", fourEyesAbove: 5000 }),
        client("application")
      )
      yield* Effect.gen(function* () {
        const queue = yield* PayoutQueue
        const sql = yield* SqlClient.SqlClient
        const { parameters, text } = Result.getOrThrow(PayoutInsert.make(sheet("inserted", 1100), { dialect: "pg" }))
        yield* sql.unsafe(text, parameters)
        yield* queue.submit(sheet("single", 1200))
        for (const reference of ["inserted", "single"]) {
          assert.strictEqual((yield* queue.await(reference)).state, "posted")
        }
        const { done } = yield* Payouts.run([sheet("one", 1300), sheet("two", 1400)])
        assert.lengthOf(done, 2)
        // A run that ends before its lines are sent parks them, and a larger one takes them up.
        yield* step("bia", "pause")
        const left = yield* Payouts.run([sheet("left", 2000)], { waitFor: "50 millis" })
        assert.lengthOf(left.parked, 1)
        yield* step("bia", "continue")
        const { parked } = yield* Payouts.run([sheet("left", 2000), sheet("more", 3500)])
        assert.lengthOf(parked, 2)
        yield* step("bia", "resume", "--because", "NeedsApproval")
        for (const reference of ["left", "more"]) assert.strictEqual((yield* queue.await(reference)).state, "posted")
        yield* step("bia", "pause")
        yield* queue.submitMany([sheet("a", 2100), sheet("b", 2200)])
        for (const words of [
          ["retry", "a"],
          ["park", "a", "b"],
          ["resume", "a"],
          ["settle", "b", "--as", "settled"]
        ])
          yield* step("bia", ...words)
        for (const by of ["ana", "bia"]) yield* step(by, "settle", "b", "--as", "failed")
        for (const words of [["list"], ["show", "a"], ["list", "--state", "all", "--csv"]]) {
          assert.strictEqual((yield* run(["payouts", ...words], env)).code, 0, words.join(" "))
        }
        for (const by of ["ana", "bia"]) yield* step(by, "change-sender", "a".repeat(40))
        for (const by of ["ana", "bia"]) yield* step(by, "four-eyes", "none")
        assert.strictEqual((yield* queue.account).fourEyesAbove, undefined)
      }).pipe(Effect.provide(application))
      assert.lengthOf([...bank.paid], 6)
      // The limit that the operator removed is not stored again by a process of the application.
      const refused = yield* Effect.flip(Layer.build(application))
      assert.include(refused.message, "open failed on the database (AuthorizationError)")
    }
  )

  live(
    "let the worker doubt what a failover may have lost, pause a restored backup, and delete a record",
    function* () {
      const { client, owner } = yield* made
      const bank = makeBank()
      const gateway = Layer.merge(
        bank.makeClient("client-a", { companyId: 1 }).layer,
        PaymentsPolicy.layer(PaymentsPolicy.once)
      )
      const work = (options: PayoutQueueOptions = {}) =>
        Layer.build(
          Layer.fresh(PayoutQueue.layerWorker({ poll: "20 millis", dailyCap: 100_000, ...options })).pipe(
            Layer.provide([client("worker"), gateway])
          )
        )
      const sql = yield* Effect.map(Layer.build(owner), Context.get(SqlClient.SqlClient))
      yield* Effect.scoped(work())
      const queue = Context.get(
        yield* Layer.build(
          Layer.fresh(PayoutQueue.layerClient({ poll: "20 millis" })).pipe(
            Layer.provide(Layer.succeed(SqlClient.SqlClient, sql))
          )
        ),
        PayoutQueue
      )
      yield* queue.setFourEyes(Money.centavos(5000), { by: "carla" })
      yield* queue.submit(sheet("small", 5000))
      yield* queue.submit(sheet("big", 5001))
      yield* queue.submitMany([sheet("one", 2501), sheet("two", 2500)])
      // As of before there was a limit.
      yield* sql`UPDATE effect_pix_payouts SET state = 'accepted', parked_because = NULL WHERE state = 'parked'`
      yield* sql`UPDATE effect_pix_payout_accounts SET identity = 'x/' || SPLIT_PART(identity, '/', 2) || '/' ||
        SPLIT_PART(identity, '/', 3) || '/' || SPLIT_PART(identity, '/', 4)`
      yield* Effect.gen(function* () {
        yield* work()
        for (const reference of ["small", "big", "one", "two"]) yield* queue.await(reference)
      }).pipe(Effect.scoped)
      const tags = (reference: string) =>
        Effect.map(queue.history(reference), (changes) => changes.map(({ _tag }) => _tag))
      assert.deepStrictEqual(yield* tags("small"), ["Submitted", "Doubted", "Marked", "Answered"])
      for (const reference of ["big", "one", "two"]) assert.notInclude(yield* tags(reference), "Marked")
      assert.deepStrictEqual(
        [...bank.paid.values()].map(({ amount }) => amount),
        [5000]
      )
      // A restored backup.
      yield* sql`UPDATE effect_pix_payout_accounts SET beat_at = beat_at - 3600000, identity = 'x' || identity`
      yield* queue.submit(sheet("later", 1000))
      yield* Effect.gen(function* () {
        yield* work()
        yield* Effect.repeat(queue.isPaused, { until: (isPaused) => isPaused, schedule: Schedule.spaced("20 millis") })
      }).pipe(Effect.scoped)
      assert.lengthOf(bank.received, 1)
      // The end of a record.
      yield* queue.forget("small", { by: "bia" })
      yield* sql`UPDATE effect_pix_payouts SET submitted_at = 1, updated_at = 1 WHERE reference = 'small'`
      yield* Effect.gen(function* () {
        yield* work({ forget: { data: "1 day", record: "30 days" } })
        yield* Effect.repeat(queue.status("small"), { until: Option.isNone, schedule: Schedule.spaced("20 millis") })
      }).pipe(Effect.scoped)
      const again = yield* Effect.flip(queue.submit(sheet("small", 5000)))
      assert.strictEqual(again._tag, "InvalidRequest")
    }
  )

  live(
    "let a program store deliveries and look them up, and the operator deal with a dead letter",
    Layer.fresh(Sandbox.layerPayments),
    function* () {
      const { client, env } = yield* made
      const { id } = yield* charge
      yield* (yield* Sandbox).markPaid(id)
      const body = JSON.stringify({ transactionId: id, status: "Paid" })
      yield* Effect.gen(function* () {
        const { answer, idle } = yield* Webhook
        yield* answer(new Request("https://shop.example/webhooks/pix", { method: "POST", body }))
        yield* exhaust("failed", 1)
        yield* idle
      }).pipe(
        Effect.provide(
          Layer.provideMerge(
            Webhook.layerSql({ name: "shop", poll: "20 millis", onPaid: () => Effect.fail("away") }),
            client("program")
          )
        )
      )
      const { code, stderr } = yield* run(["webhooks", "discard", id, "--yes", "--by", "ana"], env)
      assert.strictEqual(code, 0, stderr)
    }
  )

  live("deny every change of the history, every approval but the operator's, and every mark before one", function* () {
    const { client, owner } = yield* made
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      yield* queue.setFourEyes(Money.centavos(5000), { by: "carla" })
      yield* queue.submit(sheet("big", 6000))
      yield* queue.submit(sheet("small", 1000))
      yield* queue.park("small", { by: "ana" })
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), owner)))
    const payouts = "UPDATE effect_pix_payouts SET"
    const history = ["UPDATE effect_pix_payout_history SET entry = '{}'", "DELETE FROM effect_pix_payout_history"]
    const all = [
      ...history,
      "DELETE FROM effect_pix_payouts",
      "DELETE FROM effect_pix_payout_accounts",
      "TRUNCATE effect_pix_payout_history",
      "UPDATE effect_pix_payouts_migrations SET name = 'x'",
      `${payouts} amount = 1 WHERE reference = 'big'`,
      `${payouts} request = '{}' WHERE reference = 'big'`,
      `${payouts} submitted_by = 'bia' WHERE reference = 'big'`,
      `${payouts} needs_approval = FALSE WHERE reference = 'big'`,
      `${payouts} may_have_left_at = 1 WHERE reference = 'big'`
    ]
    const approvals = [
      `${payouts} approved_at = 1 WHERE reference = 'big'`,
      `${payouts} approved_by = 'bia' WHERE reference = 'big'`,
      `${payouts} asked_by = 'bia' WHERE reference = 'big'`,
      "UPDATE effect_pix_payout_accounts SET four_eyes_above = NULL",
      "UPDATE effect_pix_payout_accounts SET asked = '{}'"
    ]
    const insert = (column: string) =>
      `INSERT INTO effect_pix_payouts (idempotency_key, reference, amount, request_check, ${column}) VALUES ('k', 'k', 1000, 'abc', `
    const inserts = [
      `${insert("approved_at")} 1)`,
      `${insert("may_have_left_at")} 1)`,
      `${insert("approved_by")} 'bia')`
    ]
    const denied = {
      application: [...all, ...approvals, ...inserts],
      worker: [...all, ...approvals, ...inserts, `${insert("submitted_by")} 'ana')`],
      program: [...all, ...approvals, ...inserts],
      operator: [...all, ...inserts, `${insert("submitted_by")} 'ana')`],
      owner: [...history, ...all.slice(6)]
    }
    for (const [login, statements] of Object.entries(denied)) {
      // The keys of an object are texts to the compiler.
      const database = login === "owner" ? owner : client(login as Login)
      const failures = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.forEach(statements, (statement) =>
          Effect.match(sql.unsafe(statement), {
            onFailure: ({ reason }) => [statement, reason._tag],
            onSuccess: () => [statement, "allowed"]
          })
        )
      )
      assert.deepStrictEqual(
        yield* Effect.provide(failures, database),
        statements.map((statement) => [statement, "AuthorizationError"]),
        login
      )
    }
    // The mark of what needs no approval, and the end of a record with its entries, are the worker's.
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.gen(function* () {
        yield* sql`UPDATE effect_pix_payouts SET may_have_left_at = 1 WHERE reference = 'small'`
        yield* sql`UPDATE effect_pix_payouts SET state = 'failed' WHERE reference = 'small'`
        yield* sql`UPDATE effect_pix_payouts SET amount = NULL, request = NULL, submitted_by = NULL, reference = '' WHERE reference = 'small'`
        const gone = yield* sql`DELETE FROM effect_pix_payout_history WHERE idempotency_key IN
            (SELECT idempotency_key FROM effect_pix_payouts WHERE amount IS NULL) RETURNING id`
        assert.lengthOf(gone, 1)
      })
    ).pipe(Effect.provide(client("worker")))
  })
})
