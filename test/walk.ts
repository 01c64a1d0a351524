/**
 * `npm run walk`: the ways of one queued payout, as a reader of the code goes them, on a sandbox in memory and the program's clock.
 * Writes into test/walk.md for each way how many functions and files it enters, and its hops: the pairs of files of which the second
 * was entered right after the first.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Console, Effect, Layer, Option } from "effect"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { TestClock } from "effect/testing"

interface Walked {
  functions: Set<string>
  hops: Set<string>
}
// Set by support/entered.mjs.
const { walked } = globalThis as unknown as { readonly walked: Walked }

/** Time passes in steps that a worker notices. */
const pass = Effect.fnUntraced(function* (seconds: number) {
  for (let quarter = 0; quarter < seconds * 4; quarter++) {
    yield* TestClock.adjust("250 millis")
    for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
  }
})

// The double and the durations of its clock are no part of the way.
const isOfWay = (entered: string) => !/(?:^| )(?:sandbox|rehearsal)\//.test(entered)

/** What is entered from the submit of a payout on. */
const walk = Effect.fnUntraced(function* (until: "posted" | "paid") {
  const [queue, sandbox] = [yield* PayoutQueue, yield* Sandbox]
  yield* pass(2)
  walked.functions = new Set()
  walked.hops = new Set()
  yield* queue.submit({
    reference: "invoice-1",
    amount: Money.centavos(1000),
    pixKey: PixKey.email("maria@example.com")
  })
  yield* pass(2)
  const sent = yield* queue.status("invoice-1")
  if (until === "paid" && Option.isSome(sent) && sent.value.state === "posted") {
    yield* sandbox.settleWithdrawal(sent.value.withdrawalId ?? 0)
    yield* pass(60)
  }
  const [functions, hops] = [[...walked.functions].filter(isOfWay), [...walked.hops].filter(isOfWay)]
  const { state } = Option.getOrThrow(yield* queue.status("invoice-1"))
  if (state !== until) return yield* Effect.die(new Error(`The payout is ${state}`))
  const files = new Set(functions.map((entered) => entered.split(":")[0]))
  const cells = [`${functions.length}`.padStart(9), `${files.size}`.padStart(5), `${hops.length}`.padStart(4)]
  return `| ${until.padEnd(18)} | ${cells.join(" | ")} |`
})

const world = Layer.mergeAll(
  Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { as: "seen", balance: 100_000_000 })),
  Layer.orDie(NodeSqlite.layer({ filename: ":memory:" }))
).pipe(Layer.provideMerge(TestClock.layer()))
const confirming = PayoutQueue.layer({ confirm: true, onState: () => Effect.void })

const program = Effect.gen(function* () {
  const posted = yield* Effect.provide(walk("posted"), Layer.provideMerge(Layer.orDie(PayoutQueue.layer()), world))
  const paid = yield* Effect.provide(walk("paid"), Layer.provideMerge(Layer.orDie(confirming), world))
  const table = [
    "| a queued payout to | functions | files | hops |",
    "| ------------------ | --------: | ----: | ---: |",
    posted,
    paid
  ].join("\n")
  yield* Console.log(table)
  const page = join(import.meta.dirname, "walk.md")
  writeFileSync(
    page,
    `# The ways of a queued payout\n\nWritten by \`npm run walk\`. To \`paid\` it has \`confirm\` and \`onState\`.\n\n${table}\n`
  )
})

await Effect.runPromise(program)
