/** Webhooks in memory: what is handed out for each payload, each lookup, and each way in which handlers fail. */
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { detail, json } from "./calls.ts"
import { NodeSqlite, once, PaymentsPolicy, paymentsOver, Webhook } from "./doors.ts"
import { type Answer, memoryGateway } from "./gateway.ts"
import { jumping, type Observation, resultOf, seeded, shownBy } from "./observation.ts"

const idOf = (number: number) => `9f1c8c52-6a3e-4b1f-9d57-${String(number).padStart(12, "0")}`
const id = idOf(1)

/** The body of a delivery: a string is sent as it is. */
const payloads: Readonly<Record<string, unknown>> = {
  "id and status": { transactionId: id, status: "Paid" },
  "id alone": { transactionId: id },
  "another status": { transactionId: id, enStatusTransaction: "Cancelled" },
  nested: { event: "payment.paid", data: { id, status: "PAID", customer: { id: idOf(8) } } },
  "deeply nested": { body: { resource: { transaction: { transactionId: id } } } },
  "snake case": { transaction_id: id, status: "paid" },
  "upper case id": { transactionId: id.toUpperCase() },
  "a number as id": { id: 91, status: "Paid" },
  "two ids": { transactionId: id, data: { transactionId: idOf(2) } },
  withdrawal: { withdrawalId: 7, idempotencyKey: "wd_42", enTransaction: "Paid" },
  "withdrawal in words": { event: "saque.pago", data: { id } },
  nothing: { hello: "world" },
  "an array": [{ transactionId: id }],
  text: "hello",
  "no JSON": "{",
  empty: "",
  oversize: JSON.stringify({ transactionId: id, fill: "x".repeat(70_000) })
}

/** What each lookup is answered; the last one stays. */
const lookups: Readonly<Record<string, ReadonlyArray<Answer>>> = {
  Paid: [detail("Paid", id)],
  Cancelled: [detail("Cancelled", id)],
  Failed: [detail("Failed", id)],
  Refunded: [detail("Refunded", id)],
  "a word nobody knows": [detail("Chargeback", id)],
  Expired: [detail("Expired", id)],
  Awaiting: [detail("Awaiting", id)],
  "Awaiting, then Paid": [detail("Awaiting", id), detail("Awaiting", id), detail("Paid", id)],
  "not found": [{ status: 404 }],
  "not found, then Paid": [{ status: 404 }, detail("Paid", id)],
  "503, then Paid": [{ status: 503 }, { status: 503 }, detail("Paid", id)],
  "401, then Paid": [{ status: 401 }, detail("Paid", id)],
  "another transaction": [detail("Paid", idOf(9))],
  unreadable: [json(200, { hello: 1 })],
  "another amount": [detail("Paid", id, 9900)]
}

const handlers: Readonly<Record<string, (turn: number) => Effect.Effect<void, string>>> = {
  "that work": () => Effect.void,
  "that fail twice": (turn) => (turn <= 2 ? Effect.fail("no") : Effect.void),
  "that die once": (turn) => (turn === 1 ? Effect.die(new Error("no")) : Effect.void),
  "that always fail": () => Effect.fail("no"),
  "that never end": () => Effect.never
}

const makeHandlers = (handle: (turn: number) => Effect.Effect<void, string>) => {
  const events: Array<string> = []
  let turn = 0
  const record = (
    name: string,
    about: { readonly transaction: { readonly transactionId: string; readonly enStatusTransaction: string } }
  ) =>
    Effect.suspend(() => {
      turn += 1
      events.push(
        `${name} ${about.transaction.enStatusTransaction} of ${Number(about.transaction.transactionId.slice(-4))}`
      )
      return handle(turn)
    })
  return {
    events,
    options: {
      onPaid: (event: Parameters<typeof record>[1]) => record("onPaid", event),
      onRefunded: (event: Parameters<typeof record>[1]) => record("onRefunded", event),
      onClosed: (event: Parameters<typeof record>[1]) => record("onClosed", event),
      onStatus: (event: Parameters<typeof record>[1]) => record("onStatus", event),
      onUnconfirmed: (report: { readonly _tag: string }) =>
        Effect.sync(
          () => void events.push(`onUnconfirmed ${"reason" in report ? String(report.reason) : report._tag}`)
        ),
      onFailure: (failure: { readonly handler: string; readonly attempt: number; readonly isDead: boolean }) =>
        Effect.sync(
          () => void events.push(`onFailure ${failure.handler} ${failure.attempt}${failure.isDead ? " dead" : ""}`)
        )
    }
  }
}

const post = (payload: unknown) =>
  new Request("https://shop.example/webhooks", {
    method: "POST",
    body: typeof payload === "string" ? payload : JSON.stringify(payload)
  })

const delivered = (payload: string, lookup: string, handler: string) =>
  Effect.gen(function* () {
    const answers = lookups[lookup] ?? []
    const { arrived, layer } = memoryGateway(
      (_, turn) => answers[Math.min(turn, answers.length - 1)] ?? { status: 500 }
    )
    const { events, options } = makeHandlers(handlers[handler] ?? (() => Effect.void))
    const shown = yield* shownBy(
      jumping(
        Effect.gen(function* () {
          const webhook = yield* Webhook
          // Twice: a delivery comes again.
          const first = yield* webhook.answer(post(payloads[payload]))
          yield* webhook.idle
          const second = yield* webhook.answer(post(payloads[payload]))
          yield* webhook.idle
          return `answered ${first.status} ${second.status}, dead letters ${(yield* webhook.deadLetters).length}`
        }).pipe(
          Effect.provide(
            Layer.orDie(
              Layer.provide(Webhook.layerSql(options), [
                paymentsOver("https://gateway.example", layer),
                NodeSqlite.layer({ filename: ":memory:" })
              ])
            )
          ),
          Effect.provideService(PaymentsPolicy, once)
        ),
        TestClock.adjust("2 seconds"),
        400
      )
    )
    const observation: Observation = {
      id: `${payload} | ${lookup} | ${handler}`,
      kind: `delivery, lookup ${lookup}, handlers ${handler}`,
      dims: { payload },
      exact: {
        result: Exit.isSuccess(shown.exit) ? (shown.exit.value ?? "never ended") : resultOf(shown.exit),
        events: events.join(" > ")
      },
      sums: { lookups: arrived.length },
      texts: { logs: shown.logs },
      note: `${payload}, lookup ${lookup}, handlers ${handler}`
    }
    return observation
  }).pipe(Effect.provide(TestClock.layer()))

/** Deliveries about a few transactions whose status goes on meanwhile, with lookups and handlers that fail at random. */
const mixed = (seed: number) =>
  Effect.gen(function* () {
    const { below, next } = seeded(seed)
    const statuses = new Map<string, string>()
    const turns = new Map<string, number>()
    const { layer } = memoryGateway(({ path }) => {
      const asked = path.split("/").at(-1) ?? ""
      const turn = (turns.get(asked) ?? 0) + 1
      turns.set(asked, turn)
      // By transaction and turn, so that another order of lookups gives no other answers.
      if (seeded(seed * 100 + Number(asked.slice(-4)) * 10 + Math.min(turn, 9)).next() < 0.2) return { status: 503 }
      const status = statuses.get(asked)
      return status === undefined ? { status: 404 } : detail(status, asked)
    })
    const { events, options } = makeHandlers((turn) =>
      seeded(seed * 7 + turn).next() < 0.15 ? Effect.fail("no") : Effect.void
    )
    const program = Effect.gen(function* () {
      const webhook = yield* Webhook
      const answers: Array<number> = []
      for (let step = 0; step < 16; step++) {
        const one = idOf(1 + below(3))
        const before = statuses.get(one)
        if (next() < 0.5)
          statuses.set(
            one,
            before === undefined
              ? "Awaiting"
              : before === "Awaiting"
                ? (["Paid", "Cancelled", "Paid"][below(3)] ?? "Paid")
                : before === "Paid"
                  ? "Refunded"
                  : before
          )
        answers.push(
          (yield* webhook.answer(post({ transactionId: one, ...(next() < 0.5 && { status: "Paid" }) }))).status
        )
        if (next() < 0.5) yield* webhook.idle
      }
      yield* webhook.idle
      return `${[...new Set(answers)].join(" ")}, dead letters ${(yield* webhook.deadLetters).length}`
    })
    const exit = yield* jumping(
      Effect.exit(program).pipe(
        Effect.provide(
          Layer.orDie(
            Layer.provide(Webhook.layerSql(options), [
              paymentsOver("https://gateway.example", layer),
              NodeSqlite.layer({ filename: ":memory:" })
            ])
          )
        ),
        Effect.provideService(PaymentsPolicy, once)
      ),
      TestClock.adjust("2 seconds"),
      800
    )
    const count = (prefix: string) => events.filter((event) => event.startsWith(prefix)).length
    const failed = count("onFailure")
    // By transaction, in order: what is of different ones may come in any order.
    const order = [1, 2, 3].map((number) =>
      events
        .filter((event) => event.startsWith("onStatus") && event.endsWith(` ${number}`))
        .map((event) => event.split(" ")[1])
        .join(" ")
    )
    const observation: Observation = {
      id: `mixed | ${seed}`,
      kind: "mixed deliveries",
      dims: {},
      exact: {
        result: exit !== undefined && Exit.isSuccess(exit) ? exit.value : resultOf(exit),
        "never ended": exit === undefined ? "yes" : "no"
      },
      sums: {
        "handler calls": count("on") - failed - count("onUnconfirmed"),
        failures: failed,
        unconfirmed: count("onUnconfirmed"),
        lookups: [...turns.values()].reduce((a, b) => a + b, 0)
      },
      texts: { order: order.join("\n"), events: events.join("\n") },
      note: `seed ${seed}`
    }
    return observation
  }).pipe(Effect.provide(TestClock.layer()))

export const webhooks = Effect.fnUntraced(function* ({
  full,
  seeds
}: {
  readonly full: boolean
  readonly seeds: number
}) {
  const observations: Array<Observation> = []
  const usual = Object.keys(payloads)[0] ?? ""
  for (const lookup of Object.keys(lookups)) {
    for (const payload of full ? Object.keys(payloads) : [usual])
      observations.push(yield* delivered(payload, lookup, "that work"))
    for (const handler of Object.keys(handlers).slice(1)) observations.push(yield* delivered(usual, lookup, handler))
  }
  for (let seed = 1; seed <= seeds * 2; seed++) {
    const { exit } = yield* shownBy(mixed(seed))
    observations.push(yield* exit)
  }
  return observations
})
