/**
 * The programs that use the five operations print no secret and no personal data: streams, waits, payouts, their queue,
 * and the webhook.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, Redacted, Stream } from "effect"
import { NodeSqlite } from "effect-pix/node"
import { Money, Payments, TransactionHints, TransactionStream, TransactionWait } from "effect-pix"
import { type PayoutItem, PayoutQueue, Payouts } from "effect-pix/payouts"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { Webhook, WebhookVerifier } from "effect-pix/webhook"
import { leaks, person, printedBy, renderings, secrets } from "../support/canary.ts"
import { type Answer, echoes, unhelpful } from "../support/echoes.ts"
import { charge, withPassingTime, keys, marked, type MarkedCall, memory } from "../support/marked.ts"
import { memory as database } from "../support/payoutQueue.ts"
import { effect } from "../support/effect.ts"

const { cnpj, copyAndPaste, cpf, email, evp, name, phone } = person

interface Program {
  /** The marked call whose answers the gateway gives. */
  readonly call: MarkedCall
  /**
   * The result is the part that a user would log. It leaves out the record of the service, which repeats the request.
   */
  readonly run: Effect.Effect<unknown, unknown, Payments | Sandbox>
}

const callOf = (operation: MarkedCall["operation"]): MarkedCall => {
  const call = marked.find((call) => call.operation === operation)
  if (call === undefined) throw new Error(`no marked call of ${operation}`)
  return call
}

const created = Effect.gen(function* () {
  const payments = yield* Payments
  const sandbox = yield* Sandbox
  const made = yield* payments.createTransaction({ ...charge, paymentMethod: "PIX" })
  yield* sandbox.markPaid(made.id)
  return made.id
})

const items: ReadonlyArray<PayoutItem> = Object.values(keys).map((pixKey, index) => ({
  reference: `invoice-${index}`,
  amount: Money.centavos(1000),
  pixKey,
  description: person.description,
  metadata: { of: person.metadata }
}))

const withinTwoMinutes = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeoutOption(effect, "2 minutes")

const queue = Layer.provide(PayoutQueue.layer({ poll: "1 minute", drain: "1 second" }), database)

const withQueue = <A, E>(use: (queue: PayoutQueue["Service"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(PayoutQueue, use), queue)

/** A line that looks like another one. */
const renamed = (item: PayoutItem): PayoutItem => ({ ...item, reference: `twin of ${item.reference}` })

const post = (body: string, headers: Record<string, string> = {}) =>
  new Request(`https://shop.example/webhooks/pix?key=${secrets.apiKey}&payer=${cpf}`, { method: "POST", body, headers })

const webhookCalls = (id: string) => [
  JSON.stringify({ transactionId: id, status: "Paid", customer: { name, email, phone, document: { number: cpf } } }),
  JSON.stringify({ withdrawalId: 7, pixKey: evp, idempotencyKey: cnpj, status: "Paid", qrcode: copyAndPaste }),
  JSON.stringify({ [email]: { [name]: cpf } }),
  `{"transactionId": "${cpf}", "name": "${name}`,
  `${name} ${cpf} ${email}`
]

const programs: Record<string, Program> = {
  "TransactionStream.stream": {
    call: callOf("listTransactions"),
    run: Effect.andThen(created, Stream.runDrain(TransactionStream.stream({ pageSize: 2 })))
  },
  "TransactionStream.pages": {
    call: callOf("listTransactions"),
    run: Effect.andThen(created, Stream.runDrain(TransactionStream.pages({ pageSize: 2 })))
  },
  "TransactionWait.final": {
    call: callOf("getTransaction"),
    run: Effect.flatMap(created, (id) => Effect.asVoid(TransactionWait.final(id, { deadline: "2 minutes" })))
  },
  "TransactionWait.changes": {
    call: callOf("getTransaction"),
    run: Effect.flatMap(created, (id) => Stream.runDrain(TransactionWait.changes(id, { deadline: "2 minutes" })))
  },
  "Payouts.run": {
    call: callOf("requestWithdrawal"),
    run: Effect.gen(function* () {
      const plan = yield* Payouts.plan(items)
      const twins = yield* Effect.flip(Payouts.run([...items, ...items.map(renamed)]))
      const report = yield* Payouts.run(items, { waitFor: "2 minutes" })
      return [plan, twins, report]
    }).pipe(Effect.provide(queue))
  },
  "Payouts.stream": {
    call: callOf("requestWithdrawal"),
    run: Effect.provide(Stream.runCollect(Payouts.stream(items, { waitFor: "2 minutes" })), queue)
  },
  PayoutQueue: {
    call: callOf("requestWithdrawal"),
    run: withQueue((queue) =>
      Effect.gen(function* () {
        const seen = yield* queue.submitMany(items.slice(0, 2))
        const ends = yield* Effect.forEach(
          items.slice(0, 2),
          ({ reference }) => withinTwoMinutes(queue.await(reference)),
          {
            concurrency: "unbounded"
          }
        )
        const conflict = yield* Effect.flip(queue.submit({ reference: "invoice-0", amount: Money.centavos(2000) }))
        const steered = yield* Effect.forEach(["park", "resume", "retry", "settle", "status"] as const, (step) =>
          Effect.exit<unknown, unknown, never>(queue[step]("invoice-1"))
        )
        return [seen, ends, conflict, steered, yield* Stream.runCollect(queue.list())]
      })
    )
  },
  Webhook: {
    call: callOf("getTransaction"),
    run: Effect.gen(function* () {
      const id = yield* created
      const webhook = yield* Webhook
      const statuses = yield* Effect.forEach(webhookCalls(id), (body) =>
        Effect.map(webhook.answer(post(body, { "x-secret": secrets.apiKey })), ({ status }) => status)
      )
      yield* withinTwoMinutes(webhook.idle)
      return [statuses, yield* webhook.deadLetters]
    }).pipe(
      Effect.provide([
        Webhook.layerSql({
          verifier: WebhookVerifier.sharedSecret({ header: "x-secret", secret: Redacted.make(secrets.apiKey) }),
          onPaid: () => Effect.fail(`${name} is not in the books of ${email}`)
        }).pipe(Layer.provide(NodeSqlite.layer({ filename: ":memory:" }))),
        TransactionHints.layer
      ])
    )
  }
}

/**
 * Every third answer. Leak.test.ts tests each operation with every answer; here each answer is given to some of the
 * programs.
 */
const everyThird = (answers: ReadonlyArray<Answer>, turn: number) => answers.filter((_, at) => (at + turn) % 3 === 0)

const check = Effect.fnUntraced(function* (title: string, { call, run }: Program, [how, fault]: Answer) {
  const sandbox = yield* Sandbox
  yield* sandbox.clearFaults
  yield* sandbox.fault(call.operation, fault, { times: Infinity })
  const printed = yield* withPassingTime(printedBy(run))
  assert.deepStrictEqual(leaks(printed), [], `${title}, ${how}`)
  const answered = Option.getOrUndefined(Exit.getSuccess(printed.exit))
  assert.deepStrictEqual(leaks({ texts: renderings(answered) }), [], `${title}, ${how}, in what it answers`)
  assert.deepStrictEqual(printed.valuesInSpans, [], `${title}, ${how}`)
  return printed
})

describe("what a program prints", () => {
  for (const [turn, [title, program]] of Object.entries(programs).entries()) {
    effect(`${title} prints nothing of its requests and answers when it succeeds`, memory, function* () {
      const printed = yield* check(title, program, ["success", Fault.none])
      assert.isTrue(Exit.isSuccess(printed.exit))
      assert.isAtLeast(printed.spans, 2)
    })

    it.effect(`${title} prints nothing of its requests when the gateway fails`, () =>
      Effect.forEach(everyThird(unhelpful, turn), (answer) => check(title, program, answer), { discard: true }).pipe(
        Effect.provide(memory)
      )
    )

    it.effect(`${title} prints nothing of its requests when the gateway echoes them`, () =>
      Effect.forEach(everyThird(echoes(program.call, turn), turn), (answer) => check(title, program, answer), {
        discard: true
      }).pipe(Effect.provide(memory))
    )
  }
})
