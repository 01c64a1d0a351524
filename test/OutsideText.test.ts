/**
 * Every reader of text or JSON that somebody else writes. At its bound it costs what the size is worth: the CPU grows by 2.5 at most
 * while the input doubles, and the heap by 20 bytes for a byte. A new reader is a row here.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime, Option, Redacted, Schema, Struct } from "effect"
import { BrCode, Document, IdempotencyKey, Metadata, Money, PixKey, Reconcile, TransactionStream } from "effect-pix"
import { Webhook, WebhookHint, WebhookVerifier } from "effect-pix/webhook"
import { IdempotencyKey as Key } from "../src/contract/IdempotencyKey.ts"
import { csvRow, mask, plain } from "../src/cli/internal/text.ts"
import { parseExpiry } from "../src/contract/Expiry.ts"
import { meaningOf } from "../src/contract/Status.ts"
import { isFailure } from "../src/contract/StatusWords.ts"
import { SandboxState } from "../src/sandbox/SandboxState.ts"
import { isOtherKey } from "../src/pix/OtherKey.ts"
import { excessOf, type Read } from "./support/doubling.ts"
import { reusedClient } from "./support/failing.ts"
import { detail, operations, service } from "./support/operations.ts"
import { mockPayments } from "./support/payments.ts"
import { respond } from "./support/Wire.ts"

/** Makes a text of about so many characters. */
type Shape = (length: number) => string
type Shapes = Readonly<Record<string, Shape>>

const repeated =
  (unit: string): Shape =>
  (length) =>
    unit.repeat(Math.ceil(length / unit.length))

/** Different units, with commas between them. */
const counted =
  (unit: (count: number) => string): Shape =>
  (length) => {
    const units: Array<string> = []
    for (let size = 0; size < length; size += (units.at(-1)?.length ?? 0) + 1) units.push(unit(units.length))
    return units.join(",")
  }

const within =
  (before: string, shape: Shape, after = ""): Shape =>
  (length) =>
    `${before}${shape(length - before.length - after.length)}${after}`

const nested =
  (open: string, close: string): Shape =>
  (length) => {
    const depth = Math.floor(length / (open.length + close.length))
    return `${open.repeat(depth)}1${close.repeat(depth)}`
  }

const wordOf = (count: number) => count.toString(26).replaceAll(/\d/g, (digit) => "qrstuvwxyz".charAt(Number(digit)))

const texts: Shapes = {
  "one letter": repeated("a"),
  "one digit": repeated("1"),
  words: repeated("limite conta "),
  "different words": counted((count) => `${wordOf(count)}xyz`),
  spaces: repeated(" "),
  "line breaks": repeated("\n"),
  accents: repeated("a\u0301\u0301\u0301"),
  signs: repeated("-._/@+"),
  escapes: repeated("\u001b[0"),
  "numbers with points": repeated("1.111,")
}

/** A list or an object whose texts, numbers and names are of one kind. */
const jsons: Shapes = {
  "a list of numbers": within(
    "[",
    counted(() => "1"),
    "]"
  ),
  "a list of objects": within(
    "[",
    counted(() => "{}"),
    "]"
  ),
  "a list of lists": within(
    "[",
    counted(() => "[]"),
    "]"
  ),
  "a list of texts": within(
    "[",
    counted((count) => `"t${count}"`),
    "]"
  ),
  "a list of objects with members": within(
    "[",
    counted((count) => `{"id":${count},"a":"b","status":"Paid"}`),
    "]"
  ),
  members: within(
    "{",
    counted((count) => `"m${count}":${count}`),
    "}"
  ),
  "one member repeated": within(
    "{",
    counted(() => '"id":1'),
    "}"
  ),
  "a long name": within('{"', repeated("k_"), '":1}'),
  "a long text": within('"', repeated("text "), '"'),
  "a long number": repeated("9"),
  "nested lists": nested("[", "]"),
  "nested objects": nested('{"a":', "}"),
  "no end": repeated("[")
}

/** The shapes inside of an object, as the value of a member. */
const inMember = (name: string, shapes: Shapes, before = "", after = ""): Shapes =>
  Object.fromEntries(
    Object.entries(shapes).map(([what, shape]) => [
      `${what} as ${name}`,
      (length) => within(`${before}{"${name}":`, (size) => JSON.stringify(shape(size / 2)), `}${after}`)(length)
    ])
  )

const list = (items: string, more = ""): Shape =>
  within(`{"data":[${items}]${more},"x":"`, repeated("maria silva "), '"}')
const hundred = (item: (count: number) => string) => Array.from({ length: 100 }, (_, count) => item(count)).join(",")

const deliveries: Shapes = {
  ...jsons,
  ...inMember("reason", texts),
  ...inMember("metadata", jsons),
  "items beside members": (length) =>
    `{${counted((count) => `"m${count}":1`)(length / 2)},"data":[${counted(() => "1")(length / 2)}]}`,
  "items beside a reason": within(
    `{"reason":"${"abcd efgh ".repeat(200)}","data":[`,
    counted(() => "1"),
    "]}"
  ),
  "a reason, and other words": within(`{"reason":"${"abcd efgh ".repeat(200)}","x":"`, repeated("maria silva "), '"}'),
  "a reason, and numbers": within(
    `{"reason":"${"1234 5678 ".repeat(200)}","x":[`,
    counted((n) => `${n + 100_000}`),
    "]}"
  ),
  "a hundred charges": list(hundred((count) => `{"transactionId":"t${count}","status":"Paid"}`)),
  "a hundred withdrawals": list(hundred((count) => `{"withdrawId":${count},"status":"failure"}`)),
  "a hundred beside metadata": (length) =>
    list(
      hundred((count) => `{"transactionId":"t${count}"}`),
      `,"metadata":"{\\"a\\":\\"${"b".repeat(length / 4)}\\"}"`
    )(length)
}

const answers: Shapes = {
  ...jsons,
  rows: within(
    '{"ok":true,"res":{"currentPage":1,"pageSize":50,"totalItems":1,"totalPages":1,"items":[',
    counted(() => "{}"),
    "]}}"
  ),
  "a hundred long rows": (length) =>
    `{"ok":true,"res":{"currentPage":1,"pageSize":50,"totalItems":1,"totalPages":1,"items":[${hundred(
      (id) => `{"id":${id},"amount":1,"status":"Paid","createdAt":5,"lead":{"name":"${"n".repeat(length / 110)}"}}`
    )}]}}`,
  "long decimals": within('{"accBalance":', repeated("9"), "}"),
  "a page of HTML": within("<html><body>", repeated("<b>limite</b> "), "</body></html>"),
  markup: repeated("<|<a|<script></script|<!--|<title|&#999999;&#xd800;|a@|000201|%ff%c3"),
  times: within('{"id":1,"value":1,"createdAt":"2026-11-21T', repeated("10:00"), '"}'),
  errors: within(
    '{"errors":[',
    counted((count) => `{"field":"amount.${count}","message":"saldo ${count}"}`),
    "]}"
  )
}

const { client, wire } = reusedClient()
const calls = ManagedRuntime.make(client)
/** The call of an operation that is answered so. */
const answered =
  (operation: keyof typeof operations, status: number): Read =>
  (text) => {
    wire.script(respond(status, text))
    return calls.runPromise(Effect.exit(Effect.flatMap(service, operations[operation].call)))
  }

const Custom = Metadata.codec(Schema.Record(Schema.String, Schema.Json))

const webhook = ManagedRuntime.make(
  Webhook.layer({ metadata: Custom, firstLookupsPerSecond: 1_000_000, onUnconfirmed: () => Effect.void }).pipe(
    Layer.provide(
      mockPayments({
        getTransaction: (transactionId) =>
          Effect.succeed({
            ...detail,
            createdAt: undefined,
            updateDate: undefined,
            transactionId,
            enStatusTransaction: "Paid"
          } as never)
      })
    )
  )
)
const deliveredAs =
  (init: (text: string) => RequestInit): Read =>
  (text) =>
    webhook.runPromise(
      Effect.flatMap(Webhook, ({ answer }) =>
        answer(new Request("https://shop.example/", { method: "POST", body: "{}", ...init(text) }))
      )
    )

const json =
  (read: (value: unknown) => unknown): Read =>
  (text) => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return undefined
    }
    return read(value)
  }

const verified =
  (verifier: WebhookVerifier.WebhookVerifier): Read =>
  (text) =>
    Effect.runSyncExit(
      verifier({ headers: { s: text }, path: `/${text}`, body: new Uint8Array(), remoteAddress: Option.none() })
    )
const secret = Redacted.make("secret")

/** The largest body of a delivery that is read. */
const bodyBytes = 262_144
const word = 65_536
const stored = 65_536

const statementLine = (description: string): Reconcile.StatementLine =>
  ({ amount: Money.centavos(1000), date: "2026-11-29", description }) as never

const readers: ReadonlyArray<readonly [reader: string, bound: number, shapes: Shapes, read: Read]> = [
  // Deliveries.
  ["a delivery to a webhook", bodyBytes, deliveries, deliveredAs((body) => ({ body }))],
  [
    "the charset of a delivery",
    word,
    texts,
    deliveredAs((text) => ({ headers: { "content-type": `text/plain;${text.replaceAll(/[^\x20-\x7e]/g, " ")}` } }))
  ],
  ["WebhookHint.findAll", bodyBytes, deliveries, json(WebhookHint.findAll)],
  ["WebhookVerifier.sharedSecret", word, texts, verified(WebhookVerifier.sharedSecret({ header: "s", secret }))],
  ["WebhookVerifier.pathSecret", word, texts, verified(WebhookVerifier.pathSecret({ secret }))],
  // Answers of the service, with success and without.
  ...Struct.keys(operations).flatMap((name) => [
    [`the answer to ${name}`, 262_144, answers, answered(name, 200)] as const,
    // No more of it is read: what is cut is no JSON, and goes another way.
    [`a refusal of ${name}`, 32_000, { ...answers, ...inMember("message", texts) }, answered(name, 400)] as const
  ]),
  ["a status of a charge", 65_536, texts, (text) => meaningOf(text, "charge")],
  ["a status of a payout", 65_536, texts, (text) => [meaningOf(text, "payout"), isFailure(text)]],
  ["a checkpoint of the list", stored, jsons, json(Schema.decodeUnknownExit(TransactionStream.Checkpoint))],
  // Values of PIX.
  ["BrCode.parse", word, { ...texts, fields: repeated("0002AB"), "nested fields": repeated("6299") }, BrCode.parse],
  ["Money.parseBRL", word, { ...texts, reais: within("R$ ", repeated("1.000")) }, Money.parseBRL],
  ["Money.reaisOption", word, { ...texts, "a fraction": within("0.", repeated("1")) }, Money.reaisOption],
  ["Money.fromReaisOption", word, { ...texts, "a fraction": within("0.", repeated("1")) }, Money.fromReaisOption],
  ["Money.ReaisFromJson", word, texts, Schema.decodeUnknownExit(Money.ReaisFromJson)],
  ...(["CPF", "CNPJ", "EMAIL", "PHONE", "EVP"] as const).map(
    (type) => [`PixKey.make of ${type}`, word, texts, (text: string) => PixKey.make(type, text)] as const
  ),
  ["PixKey.fromPair", word, texts, (text) => PixKey.fromPair(text, text)],
  [
    "the key of a record",
    word,
    texts,
    (text) => isOtherKey(text, { pixKey: "maria@example.com", pixKeyType: "EMAIL" })
  ],
  ["Document.cpfOption", word, texts, Document.cpfOption],
  ["Document.cnpjOption", word, texts, Document.cnpjOption],
  ["Document.matches", word, texts, (text) => Document.matches(text, Document.cpf("529.982.247-25"))],
  // Times.
  ["an expiry", word, texts, parseExpiry],
  // What callers and operators give.
  ["Metadata.codec", word, { ...jsons, ...texts }, Schema.decodeUnknownExit(Custom)],
  ["Metadata of an object", word, jsons, json(Schema.decodeUnknownExit(Metadata.Metadata))],
  ["an idempotency key", word, texts, Schema.decodeUnknownExit(Key)],
  ["IdempotencyKey.fromReferenceOption", word, texts, (text) => IdempotencyKey.fromReferenceOption("order", text)],
  ["a line of a bank's statement", word, texts, (text) => Reconcile.statement([statementLine(text)], [])],
  ["a text that the command prints", word, texts, (text) => [plain(text), mask(text)]],
  ["a cell that the command prints", word, texts, (text) => csvRow([text])],
  // Stored rows, and files.
  ["a stored state of the sandbox", stored, jsons, Schema.decodeUnknownExit(Schema.fromJsonString(SandboxState))]
]

describe("a reader of outside text", () => {
  for (const [reader, bound, shapes, read] of readers) {
    it(`${reader} costs what the size of its input is worth`, async () => {
      const wrong: Array<string> = []
      for (const [what, shape] of Object.entries(shapes))
        wrong.push(...(await excessOf(read, shape, bound)).map((excess) => `${what}: ${excess}`))
      assert.deepStrictEqual(wrong, [])
    })
  }
})
