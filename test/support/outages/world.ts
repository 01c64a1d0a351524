/**
 * A shop that charges, is paid, takes webhooks and pays out, on a gateway in memory and a database in memory, by the clock of a test:
 * what an operator sees of it is taken each minute, as Prometheus takes it.
 */
import {
  Clock,
  Context,
  type DateTime,
  Effect,
  Fiber,
  Layer,
  Logger,
  Metric,
  Random,
  Redacted,
  References
} from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Merchants, Money, Payments, PaymentsPolicy, type PaymentsPolicy as Policy, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutConfirmingOptions, PayoutQueue, type Seal } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { Webhook, type WebhookVerifier } from "effect-pix/webhook"
import { samplesOf } from "../exporters.ts"
import { calm, length, type Played } from "./played.ts"
import { wrongClock } from "../exported.ts"

export const minutes = (n: number): number => n * 60_000
/** What an outage may be made of. */
export interface World {
  readonly sandbox: Sandbox["Service"]
  readonly sql: SqlClient.SqlClient
  /** Answers in place of the gateway. */
  gateway: (request: HttpClientRequest.HttpClientRequest, now: number) => Response | undefined
  /** The gateway's word for what is paid, if it is another one than the documented. */
  word: string | undefined
  /** Whether the gateway sends webhooks. */
  delivers: boolean
  /** How far the clock of the program is ahead, in milliseconds. */
  ahead: number
  /** What the shop's own code answers to a payment. */
  onPaid: Effect.Effect<void, string>
  /** What the shop's books answer to a state of a payout. */
  onState: Effect.Effect<void, string>
  /** Of a payout that is submitted now. */
  notBefore: DateTime.DateTime | undefined
  /** What becomes of the payouts. */
  ends: "arrive" | "come back"
  /** Who may deliver. */
  verifier: Effect.Effect<void, WebhookVerifier.WebhookRefused>
  /** The key with which the workers open what was sealed with the first one. */
  sealKey: string
  /** A delivery of the gateway. */
  deliver: (id: string, status: string) => Effect.Effect<unknown, unknown>
  /** The charges that were paid. */
  readonly paid: Array<string>
  /** The queue of the first merchant. */
  queue: PayoutQueue["Service"] | undefined
  /** A program that is killed and started anew. */
  readonly restart: Effect.Effect<void>
}

export interface Setting {
  readonly merchants?: ReadonlyArray<string>
  readonly policy?: Partial<Policy>
  readonly queue?: Partial<PayoutConfirmingOptions>
  /** Whether the shop writes how its payouts go on into its books. */
  readonly books?: boolean
}

const clientOf = (world: World, inner: HttpClient.HttpClient, clock: Clock.Clock) =>
  HttpClient.make((request) =>
    Effect.gen(function* () {
      const now = clock.currentTimeMillisUnsafe()
      const answered = world.gateway(request, now)
      const date = { date: new Date(now).toUTCString() }
      if (answered !== undefined) {
        answered.headers.set("date", date.date)
        return HttpClientResponse.fromWeb(request, answered)
      }
      // All merchants are customers of one gateway in memory.
      const response = yield* inner.execute(HttpClientRequest.setHeader(request, "x-client-id", "sandbox-client"))
      if (world.word !== undefined && request.method === "GET") {
        const text = (yield* response.text).replace(/("enStatusTransaction":)"Paid"/, `$1"${world.word}"`)
        const headers = { "content-type": "application/json", ...date }
        return HttpClientResponse.fromWeb(request, new Response(text, { status: response.status, headers }))
      }
      return new Proxy(response, {
        get: (target, name) => {
          if (name === "headers") return { ...target.headers, ...date }
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === "function" ? value.bind(target) : value
        }
      })
    }).pipe(Effect.provideService(Clock.Clock, clock))
  )

const charge = {
  amount: Money.centavos(2500),
  paymentMethod: "PIX",
  customer: { name: "Maria Silva", email: "maria@example.com" }
} as const

const pixKey = PixKey.email("maria@example.com")

/** A seal whose key may be another one than that with which it sealed. */
const sealOf = (world: World): Seal.Seal => ({
  seal: (text) => Effect.succeed(`first ${text}`),
  open: (text) =>
    text.startsWith(world.sealKey)
      ? Effect.succeed(text.slice(world.sealKey.length + 1))
      : Effect.die(Object.assign(new Error("another key"), { name: "UnknownSealKey" }))
})

/** The webhook and the queue of a merchant. */
const partsOf = (world: World, merchant: string, { books, queue }: Setting) =>
  Layer.unwrap(
    Effect.map(Merchants, ({ get }) =>
      Webhook.layerSql({
        name: merchant,
        verifier: () => world.verifier,
        onPaid: () => world.onPaid,
        onRefunded: () => Effect.void,
        onWithdrawal: (hint) => PayoutQueue.use((queue) => Effect.flatMap(queue.hint(hint), Effect.fromOption))
      }).pipe(
        Layer.provideMerge(
          PayoutQueue.layer({
            account: merchant,
            confirm: true,
            poll: "5 seconds",
            seal: sealOf(world),
            ...(books === true && { onState: () => world.onState }),
            ...queue
          })
        ),
        Layer.provide(get(merchant))
      )
    )
  )

const every = <E, R>(seconds: number, effect: (n: number) => Effect.Effect<unknown, E, R>) => {
  let n = 0
  // What fails is the customer's, and what hangs holds up nobody.
  const one = Effect.suspend(() => Effect.forkChild(Effect.exit(effect(n++)), { startImmediately: true }))
  return Effect.forever(Effect.andThen(one, Effect.sleep(seconds * 1000)))
}

/** A process: it charges every 10 seconds and pays out every 20. Who is charged pays after 5, and a payout is paid after 30. */
const program = (world: World, setting: Setting, count: { charges: number; payouts: number }) =>
  Effect.gen(function* () {
    const merchants = setting.merchants ?? ["shop"]
    const { get } = yield* Merchants
    const parts = new Map<string, Context.Context<Webhook | PayoutQueue>>()
    for (const merchant of merchants) parts.set(merchant, yield* Layer.build(partsOf(world, merchant, setting)))
    const of = (n: number) => merchants[n % merchants.length] ?? "shop"
    const contextOf = (merchant: string) => {
      const found = parts.get(merchant)
      if (found === undefined) throw new Error(`there is no merchant ${merchant}`)
      return found
    }
    world.queue = Context.get(contextOf(of(0)), PayoutQueue)
    const deliver = (merchant: string, payload: Readonly<Record<string, unknown>>) =>
      Effect.suspend(() => {
        const body = JSON.stringify(payload)
        const request = new Request("https://shop.example/webhooks/pix", { method: "POST", body })
        return world.delivers ? Context.get(contextOf(merchant), Webhook).answer(request) : Effect.void
      })
    const sell = (merchant: string) =>
      Effect.gen(function* () {
        const payments = yield* Payments
        const { id } = yield* payments.createTransaction(charge)
        yield* Effect.sleep("5 seconds")
        yield* world.sandbox.markPaid(id)
        world.paid.push(id)
        yield* deliver(merchant, { transactionId: id, status: "Paid" })
      }).pipe(Effect.provide(get(merchant)))
    const payOut = (merchant: string, n: number) =>
      Context.get(contextOf(merchant), PayoutQueue).submit({
        reference: `invoice-${n}`,
        amount: Money.centavos(2000 + n),
        pixKey,
        ...(world.notBefore !== undefined && { notBefore: world.notBefore })
      })
    const arrive = (id: number) =>
      Effect.andThen(
        world.sandbox.settleWithdrawal(id),
        Effect.suspend(() => (world.ends === "arrive" ? Effect.void : world.sandbox.returnWithdrawal(id)))
      )
    const pay = Effect.flatMap(world.sandbox.withdrawals, (all) =>
      Effect.forEach(
        all.filter(({ status }) => status === "Awaiting" || status === "Processing"),
        ({ id }) => Effect.ignore(arrive(id))
      )
    )
    world.deliver = (transactionId, status) => deliver(of(0), { transactionId, status })
    /** The gateway tells each withdrawal at once, also where its answer is late. */
    const told = new Set<number>()
    const tell = Effect.flatMap(merchants.length > 1 ? Effect.succeed([]) : world.sandbox.withdrawals, (all) =>
      Effect.forEach(
        all.filter(({ id }) => !told.has(id)),
        ({ id }) => {
          told.add(id)
          return deliver(of(0), { object: "withdraw", withdrawId: id, status: "pending" })
        }
      )
    )
    yield* Effect.all(
      [
        every(10, () => sell(of(count.charges++))),
        every(20, () => payOut(of(count.payouts), count.payouts++)),
        every(30, () => pay),
        every(2, () => tell)
      ],
      { concurrency: "unbounded" }
    )
  })

/** Plays a shop whose outage begins after the calm minutes. */
export const play = (setting: Setting, begin: (world: World) => Effect.Effect<unknown, unknown>) =>
  Effect.suspend(() => {
    const lines = new Map<string, number>()
    let isCounted = false
    const counter = Logger.make(({ message }) => {
      // Each line begins with words of its own: what follows may be a reference or a number.
      const words = String(Array.isArray(message) ? message[0] : message).split(/ (?=\S*\d)|[:,(]/)[0] ?? ""
      // A line of the double is none of a real gateway's customer.
      if (isCounted && !words.startsWith("A planned fault")) lines.set(words, (lines.get(words) ?? 0) + 1)
    })
    const begun = Effect.sync(() => {
      isCounted = true
    })
    return Effect.map(playing(setting, begin, begun), (series): Played => ({ series, lines })).pipe(
      Effect.provide(Logger.layer([counter])),
      Effect.provideService(References.MinimumLogLevel, "Info")
    )
  })

const playing = (
  setting: Setting,
  begin: (world: World) => Effect.Effect<unknown, unknown>,
  begun: Effect.Effect<void>
) =>
  Effect.gen(function* () {
    // A clock that is slow shows no time before 1970.
    yield* TestClock.setTime(86_400_000)
    const clock = yield* Clock.Clock
    const outer = yield* Effect.scope
    const sandboxed = yield* Layer.build(
      Layer.fresh(
        Layer.provide(Sandbox.layer, Layer.succeed(SandboxOptions, { balance: 100_000_000, as: "seen", keep: 10 }))
      )
    )
    const database = yield* Layer.build(Layer.fresh(NodeSqlite.layer({ filename: ":memory:" })))
    const count = { charges: 0, payouts: 0 }
    let registry = new Map()
    let running: Fiber.Fiber<unknown, unknown> | undefined
    const stop = Effect.suspend(() => (running === undefined ? Effect.void : Fiber.interrupt(running)))
    const start = Effect.suspend(() => {
      registry = new Map()
      const transport = Layer.succeed(
        HttpClient.HttpClient,
        clientOf(world, Context.get(sandboxed, HttpClient.HttpClient), clock)
      )
      const merchants = Merchants.layer({
        baseUrl: "https://gateway.example",
        load: (merchant) =>
          Effect.succeed({ clientId: `client-of-${merchant}`, apiKey: Redacted.make("sandbox-key"), companyId: 1 }),
        inMetrics: 10
      }).pipe(Layer.provide(transport))
      return program(world, setting, count).pipe(
        Effect.scoped,
        Effect.provide([merchants, Layer.succeedContext(database), PaymentsPolicy.layer(setting.policy ?? {})]),
        Effect.provideService(Metric.MetricRegistry, registry),
        Effect.provideService(Clock.Clock, wrongClock(clock, world)),
        Effect.tapCause(Effect.logError),
        Effect.forkIn(outer, { startImmediately: true }),
        Effect.map((fiber) => {
          running = fiber
        })
      )
    })
    const world: World = {
      sandbox: Context.get(sandboxed, Sandbox),
      sql: Context.get(database, SqlClient.SqlClient),
      gateway: () => undefined,
      word: undefined,
      delivers: true,
      ahead: 0,
      onPaid: Effect.void,
      onState: Effect.void,
      verifier: Effect.void,
      sealKey: "first",
      notBefore: undefined,
      ends: "arrive",
      deliver: () => Effect.void,
      paid: [],
      queue: undefined,
      restart: Effect.andThen(
        Effect.suspend(() => stop),
        Effect.suspend(() => start)
      )
    }
    yield* start
    const series = new Map<string, Array<string>>()
    const scrape = (at: number) => {
      const text = PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, registry))
      const samples = new Map(
        samplesOf(text).map(({ labels, name, value }) => [
          `${name}{job="shop", instance="a"${labels === "" ? "" : `, ${labels.replaceAll(/,(?=\w+=")/g, ", ")}`}}`,
          value
        ])
      )
      for (const key of samples.keys())
        if (!series.has(key))
          series.set(
            key,
            Array.from({ length: at }, () => "_")
          )
      for (const [key, values] of series) {
        const gone = values.at(-1) === "_" || values.at(-1) === "stale" ? "_" : "stale"
        values.push(samples.get(key) ?? gone)
      }
    }
    for (let at = 0; at <= length; at++) {
      if (at === calm) {
        yield* begun
        yield* Effect.forkIn(Effect.exit(begin(world)), outer, { startImmediately: true })
      }
      scrape(at)
      for (let second = 0; second < 60; second++) {
        // A turn of the event loop, so that promises continue.
        yield* TestClock.withLive(Effect.sleep(0))
        yield* TestClock.adjust("1 second")
      }
    }
    // A worker that stops waits for its requests.
    yield* Effect.raceFirst(
      stop,
      Effect.forever(Effect.andThen(TestClock.withLive(Effect.sleep(0)), TestClock.adjust("1 second")))
    )
    return series
  }).pipe(Effect.scoped, Random.withSeed("outages"))
