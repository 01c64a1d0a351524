/** What `requestWithdrawal` sends, which answers it takes, and which requests it refuses. */
import { assert, describe } from "@effect/vitest"
import { Money, type GatewayFacts, PixKey, type WithdrawalRequest, type WriteOptions } from "effect-pix"
import { BigDecimal, Effect, Equal, Result } from "effect"
import { TestClock } from "effect/testing"
import {
  call,
  canary,
  checkNotRead,
  checkRead,
  checkRefused,
  errorOf,
  headersOf,
  type NotRead,
  nulls,
  odd,
  type Read,
  type Refused,
  requestOf,
  type Use,
  without
} from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import { record, requestWithdrawal, withdrawal, withdrawalBody } from "../support/operations.ts"
import { respond } from "../support/Wire.ts"

const { call: withdraw, path } = requestWithdrawal

/** The call of a program without types. */
const withdrawing =
  (change: object, options?: WriteOptions): Use =>
  (payments) =>
    payments.requestWithdrawal({ ...withdrawal, ...change }, options)

const recordWith = (change: object) => ({ ...record("wd_1"), ...change })
const rest = {
  ...withdrawalBody,
  description: "Aluguel nº 4 \u{1F3E0}",
  metadata: { invoice: 42, tags: ["rent", null], nested: { deep: 0.1 } }
}
const cpf = { pixKey: "52998224725", pixKeyType: "CPF" }
const text = { metadata: `{"a": 1}` }

describe("the request of requestWithdrawal", () => {
  const keyed = (pixKey: PixKey.PixKey, pixKeyType: string, text: string) =>
    [
      `a key of the kind ${pixKeyType} is sent as the directory writes it`,
      { ...withdrawal, pixKey },
      { ...withdrawalBody, pixKey: text, pixKeyType }
    ] as const
  const sent: ReadonlyArray<readonly [what: string, request: WithdrawalRequest, body: object]> = [
    ["a minimal one has amount and currency", withdrawal, withdrawalBody],
    ["a PixKey gives its text and kind", { ...rest, pixKey: PixKey.cpf("529.982.247-25") }, { ...rest, ...cpf }],
    ["a plain key is written without punctuation", { ...rest, ...cpf, pixKey: "529.982.247-25" }, { ...rest, ...cpf }],
    ["metadata that is text stays text", { ...withdrawal, ...text }, { ...withdrawalBody, ...text }],
    keyed(PixKey.cnpj("12.ABC.345/01DE-35"), "CNPJ", "12ABC34501DE35"),
    keyed(PixKey.email("Maria@Example.com"), "EMAIL", "maria@example.com"),
    keyed(PixKey.phone("(11) 91234-5684"), "PHONE", "+5511912345684"),
    keyed(PixKey.evp("123E4567-E12B-12D1-A456-426655440000"), "EVP", "123e4567-e12b-12d1-a456-426655440000")
  ]
  effect.each(sent)("%s, and nothing else", function* ([, request, body]) {
    const answer = respond(201, recordWith({ pixKey: undefined }))
    const sent = yield* requestOf((payments) => payments.requestWithdrawal(request), answer)
    assert.deepStrictEqual([sent.method, sent.path, sent.headers], ["POST", path, headersOf("wd_1")])
    assert.deepStrictEqual(JSON.parse(sent.text ?? ""), body)
  })
})

const value = { ...record("wd_1"), value: "10 reais", createdAt: "utc 2026-11-21T10:00:00.000Z" }

describe("the answer of requestWithdrawal", () => {
  const optional = "companyId idempotencyKey pixKey pixKeyType creditorDocument description currency createdAt"
  const undocumented = {
    status: 422,
    ok: false,
    code: 500,
    error: "E-17",
    errors: [{ code: 3 }],
    rejectReason: "risco"
  }
  const read: ReadonlyArray<Read> = [
    ["the documented answer", record("wd_1"), value],
    ["undocumented fields, which are left out", recordWith({ fee: 1.5, ...undocumented }), value],
    ["its company", recordWith({ companyId: 7 }), value],
    ["a value below the amount, as after a fee", recordWith({ value: 0.01 }), { ...value, value: "0.01 reais" }],
    [
      "the value of a float",
      recordWith({ value: 10.000000000000002 }),
      { ...value, value: "10.000000000000002 reais" }
    ],
    ["another kind of key", recordWith({ pixKeyType: "HANDLE" }), { ...value, pixKeyType: "HANDLE" }],
    [
      "nulls for all that is optional",
      { ...nulls(optional), id: 55, value: 10, enTransaction: "Awaiting" },
      { id: 55, value: "10 reais", enTransaction: "Awaiting", idempotencyKey: "wd_1" }
    ],
    [
      "an empty date, a numeric document and a list for a description",
      recordWith({ createdAt: "", creditorDocument: 52_998_224_725, description: [canary] }),
      without(value, "createdAt", "creditorDocument", "description"),
      ["createdAt", "creditorDocument", "description"]
    ]
  ]
  effect.each(read)("%s is read", function* (row) {
    for (const status of [200, 201, 202]) yield* checkRead("requestWithdrawal", withdraw, row, status)
  })

  const failed =
    "Failed fáiled Cancelled canceled Refunded Rejected FALHOU REJEITADO Error Returned NAO_REALIZADO Expired"
  const wrong: ReadonlyArray<NotRead> = [
    ["Unreadable", "value", recordWith({ value: null })],
    ["Unreadable", "id", recordWith({ id: undefined })],
    ["Unreadable", "enTransaction", recordWith({ enTransaction: null })],
    ["Unreadable", "idempotencyKey", recordWith({ idempotencyKey: 1 })],
    ["KeyMismatch", "idempotencyKey", recordWith({ idempotencyKey: "WD_1" })],
    // Nothing, less than nothing, a centavo above the amount, and the amount in centavos.
    ["NotAsAsked", "value", ...[0, -10, 10.01, 1000].map((value) => recordWith({ value }))],
    ["NotAsAsked", "companyId", recordWith({ companyId: 8 })],
    ["NotAsAsked", "pixKey", recordWith({ pixKey: "joao@example.com" })],
    ["NotAsAsked", "enTransaction", ...failed.split(" ").map((enTransaction) => recordWith({ enTransaction }))]
  ]
  effect.each(wrong)(
    "an answer that is %s by its %s has an unknown outcome, and its error shows what was recorded, but no key",
    function* (row) {
      const [reason, , ...bodies] = row
      for (const body of bodies) {
        const error = yield* checkNotRead(withdraw, row, body, 201)
        assert(error._tag === "OutcomeUnknown")
        assert.strictEqual(error.idempotencyKey, "wd_1")
        assert.notMatch(JSON.stringify(error), /maria|joao/)
        if (reason !== "NotAsAsked") continue
        const { enTransaction, value } = body as ReturnType<typeof record> // the body of this row
        assert.deepStrictEqual({ ...error.seen }, { id: "55", value: String(value), status: enTransaction })
      }
    }
  )

  effect.each(
    `em_análise Accepted NO_ERROR not_failed Cancelable Refundable NotRejected PaymentFailed RefundFailed CANCEL_REQUESTED timed_out`.split(
      " "
    )
  )("the status %s is that of a withdrawal, is counted, and is logged once a minute", function* (enTransaction) {
    const use: Use = (payments) =>
      Effect.andThen(
        Effect.replicateEffect(withdrawing({}, { idempotencyKey: "wd_1", earlier: "None" })(payments), 3, {
          discard: true
        }),
        Effect.andThen(
          TestClock.adjust("1 minute"),
          withdrawing({}, { idempotencyKey: "wd_1", earlier: "None" })(payments)
        )
      )
    const { lines, misfits, result } = yield* call(use, respond(201, recordWith({ enTransaction })))
    assert.propertyVal(Result.getOrThrow(result), "enTransaction", enTransaction)
    assert.deepStrictEqual(misfits, { enTransaction: 4 })
    const line = "requestWithdrawal: enTransaction of the answer is no listed status."
    const said = `${line} The withdrawal was accepted: look up what became of it`
    assert.deepStrictEqual(lines, [
      ["Warn", said],
      ["Warn", `${said} (3 times since the last such line)`]
    ])
  })

  const upTo12: GatewayFacts["acceptValue"] = ({ asked, value }) =>
    asked === withdrawal.amount && BigDecimal.Order(value, Money.reais("12")) < 0
  effect.each([
    [11.5, "Success", upTo12],
    [12.5, "Failure", upTo12],
    [11, "Failure", () => assert.fail("no")],
    [0, "Failure", () => true]
  ] as const)(
    "with the value %d is a %s, as the policy accepts what is above the amount, and never zero",
    function* ([value, expected, acceptValue]) {
      const { result } = yield* call(withdraw, respond(201, recordWith({ value })), { facts: { acceptValue } })
      assert.strictEqual(result._tag, expected)
    }
  )

  effect.each(["12345678901234567.89", "10.005", "1e21", "9007199254740993", `"12345678901234567.89"`])(
    "the value %s has exactly the digits that were written",
    function* (written) {
      const body = JSON.stringify(recordWith({ value: 0 })).replace(`"value":0`, `"value":${written}`)
      const { value } = yield* requestOf(withdraw, respond(201, body), { facts: { acceptValue: () => true } })
      assert.isTrue(Equal.equals(Object(value).value, Money.reais(written.replaceAll('"', ""))))
    }
  )
})

const refused: ReadonlyArray<Refused> = [
  ["amount", ...[-1000, 1000.5, undefined].map((amount) => ({ amount }))],
  ["currency", { currency: "brl" }],
  // A kind without a key, a key without its kind, an unknown kind, a key that is no text, and a kind beside a PixKey.
  ["pixKeyType", { pixKeyType: "CPF" }, { pixKey: "52998224725" }, { pixKey: canary, pixKeyType: canary }],
  ["pixKeyType", { pixKey: 42, pixKeyType: "EVP" }, { pixKey: PixKey.cpf("52998224725"), pixKeyType: "CPF" }],
  ["pixKey", { pixKey: "12345678901", pixKeyType: "CPF" }, { pixKey: "", pixKeyType: "EVP" }],
  ["canary", { canary }],
  ["description", { description: 42 }, { description: `${canary}${"x".repeat(1_000_000)}` }],
  ["metadata", ...[odd.cyclic, odd.deep, [canary], 42, { constructor: canary }].map((metadata) => ({ metadata }))],
  ["metadata", { metadata: JSON.parse(`{"a":{"__proto__":"${canary}"}}`) }]
]
const refusedOptions: ReadonlyArray<Refused> = [
  ["", odd.throwing, null],
  ["idempotencykey", { idempotencykey: canary }],
  ["idempotencyKey", ...["", 42, `${canary}\0`, `${canary} `, `${canary}é`].map((key) => ({ idempotencyKey: key }))]
]

describe("a request of requestWithdrawal", () => {
  effect.each(refused)("is refused because of its %s, and nothing is sent", function* (row) {
    const [, ...changes] = row
    for (const change of changes) yield* checkRefused(withdrawing(Object(change)), row, change)
  })

  effect.each(refusedOptions)("is refused because of its options' %j, and nothing is sent", function* (row) {
    const [, ...options] = row
    for (const given of options)
      yield* checkRefused((payments) => withdraw(payments, given as WriteOptions), row, given) // as from JavaScript
  })

  effect("of null is refused, one of 999 centavos fails with BelowMinimum, and one of 1000 is sent", function* () {
    yield* checkRefused((payments) => payments.requestWithdrawal(null as never), [""], null) // as from JavaScript
    const { error, requests } = yield* errorOf(withdrawing({ amount: 999 }), respond(500))
    assert.deepInclude(error, {
      _tag: "BelowMinimum",
      outcome: "NotSent",
      attempts: 0,
      amount: Money.centavos(999),
      minimum: withdrawal.amount,
      idempotencyKey: "wd_1"
    })
    assert.strictEqual(requests, 0)
    yield* requestOf(withdraw, respond(201, record("wd_1")))
  })

  effect("is compared with what was sent, also if the caller has changed it since", function* () {
    const meanwhile = (reply: Response) => {
      const given = { ...withdrawal, pixKey: "maria@example.com", pixKeyType: "EMAIL" }
      const response = () => {
        Object.assign(given, { amount: Money.centavos(5), pixKey: "joao@example.com" })
        return reply
      }
      return call((payments) => payments.requestWithdrawal(given), { response })
    }
    const paid = yield* meanwhile(new Response(JSON.stringify(record("wd_1")), { status: 201 }))
    assert.isTrue(Result.isSuccess(paid.result))
    const words = JSON.stringify({ message: "O valor do saque é menor que o valor mínimo" })
    const { result } = yield* meanwhile(new Response(words, { status: 422 }))
    assert.deepInclude(Result.getOrThrow(Result.flip(result)), { _tag: "BelowMinimum", amount: withdrawal.amount })
  })
})
