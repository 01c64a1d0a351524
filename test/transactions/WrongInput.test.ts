/** What a caller without types may give to the functions of `Payments`. Values of each kind are in contract/Options.test.ts. */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { InvalidRequest, OrderCharge, type Payments, Reconcile, TransactionStream, TransactionWait } from "effect-pix"
import { Sandbox } from "effect-pix/sandbox"
import { effect } from "../support/effect.ts"
import { charge } from "../support/operations.ts"
import { upTo } from "../support/movingList.ts"

type Given = (given: never) => Effect.Effect<unknown, { readonly _tag: string }, Payments>
type Wrong = readonly [path: string, given: unknown]
/** A function of `Payments`, and the values that it refuses by the path of the part that is wrong. */
type Row = readonly [name: string, run: Given, ...wrong: ReadonlyArray<Wrong>]

const checkpoint = { sort: "createdAt_asc", edge: 0, floor: 0, ids: [], index: -1, count: 0, isTied: false } as const
const stored = { number: 1, transactionId: "t", amount: 2500, pix: { qrcode: "000201" }, earlier: [] }
const order = { reference: "42", request: charge, last: stored }
const isKnown = () => Effect.succeed(true)

const waitOptions: ReadonlyArray<Wrong> = [
  ["expiresAt", { expiresAt: "soon" }],
  ["deadline", { deadline: -1 }],
  ["schedule", { schedule: 7 }],
  ["until", { until: true }],
  ["options", null]
]
const rows: ReadonlyArray<Row> = [
  ["TransactionWait.final", (options) => TransactionWait.final("t", options), ...waitOptions],
  ["TransactionWait.final of an id", (id) => TransactionWait.final(id), ["transactionId", 7], ["transactionId", null]],
  [
    "TransactionStream.stream",
    (options) => Stream.runDrain(TransactionStream.stream(options)),
    ["pageSize", { pageSize: 0 }],
    ["pageSize", { pageSize: 101 }],
    ["limit", { limit: -1 }],
    ["since", { since: new Date("x") }],
    ["until", { until: new Date("x") }],
    ["from.index", { from: { ...checkpoint, index: -2 } }],
    ["from.ids", { from: { ...checkpoint, ids: upTo(1001) } }],
    ["sort", { from: checkpoint, sort: "createdAt_desc" }],
    ["options", null]
  ],
  [
    "Reconcile.stream of no orders",
    (options) => Stream.runDrain(Reconcile.stream([], options)),
    ["concurrency", { concurrency: 0 }],
    ["from", { from: -1 }],
    ["concurrency,from", { concurrency: "4", from: "1" }],
    ["options", null]
  ],
  ["Reconcile.stream", (orders) => Stream.runDrain(Reconcile.stream(orders)), ["orders", 7], ["orders", undefined]],
  [
    "Reconcile.unknownRows",
    (options) => Stream.runDrain(Reconcile.unknownRows(options)),
    ["isKnown", {}],
    ["concurrency", { isKnown, concurrency: 0 }],
    ["since", { isKnown, since: "yesterday" }],
    ["options", undefined]
  ],
  [
    "OrderCharge.get",
    (given) => OrderCharge.get(given),
    ["reference", { ...order, reference: " " }],
    ["reference", { ...order, reference: "4".repeat(901) }],
    ["reference", { ...order, reference: 42 }],
    ["request", { ...order, request: undefined }],
    ["request.amount", { ...order, request: { ...charge, amount: 25.5 } }],
    ["request.paymentMethod", { ...order, request: { ...charge, paymentMethod: "BOLETO" } }],
    ["customer", { ...order, request: { ...charge, customer: undefined }, last: undefined }],
    ["last", { ...order, last: "t" }],
    ["last.number", { ...order, last: { ...stored, number: 0 } }],
    ["last.pix.expirationDate", { ...order, last: { ...stored, pix: { qrcode: "0", expirationDate: "soon" } } }]
  ],
  [
    "OrderCharge.get of an order",
    (options) => OrderCharge.get({ reference: "42", request: charge, last: undefined }, options),
    ["openFor", { openFor: "1 day" }],
    ["openFor", { openFor: "soon" }],
    ["options", []]
  ]
]

effect.each(rows)(
  "%s refuses wrong input by an InvalidRequest that names it, and sends nothing",
  Sandbox.layerPayments,
  function* ([, run, ...wrong]) {
    for (const [path, given] of wrong) {
      const error = yield* Effect.flip(run(given as never)) // as from JavaScript
      assert.instanceOf(error, InvalidRequest, path)
      assert.strictEqual(error.issues.map((issue) => issue.path).join(), path)
    }
    assert.lengthOf(yield* (yield* Sandbox).requests, 0)
  }
)
