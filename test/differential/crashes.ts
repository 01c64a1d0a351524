/**
 * Kills: a queue of payouts, and a webhook, on SQLite. Each state that a kill may leave is started again, with the
 * gateway in the state of that time. The end of each reference and each transaction is compared, and so are the
 * payments and the handled events.
 */
import { Clock, Effect, Layer, Logger, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { charged, detail, withdrawn } from "./calls.ts"
import {
  isFinal,
  Money,
  NodeSqlite,
  once,
  PayoutQueue,
  PaymentsPolicy,
  paymentsOver,
  PixKey,
  Webhook
} from "./doors.ts"
import { type Answer, memoryGateway, type Reply } from "./gateway.ts"
import { errorName, failureOf, type Observation } from "./observation.ts"
import { recorder, type Snapshot } from "./snapshots.ts"

/** A time limit against a hang, longer than any case. */
const longest = "90 seconds"

/** Repeats a query until it returns a value. */
const until = <A, R>(look: Effect.Effect<A | undefined, unknown, R>): Effect.Effect<A | string, never, R> =>
  look.pipe(
    Effect.repeat({ schedule: Schedule.spaced("40 millis"), until: (found) => found !== undefined }),
    Effect.map((found): A | string => found ?? "nothing"),
    Effect.timeoutOrElse({ duration: longest, orElse: () => Effect.succeed("never ended") }),
    Effect.catchCause((cause) => Effect.succeed(`failed: ${errorName(failureOf({ _tag: "Failure", cause } as never))}`))
  )

const quiet = Logger.layer([])

/** Runs the program on a new file while snapshots are taken. Returns the outcome of a new start from each snapshot. */
const crash = <A>(options: {
  readonly kind: string
  readonly folder: string
  readonly now: () => { readonly phase: string; readonly world: A }
  readonly first: (file: string, take: () => void) => Effect.Effect<unknown>
  readonly modes: ReadonlyArray<string>
  readonly again: (file: string, world: A, mode: string) => Effect.Effect<string>
}) =>
  Effect.gen(function* () {
    const { again, first, folder, kind, modes, now } = options
    const file = join(folder, "first.db")
    const { stop, take } = recorder(file, now)
    const end = yield* Effect.ensuring(first(file, take), Effect.sync(stop))
    const snapshots: ReadonlyArray<Snapshot<A>> = stop()
    const runs = modes.flatMap((mode) =>
      snapshots.map((snapshot, at) => ({ mode, snapshot, file: join(folder, `${modes.indexOf(mode)}-${at}.db`) }))
    )
    const whole: Observation = {
      id: `${kind} | not killed`,
      kind: `${kind.split(":")[0]}, not killed`,
      dims: { script: kind },
      exact: { outcome: String(end) }
    }
    const each = runs.map(({ file, mode, snapshot }) =>
      Effect.suspend(() => {
        snapshot.restore(file)
        return Effect.map(again(file, snapshot.world, mode), (outcome) => ({
          kind,
          mode,
          outcome,
          phase: snapshot.phase
        }))
      })
    )
    return { whole, each }
  })

interface Outcome {
  readonly kind: string
  readonly mode: string
  readonly outcome: string
  readonly phase: string
}

/** The outcomes of a phase as a set. */
const grouped = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Observation> => {
  const groups = new Map<string, Array<Outcome>>()
  for (const one of outcomes) {
    const name = `${one.kind} | ${one.mode} | ${one.phase}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups].flatMap(([id, [first, ...rest]]): ReadonlyArray<Observation> => {
    if (first === undefined) return []
    const { kind, mode, phase } = first
    return [
      {
        id,
        kind: `${kind.split(":")[0]}, killed, then ${mode}`,
        dims: { script: kind, phase },
        exact: { outcomes: [...new Set([first, ...rest].map(({ outcome }) => outcome))].toSorted().join("; ") },
        note: `${kind}, killed ${phase}, then ${mode}`
      }
    ]
  })
}

type Turn = Reply | "pay" | "pay, lost"

const refusal: Answer = { status: 422, headers: { "content-type": "application/json" }, body: '{"message":"Recusado"}' }

/** The replies of the gateway to the requests of one reference. The last one is repeated. */
const payoutScripts: Readonly<Record<string, ReadonlyArray<Turn>>> = {
  paid: ["pay"],
  "paid, and the answer lost": ["pay, lost", "pay"],
  "503, then paid": [{ status: 503 }, "pay"],
  "unsent, then paid": ["unsent", "pay"],
  refused: [refusal],
  "429, then refused": [{ status: 429 }, refusal],
  "lost, then refused": ["lost", refusal]
}

/** The replies to a key that was paid before, after the process has started again. */
const afterwards: Readonly<Record<string, Reply | "pay" | "pay again">> = {
  "the key is known": "pay",
  "the key is refused in words": { ...refusal, body: '{"message":"Pagamento já existe"}' },
  "the key is refused without words": { status: 422 },
  "the key is refused unreadably": { status: 400, body: "\u0000<" },
  "the key is forgotten": "pay again"
}

interface Ledger {
  /** Whether the layer was built. */
  isUp: boolean
  paid: number
  requests: number
}

const payoutProgram = (
  file: string,
  reply: () => Reply | "pay" | "pay again" | "pay, lost",
  ledger: Ledger,
  take: () => void
) => {
  const { layer } = memoryGateway((request) => {
    ledger.requests += 1
    take()
    const turn = reply()
    if (turn !== "pay" && turn !== "pay, lost" && turn !== "pay again") return turn
    if (ledger.paid === 0 || turn === "pay again") ledger.paid += 1
    take()
    return turn === "pay, lost" ? "lost" : withdrawn(request, 1)
  })
  const queue = PayoutQueue.layer({ lease: "1 second", poll: "100 millis", concurrency: 1 }).pipe(
    Layer.provide([NodeSqlite.layer({ filename: file }), paymentsOver("https://gateway.example", layer)])
  )
  const item = { reference: "invoice-1", amount: Money.centavos(1000), pixKey: PixKey.email("maria@example.com") }
  let settledAt = 0
  return Effect.gen(function* () {
    const queue = yield* PayoutQueue
    ledger.isUp = true
    yield* queue.submit(item)
    const before = ledger.requests
    return yield* until(
      Effect.gen(function* () {
        const status = Option.getOrUndefined(yield* queue.status(item.reference))
        if (status === undefined) return undefined
        if (isFinal(status.state)) return `${status.state}, paid ${ledger.paid}`
        // A payout in doubt is repeated without end. It was repeated since the start, and there was time to store the
        // answer.
        const now = yield* Clock.currentTimeMillis
        if (status.state !== "unknown" || ledger.requests === before) return undefined
        if (settledAt === 0) settledAt = now
        return ledger.requests > before + 1 || now - settledAt > 2500
          ? `${status.state}, paid ${ledger.paid}`
          : undefined
      })
    )
  }).pipe(
    Effect.provide(Layer.provideMerge(queue, quiet)),
    Effect.provideService(PaymentsPolicy, once),
    Effect.catchCause((cause) => Effect.succeed(`failed: ${String(cause)}`))
  )
}

const payoutCrashes = (name: string, turns: ReadonlyArray<Turn>, folder: string, modes: ReadonlyArray<string>) => {
  const ledger: Ledger = { isUp: false, paid: 0, requests: 0 }
  const last = turns.at(-1) ?? "pay"
  return crash<Ledger>({
    kind: `queue: ${name}`,
    folder,
    now: () => ({
      phase: `${ledger.isUp ? "" : "in its start, "}after ${ledger.requests} request(s), ${ledger.paid} paid`,
      world: { ...ledger }
    }),
    first: (file, take) =>
      payoutProgram(file, () => turns[Math.min(ledger.requests - 1, turns.length - 1)] ?? "pay", ledger, take),
    modes,
    again: (file, world, mode) => {
      const books = { ...world }
      return payoutProgram(
        file,
        () => (books.paid > 0 ? (afterwards[mode] ?? "pay") : last === "pay" ? "pay" : last),
        books,
        () => {}
      )
    }
  })
}

/** The statuses of the lookups, and the calls at which the handler fails. */
const webhookScripts: Readonly<Record<string, { readonly statuses: ReadonlyArray<string>; readonly fails: number }>> = {
  paid: { statuses: ["Paid"], fails: 0 },
  "awaited, then paid": { statuses: ["Awaiting", "Paid"], fails: 0 },
  "paid, and the handler fails once": { statuses: ["Paid"], fails: 1 },
  cancelled: { statuses: ["Cancelled"], fails: 0 },
  "paid, and the lookup fails once": { statuses: ["503", "Paid"], fails: 0 }
}

interface Books {
  isUp: boolean
  lookups: number
  handled: number
}

const webhookProgram = (
  file: string,
  script: { readonly statuses: ReadonlyArray<string>; readonly fails: number },
  books: Books,
  take: () => void,
  calls: number
) => {
  const { layer } = memoryGateway(() => {
    books.lookups += 1
    take()
    const status = script.statuses[Math.min(books.lookups - 1, script.statuses.length - 1)] ?? "Paid"
    return status === "503" ? { status: 503 } : detail(status)
  })
  const ship = (what: string) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO shipped (what) VALUES (${what})`
      books.handled += 1
      take()
      if (books.handled <= script.fails) return yield* Effect.fail("the handler fails")
      return undefined
    })
  const table = Layer.effectDiscard(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE IF NOT EXISTS shipped (what TEXT)`)
  )
  const webhook = Webhook.layerSql({
    lease: "1 second",
    poll: "100 millis",
    onPaid: ({ transaction }) => ship(`paid ${transaction.enStatusTransaction}`),
    onClosed: ({ transaction }) => ship(`closed ${transaction.enStatusTransaction}`),
    onUnconfirmed: (report) => ship(`unconfirmed ${"reason" in report ? report.reason : report._tag}`)
  })
  const services = Layer.merge(NodeSqlite.layer({ filename: file }), paymentsOver("https://gateway.example", layer))
  return Effect.gen(function* () {
    const { answer, deadLetters, idle } = yield* Webhook
    books.isUp = true
    const sql = yield* SqlClient.SqlClient
    const body = JSON.stringify({ transactionId: charged, status: "Paid" })
    const answers: Array<number> = []
    for (let call = 0; call < calls; call++) {
      answers.push((yield* answer(new Request("https://shop.example/webhooks", { method: "POST", body }))).status)
    }
    yield* idle
    const rows = yield* sql<{ readonly what: string }>`SELECT what FROM shipped`
    const counts = new Map<string, number>()
    for (const { what } of rows) counts.set(what, (counts.get(what) ?? 0) + 1)
    const shipped =
      [...counts]
        .map(([what, count]) => `${what} x ${count}`)
        .toSorted()
        .join(" + ") || "nothing"
    return `answered ${answers.join(" ")}, handed out ${shipped}, dead letters ${(yield* deadLetters).length}`
  }).pipe(
    Effect.timeoutOrElse({ duration: longest, orElse: () => Effect.succeed("never ended") }),
    Effect.provide(Layer.provideMerge(Layer.provideMerge(webhook, Layer.provideMerge(table, services)), quiet)),
    Effect.provideService(PaymentsPolicy, once),
    Effect.catchCause((cause) => Effect.succeed(`failed: ${String(cause)}`))
  )
}

const webhookCrashes = (name: string, script: (typeof webhookScripts)[string], folder: string) => {
  const books: Books = { isUp: false, lookups: 0, handled: 0 }
  return crash<Books>({
    kind: `webhook: ${name}`,
    folder,
    now: () => ({
      phase: `${books.isUp ? "" : "in its start, "}after ${books.lookups} lookup(s), ${books.handled} handled`,
      world: { ...books }
    }),
    first: (file, take) => webhookProgram(file, script, books, take, 1),
    // The service repeats a delivery without an answer. It may also repeat one that was answered.
    modes: ["sent again", "sent again twice"],
    again: (file, world, mode) => webhookProgram(file, script, { ...world }, () => {}, mode === "sent again" ? 1 : 2)
  })
}

export const crashes = Effect.fnUntraced(function* ({ full }: { readonly full: boolean }) {
  const root = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-differential-kills-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  let count = 0
  const folder = () => {
    const made = join(root, String(count++))
    mkdirSync(made)
    return made
  }
  const modes = full ? Object.keys(afterwards) : Object.keys(afterwards).slice(0, 3)
  const all: Array<Effect.Success<ReturnType<typeof payoutCrashes>>> = []
  // Snapshots are taken of one program at a time.
  for (const [name, turns] of Object.entries(payoutScripts))
    all.push(yield* payoutCrashes(name, turns, folder(), modes))
  for (const [name, script] of Object.entries(webhookScripts)) all.push(yield* webhookCrashes(name, script, folder()))
  const outcomes = yield* Effect.all(
    all.flatMap(({ each }) => each),
    { concurrency: 64 }
  )
  return [...all.map(({ whole }) => whole), ...grouped(outcomes)]
}, Effect.scoped)
