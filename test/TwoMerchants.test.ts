/**
 * Two companies in one program and one database: `Merchants`, a queue of payouts and a webhook for each, the operator's command,
 * and a secret that is rotated. At the end the ledgers of both gateways agree with the books of the program.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Logger, type Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { IdempotencyKey, IdempotencyKeyGen, Merchants, Money, Payments, PixKey } from "effect-pix"
import { type PayoutItem, PayoutQueue } from "effect-pix/payouts"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Webhook, type WebhookEvent } from "effect-pix/webhook"
import { runHere } from "./support/command.ts"
import { databases } from "./support/operated.ts"
import { charge } from "./support/operations.ts"
import { live } from "./support/effect.ts"

const names = ["padaria", "mercado"] as const
type Name = (typeof names)[number]
const pixKey = PixKey.evp("123e4567-e89b-42d3-a456-426614174000")
const balance = 500_000

/** The gateway of each company, and one transport that reaches both. */
const gateways = Effect.gen(function* () {
  const built = yield* Effect.forEach(names, (name, index) =>
    Layer.build(
      Layer.provide(
        Layer.fresh(Sandbox.layer),
        Layer.succeed(SandboxOptions, { balance, clientId: `client-of-${name}`, companyId: index + 1 })
      )
    )
  )
  const contexts = new Map(names.map((name, index) => [name as string, built[index] ?? Context.empty()]))
  const of = (name: string) => Context.getUnsafe(contexts.get(name) ?? Context.empty(), Sandbox)
  const transport = HttpClient.make((request) => {
    const name = request.headers["x-client-id"]?.slice("client-of-".length) ?? ""
    return Context.getUnsafe(contexts.get(name) ?? Context.empty(), HttpClient.HttpClient).execute(request)
  })
  return { of, transport }
})

type Gateways = Effect.Success<typeof gateways>

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS books (company TEXT, charge TEXT, amount INTEGER)`
  yield* sql`CREATE TABLE IF NOT EXISTS invoices (company TEXT, reference TEXT, amount INTEGER)`
})

/** One company's part of the program. */
const company = Effect.fnUntraced(function* (name: Name) {
  const sql = yield* SqlClient.SqlClient
  const { get } = yield* Merchants
  const onPaid = ({ transaction: { transactionId, value } }: WebhookEvent.Confirmed) =>
    sql`INSERT INTO books VALUES (${name}, ${transactionId}, ${value})`
  const poll = "20 millis"
  const layer = Layer.mergeAll(
    PayoutQueue.layer({ account: name, poll }),
    Webhook.layerSql({ name, poll, onPaid })
  ).pipe(Layer.provideMerge(get(name)))
  const context = yield* Layer.build(layer)
  const queue = Context.get(context, PayoutQueue)
  return {
    name,
    queue,
    payments: Context.get(context, Payments),
    webhook: Context.get(context, Webhook),
    /** Owes a payout in the transaction that writes its invoice. */
    owe: (item: PayoutItem) =>
      sql.withTransaction(
        Effect.andThen(
          sql`INSERT INTO invoices VALUES (${name}, ${item.reference}, ${item.amount})`,
          queue.submit(item)
        )
      )
  }
})

type Company = Effect.Success<ReturnType<typeof company>>

/** Runs the program of both companies until the effect ends, as a process of its own would. */
const program = <A, E>(
  client: Layer.Layer<SqlClient.SqlClient, unknown>,
  { of, transport }: Gateways,
  effect: (companies: readonly [Company, Company]) => Effect.Effect<A, E, SqlClient.SqlClient | Scope.Scope>
) => {
  const merchants = Merchants.layer({
    baseUrl: "https://sandbox.example",
    load: (name) => {
      const { companyId, credentials } = of(name)
      return Effect.map(credentials, (loaded) => ({ ...loaded, companyId }))
    }
  }).pipe(Layer.provide([Layer.succeed(HttpClient.HttpClient, transport), IdempotencyKeyGen.layer]))
  return Effect.gen(function* () {
    yield* tables
    return yield* effect([yield* company("padaria"), yield* company("mercado")])
  }).pipe(Effect.scoped, Effect.provide(Layer.provideMerge(merchants, client)))
}

const sumOf = (amounts: ReadonlyArray<{ readonly amount: number }>) =>
  amounts.reduce((total, { amount }) => total + amount, 0)

/** Compares the ledger of a company's gateway with the invoices, the queue and the books of the program. */
const compareBooks = Effect.fnUntraced(function* (name: Name, queue: Company["queue"], sandbox: Sandbox["Service"]) {
  const sql = yield* SqlClient.SqlClient
  const withdrawals = yield* sandbox.withdrawals
  const paid = (yield* sandbox.transactions).filter(({ status }) => status === "Paid")
  const invoices = yield* sql<{ readonly reference: string; readonly amount: unknown }>`
    SELECT reference, amount FROM invoices WHERE company = ${name} ORDER BY reference`
  assert.lengthOf(invoices, 3)
  assert.sameDeepMembers(
    withdrawals.map(({ amount, idempotencyKey }) => ({ key: idempotencyKey, amount })),
    invoices.map(({ amount, reference }) => ({
      key: IdempotencyKey.fromReference("payout-account", `${name}/${reference}`),
      amount: Money.centavos(Number(amount))
    }))
  )
  assert.deepStrictEqual(
    (yield* Stream.runCollect(queue.list())).map((row) => row.state === "posted" && [row.amount, row.withdrawalId]),
    withdrawals.map(({ amount, id }) => [amount, id])
  )
  const books = yield* sql<{ readonly charge: string; readonly amount: unknown }>`
    SELECT charge, amount FROM books WHERE company = ${name}`
  assert.deepStrictEqual(
    books.map(({ amount, charge: id }) => [id, Number(amount)]),
    paid.map(({ amount, transactionId }) => [transactionId, amount])
  )
  assert.strictEqual(yield* sandbox.balance, balance + sumOf(paid) - sumOf(withdrawals))
})

const itemOf = (reference: string, amount: number) => ({ reference, amount: Money.centavos(amount) })

describe.each(databases)("two companies in %s", (_, database) => {
  live(
    "share a program, and the ledger of each gateway agrees with the books of its company",
    Logger.layer([]),
    function* () {
      const { client, env } = yield* database
      const both = yield* gateways
      const command = (line: string) => runHere(["payouts", ...line.split(" ")], env)

      // The first process: the answer of a payout is lost, a secret is rotated, and one company has no registered key.
      yield* program(client, both, ([padaria, mercado]) =>
        Effect.gen(function* () {
          for (const [index, { name, owe, payments, queue, webhook }] of [padaria, mercado].entries()) {
            const sandbox = both.of(name)
            yield* sandbox.subscribe((request) => webhook.answer(request))
            const paid = yield* payments.createTransaction({ ...charge, amount: Money.centavos(2500 + index) })
            yield* payments.createTransaction(charge)
            yield* sandbox.markPaid(paid.id)
            yield* sandbox.fault("requestWithdrawal", [Fault.none, Fault.resetAfter])
            for (const item of [
              itemOf("invoice-1", 10_000 + index),
              { ...itemOf("invoice-2", 20_000 + index), pixKey }
            ]) {
              yield* owe(item)
              assert.strictEqual((yield* queue.await(item.reference)).state, "posted")
            }
            yield* sandbox.awaitWebhooks
            yield* webhook.idle
          }
          const sandbox = both.of("mercado")
          yield* sandbox.rotateCredentials
          const words = "Nenhuma chave PIX informada e nenhuma chave PIX cadastrada na conta bancária da empresa."
          yield* sandbox.fault("requestWithdrawal", Fault.refusal(422, words))
          yield* mercado.owe(itemOf("invoice-3", 30_000))
          assert.strictEqual((yield* mercado.queue.await("invoice-3")).state, "refused")
        })
      )

      // A person looks, sends the refused payout again, and stops the other company.
      const refused = (name: Name) =>
        Effect.map(command(`list --account ${name} --state refused --json`), ({ stdout }) => stdout)
      assert.deepInclude(JSON.parse(yield* refused("mercado")), { reference: "invoice-3", amount: 30_000 })
      assert.strictEqual(yield* refused("padaria"), "")
      for (const step of ["retry invoice-3 --account mercado", "pause --account padaria"])
        assert.deepInclude(yield* command(`${step} --by ana --yes`), { code: 0 })

      // The next process: what was sent again leaves, and the company that was stopped pays when it goes on.
      yield* program(client, both, ([padaria, mercado]) =>
        Effect.gen(function* () {
          yield* padaria.owe(itemOf("invoice-3", 30_000))
          assert.strictEqual((yield* mercado.queue.await("invoice-3")).state, "posted")
          assert.lengthOf(yield* both.of("padaria").withdrawals, 2)
          yield* padaria.queue.setPaused(false)
          assert.strictEqual((yield* padaria.queue.await("invoice-3")).state, "posted")
          yield* Effect.forEach([padaria, mercado], ({ name, queue }) => compareBooks(name, queue, both.of(name)))
        })
      )
      assert.match((yield* command("show invoice-3 --account mercado")).stdout, /ana/)
    }
  )
})
