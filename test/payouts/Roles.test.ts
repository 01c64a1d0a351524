/**
 * The roles of `docs/sql/roles.sql` on a PostgreSQL: what each process does under its own, what the database denies, and that no login
 * passes its guards.
 */
import { assert } from "@effect/vitest"
import { Context, DateTime, Effect, Layer, Option, Stream } from "effect"
import type { OnState } from "effect-pix/payouts"
import { Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookClient } from "effect-pix/webhook"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { charge, paidCharge } from "../support/charges.ts"
import { clientOf, onPostgres, postgres } from "../support/database.ts"
import { gatewayOnce, payout, startClient, startSheets, startWorker } from "../support/payoutQueue.ts"
import { paid, stateOf } from "../support/payoutSeen.ts"
import { insertPayout } from "../support/submitSql.ts"
import { exhaust } from "../support/webhooks.ts"

const file = readFileSync(resolve(import.meta.dirname, "../../docs/sql/roles.sql"), "utf8")
const logins = {
  application: "effect_pix_application",
  worker: "effect_pix_worker",
  program: "effect_pix_application, effect_pix_worker",
  operator: "effect_pix_operator"
}
const fast = { poll: "20 millis" } as const

const queueTables = startClient()
const webhookTables = Layer.build(Webhook.layerSql({ name: "shop" }))

/** A database with some of the tables and the roles, and a client for each login. */
const madeWith = Effect.fnUntraced(function* (tables: "queue" | "webhook" | "both") {
  const { url } = yield* postgres
  const client = (of: string) => Layer.build(Layer.fresh(clientOf(of, { maxConnections: 4 })))
  const owner = yield* client(url)
  const as = (login: keyof typeof logins) =>
    client(url.replace("postgres@", `${login}_${new URL(url).pathname.slice(1)}@`))
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (tables !== "webhook") yield* queueTables
    if (tables !== "queue") yield* webhookTables
    // A second time, as after a new version.
    for (const statement of `${file}\n${file}`.split(/;\n\n/)) yield* sql.unsafe(statement)
    for (const [login, roles] of Object.entries(logins))
      yield* sql.unsafe(`CREATE ROLE ${login}_${new URL(url).pathname.slice(1)} LOGIN IN ROLE ${roles}`)
  }).pipe(Effect.scoped, Effect.provide(owner))
  return { as, owner }
})
const made = madeWith("both")

const item = (reference: string, amount: number) => ({ ...payout(reference, amount), by: "ana" })

onPostgres(
  "the roles let the application submit, the worker send, and the operator take every step",
  gatewayOnce,
  function* () {
    const { as } = yield* made
    const operator = yield* Effect.provide(startClient(fast), yield* as("operator"))
    const told: Array<string> = []
    const onState: OnState = ({ reference, state }) =>
      reference === "one" ? Effect.fail("broken") : Effect.sync(() => told.push(`${reference} ${state}`))
    yield* Effect.provide(startWorker({ ...fast, dailyCap: 100_000, onState }), yield* as("worker"))
    yield* Effect.gen(function* () {
      const { queue, run: sheet } = yield* startSheets(fast)
      assert.deepStrictEqual(yield* Effect.replicateEffect(insertPayout(item("inserted", 1100)), 2), [1, 0])
      yield* queue.submit(item("single", 1200))
      assert.strictEqual((yield* queue.submit({ ...item("begun", 1250), earlier: "Unknown" })).state, "unknown")
      for (const reference of ["inserted", "single", "begun"]) yield* queue.await(reference)
      assert.lengthOf((yield* sheet([item("one", 1300), item("two", 1400)])).done, 2)
      assert.strictEqual(yield* paid, 5)
      const { idempotencyKey } = yield* queue.submit(item("single", 1200))
      assert.isTrue(Option.isSome(yield* queue.hint({ idempotencyKey, status: "failure" })))
      yield* operator.setPaused(true)
      yield* queue.submitMany([item("a", 2100), item("b", 2200)])
      const by = "bia"
      yield* operator.retry("a", { by })
      for (const reference of ["a", "b"]) yield* operator.park(reference, { by })
      yield* operator.resume("a", { by })
      yield* operator.settle("b", { by })
      yield* operator.forget("b", { by })
      yield* operator.payee("b")
      yield* operator.settle("b", { as: "failed", by })
      const later = DateTime.add(yield* DateTime.now, { days: 3 })
      yield* insertPayout({ ...item("c", 2300), notBefore: later })
      yield* queue.submit({ ...item("d", 2400), notBefore: later })
      for (const reference of ["c", "d"]) {
        yield* Effect.repeat(stateOf(queue, reference), { until: (state) => state === "accepted NotBefore" })
        yield* operator.cancel(reference, { by })
      }
      assert.lengthOf(yield* Stream.runCollect(operator.list()), 9)
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => told.includes("b failed") })
      assert.includeMembers(told, ["inserted posted", "b parked", "b paid"])
      const die = SqlClient.SqlClient.use(
        (own) => own`UPDATE effect_pix_payout_states SET state = 'Dead', taken_by = NULL`
      )
      yield* Effect.provide(die, yield* as("operator"))
      // One that is retried may be handed out at once.
      for (const [at, { id }] of (yield* operator.deadLetters).entries())
        assert.isTrue(yield* at === 0 ? operator.discardLetter(id, { by }) : operator.retryLetter(id, { by }))
      assert.deepStrictEqual(yield* operator.deadLetters, [])
      const digest = "3f2a91c0".repeat(8)
      const parkTwo = SqlClient.SqlClient.use(
        (own) => own`UPDATE effect_pix_payouts SET state = 'parked', because = 'RefusalUnknown', digest = ${digest},
          may_have_left_at = 1 WHERE reference = 'two'`
      )
      yield* Effect.provide(parkTwo, yield* as("operator"))
      assert.lengthOf(yield* operator.judge(digest, { as: "refused", seen: "two", by }), 1)
      assert.lengthOf(yield* operator.sentences, 1)
      yield* operator.changeSender("a".repeat(40), { by })
    }).pipe(Effect.provide(yield* as("application")))
  }
)

onPostgres("the roles let the worker doubt after a failover, and delete data", gatewayOnce, function* () {
  const { as, owner } = yield* made
  const worker = yield* as("worker")
  const served = Effect.scoped(Effect.provide(startWorker(fast), worker))
  yield* served
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* startClient(fast)
    yield* queue.submit(item("a", 5000))
    yield* sql`UPDATE effect_pix_payout_accounts SET identity = 'x' || identity`
    yield* Effect.scoped(Effect.provide(Effect.andThen(startWorker(fast), queue.await("a")), yield* as("worker")))
    assert.strictEqual((yield* queue.history("a"))[1]?._tag, "Doubted")
    yield* sql`UPDATE effect_pix_payouts SET updated_at = 1`
    const forgetting = startWorker({ ...fast, forget: { data: "1 day" } })
    const left = sql`SELECT 1 FROM effect_pix_payouts WHERE request IS NOT NULL`
    yield* Effect.scoped(
      Effect.provide(
        Effect.andThen(forgetting, Effect.repeat(left, { until: ({ length }) => length === 0 })),
        yield* as("worker")
      )
    )
  }).pipe(Effect.provide(owner))
})

onPostgres(
  "the roles are made on a database with the tables of the queue, or of the webhook, alone",
  gatewayOnce,
  function* () {
    const queue = yield* madeWith("queue")
    yield* Effect.gen(function* () {
      const queue = yield* startWorker(fast)
      yield* queue.submit(item("a", 5000))
      yield* queue.await("a")
    }).pipe(Effect.provide(yield* queue.as("program")))
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { reason } = yield* Effect.flip(sql`UPDATE effect_pix_payout_history SET entry = '{}'`)
      assert.strictEqual(reason._tag, "AuthorizationError")
    }).pipe(Effect.provide(queue.owner))

    const webhook = yield* madeWith("webhook")
    const id = yield* paidCharge
    const delivery = new Request("https://shop.example/", {
      method: "POST",
      body: JSON.stringify({ transactionId: id })
    })
    yield* Effect.gen(function* () {
      assert.strictEqual((yield* (yield* Webhook).answer(delivery)).status, 200)
      yield* (yield* WebhookClient).idle
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          Webhook.layerSql({ name: "shop", ...fast }),
          Layer.succeedContext(yield* webhook.as("program"))
        )
      )
    )
  }
)

onPostgres("the roles are not made on a database without tables, which is said", function* () {
  const { url } = yield* postgres
  const make = Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(file.split(/;\n\n/), (statement) => sql.unsafe(statement), { discard: true })
  )
  const error = yield* Effect.flip(Effect.provide(make, Layer.fresh(clientOf(url))))
  assert.include(String(Reflect.get(Object(error.reason.cause), "message")), "run postgresql.sql first")
})

onPostgres(
  "the roles let a program handle deliveries, and the operator discard a dead letter",
  gatewayOnce,
  function* () {
    const { as } = yield* made
    const { id } = yield* charge
    yield* (yield* Sandbox).markPaid(id)
    const body = JSON.stringify({ transactionId: id, status: "Paid" })
    yield* Effect.gen(function* () {
      const { answer } = yield* Webhook
      const { idle } = yield* WebhookClient
      yield* answer(new Request("https://shop.example/webhooks/pix", { method: "POST", body }))
      yield* exhaust("failed", 1)
      yield* idle
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          Webhook.layerSql({ name: "shop", ...fast, onPaid: () => Effect.fail("away") }),
          Layer.succeedContext(yield* as("program"))
        )
      )
    )
    const dead = yield* Effect.provide(Layer.build(Webhook.layerClient({ name: "shop" })), yield* as("operator"))
    assert.isTrue(yield* Context.get(dead, WebhookClient).discard(id, { by: "ana" }))
  }
)

onPostgres("the roles deny changes of the history, and of what was submitted", gatewayOnce, function* () {
  const { as, owner } = yield* made
  yield* Effect.gen(function* () {
    const queue = yield* startClient()
    for (const one of [item("big", 6000), item("small", 1000)]) yield* queue.submit(one)
    yield* queue.park("small", { by: "ana" })
  }).pipe(Effect.provide(owner))
  const set = (change: string) => `UPDATE effect_pix_payouts SET ${change} WHERE reference = 'big'`
  const insert = (column: string, value: string) =>
    `INSERT INTO effect_pix_payouts (idempotency_key, reference, amount, ${column}) VALUES ('k', 'k', 1000, ${value})`
  const history = ["UPDATE effect_pix_payout_history SET entry = '{}'", "DELETE FROM effect_pix_payout_history"]
  const content = ["amount = 1", "request = '{}'", "submitted_by = 'bia'"].map(set)
  const all = [
    ...history,
    ...content,
    "DELETE FROM effect_pix_payouts",
    "DELETE FROM effect_pix_payout_accounts",
    "TRUNCATE effect_pix_payout_history",
    "UPDATE effect_pix_payouts_migrations SET name = 'x'",
    insert("sends", "1")
  ]
  const submits = insert("submitted_by", "'ana'")
  const denied = [
    ["application", yield* as("application"), all],
    ["worker", yield* as("worker"), [...all, submits]],
    ["program", yield* as("program"), all],
    ["operator", yield* as("operator"), [...all, submits]],
    ["owner", owner, [...history, ...content]]
  ] as const
  for (const [login, client, statements] of denied) {
    for (const statement of statements) {
      const { reason } = yield* Effect.flip(Context.get(client, SqlClient.SqlClient).unsafe(statement))
      assert.strictEqual(reason._tag, "AuthorizationError", `${login}: ${statement}`)
    }
  }
})

const denies = (effect: Effect.Effect<unknown, { readonly message: string }>) =>
  Effect.map(Effect.flip(effect), ({ message }) => assert.include(message, "AuthorizationError"))

onPostgres(
  "the operator settles, judges and sets limits, and may not submit; no role that submits or sends may",
  gatewayOnce,
  function* () {
    const { as, owner } = yield* made
    yield* Effect.provide(startWorker(fast), yield* as("worker"))
    yield* Effect.gen(function* () {
      const queue = yield* startClient()
      yield* queue.setPaused(true)
      for (const reference of ["parked", "waiting"]) yield* queue.submit(item(reference, 1000))
      yield* queue.park("parked", { by: "ana" })
    }).pipe(Effect.provide(owner))
    const limits = { window: { from: "00:00", to: "23:59" } }
    for (const login of ["application", "worker", "program"] as const) {
      const queue = yield* Effect.provide(startClient(), yield* as(login))
      for (const as of ["paid", "failed"] as const) yield* denies(queue.settle("parked", { as, by: "ana" }))
      for (const reference of ["parked", "waiting"]) yield* denies(queue.cancel(reference, { by: "ana" }))
      yield* denies(queue.resume("parked", { by: "ana" }))
      yield* denies(queue.retry("waiting", { by: "ana" }))
      yield* denies(queue.setLimits(limits, { by: "ana" }))
      yield* denies(queue.setPaused(false, { by: "ana" }))
      // A process whose options set a first limit needs the role too.
      yield* denies(Effect.scoped(Effect.provide(startClient(limits), yield* as(login))))
    }
    const operator = yield* Effect.provide(startClient(), yield* as("operator"))
    yield* denies(operator.submit(item("own", 1000)))
    yield* operator.setLimits(limits, { by: "bia" })
    yield* operator.settle("parked", { as: "failed", by: "bia" })
    yield* operator.cancel("waiting", { by: "bia" })
    yield* operator.setPaused(false, { by: "bia" })
  }
)

const temporary = [
  "CREATE TEMP TABLE effect_pix_payouts AS SELECT account, idempotency_key, NULL::bigint AS amount FROM public.effect_pix_payouts",
  "CREATE TEMP TABLE effect_pix_payout_accounts (account text, paused boolean)"
]
/** What a login does before, in its transaction, so that a guard finds its tables or functions. */
const preludes = [
  [],
  temporary,
  [...temporary, "SET search_path = pg_temp, public"],
  [
    "CREATE FUNCTION pg_temp.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT TRUE'",
    "SET search_path = pg_temp, pg_catalog, public"
  ]
]
const payoutOf = (reference: string, change: string) =>
  `UPDATE public.effect_pix_payouts SET ${change} WHERE reference = '${reference}'`
const inserted = (columns: string, values: string) =>
  `INSERT INTO public.effect_pix_payouts (idempotency_key, reference, amount, ${columns}) VALUES ('k', 'k', 1000, ${values})`
const entryOf = (entry: string) =>
  `INSERT INTO public.effect_pix_payout_history (account, idempotency_key, entry) VALUES ('default', 'k', '${entry}')`

const guarded = [
  "DELETE FROM public.effect_pix_payout_history WHERE idempotency_key <> 'account'",
  "UPDATE public.effect_pix_payout_history SET entry = '{}'",
  payoutOf("small", "amount = 1"),
  payoutOf("small", "request = '{}'"),
  "TRUNCATE public.effect_pix_payout_history"
]
const ofPerson = [
  payoutOf("small", "state = 'accepted'"),
  payoutOf("small", "state = 'unknown'"),
  payoutOf("small", "state = 'cancelled'"),
  payoutOf("small", "state = 'paid', ended_by = 'person'"),
  "UPDATE public.effect_pix_payout_accounts SET paused = FALSE",
  "UPDATE public.effect_pix_payout_accounts SET window_from = NULL",
  ...["Settled", "Resumed", "Retried", "Cancelled", "Approved", "Forgotten"].map((tag) =>
    entryOf(`{"_tag":"${tag}","by":"bia"}`)
  ),
  entryOf('{"_tag":"Marked","by":"bia","_tag":"Settled"}'),
  entryOf('{"_tag":"Parked","because":"Operator","by":"bia"}'),
  entryOf('{"_tag":"Parked","because":"PastHorizon","by":"bia"}'),
  entryOf('{"_tag":"Parked","because":"PastHorizon","n\\u006fte":"bia says that it was paid"}'),
  entryOf('{"step":"Changed"}'),
  ...["effect_pix_operator", "postgres"].map((role) => `SET ROLE ${role}`),
  "GRANT effect_pix_operator TO CURRENT_USER"
]
const ofNobody = [
  "SET SESSION AUTHORIZATION postgres",
  "SET session_replication_role = replica",
  "ALTER TABLE public.effect_pix_payouts DISABLE TRIGGER ALL",
  "DROP TRIGGER effect_pix_payout_history_guard ON public.effect_pix_payout_history",
  "CREATE OR REPLACE FUNCTION public.effect_pix_payouts_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
]
const sent = [
  inserted("state", "'paid'"),
  inserted("state", "'posted'"),
  inserted("state, sends", "'accepted', 1"),
  inserted("contradicted", "TRUE"),
  inserted("ended_by", "'lookup'")
]
const ofWorker = ["Marked", "Answered", "LookedUp", "Doubted"].map((tag) => entryOf(`{"_tag":"${tag}"}`))

onPostgres(
  "no login passes a guard by a temporary table or function, by its search_path, or as another role",
  gatewayOnce,
  function* () {
    const { as, owner } = yield* made
    yield* Effect.gen(function* () {
      const queue = yield* startClient()
      for (const one of [item("big", 6000), item("small", 1000)]) yield* queue.submit(one)
      yield* queue.park("small", { by: "ana" })
      yield* queue.setPaused(true)
    }).pipe(Effect.provide(owner))
    const attacks = [
      ["application", [...guarded, ...ofPerson, ...sent, ...ofWorker]],
      ["worker", [...guarded, ...ofPerson, ...sent]],
      ["program", [...guarded, ...ofPerson, ...sent]],
      ["operator", [...guarded, ...sent]]
    ] as const
    for (const [login, statements] of attacks) {
      const sql = Context.get(yield* as(login), SqlClient.SqlClient)
      for (const prelude of preludes)
        for (const statement of [...statements, ...ofNobody]) {
          const attack = Effect.andThen(
            Effect.forEach(prelude, (before) => Effect.orDie(sql.unsafe(before))),
            sql.unsafe(statement)
          )
          const { reason } = yield* Effect.flip(sql.withTransaction(attack))
          assert.strictEqual(reason._tag, "AuthorizationError", [login, ...prelude, statement].join("; "))
        }
    }
  }
)
