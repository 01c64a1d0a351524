/** What `requestWithdrawal` sends, which answers it takes, and which requests it refuses. */
import { assert, describe } from "@effect/vitest"
import { Money, type PaymentsPolicy, PixKey, type WithdrawalRequest } from "effect-pix"
import { Equal, Result } from "effect"
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
import { keyedWithdrawal, record, requestWithdrawal, withdrawal, withdrawalBody } from "../support/operations.ts"
import { lostConnection, respond } from "../support/Wire.ts"

const { call: withdraw, path } = requestWithdrawal

/** The call of a program without types. */
const withdrawing =
  (change: object, options?: object): Use =>
  (payments) =>
    payments.requestWithdrawal({ ...withdrawal, ...change }, options)

const recordWith = (change: object) => ({ ...record("wd_1"), ...change })
const rest = {
  ...withdrawalBody,
  description: "Aluguel nº 4 \u{1F3E0}",
  metadata: { invoice: 42, tags: ["rent", null], nested: { deep: 0.1 } }
}
const cpf = { pixKey: "52998224725", pixKeyType: "CPF" }

describe("the request of requestWithdrawal", () => {
  const kinds = [
    [PixKey.cpf("111.444.777-35"), "CPF", "11144477735"],
    [PixKey.cnpj("12.ABC.345/01DE-35"), "CNPJ", "12ABC34501DE35"],
    [PixKey.email("Maria@Example.com"), "EMAIL", "maria@example.com"],
    [PixKey.phone("(11) 91234-5684"), "PHONE", "+5511912345684"],
    [PixKey.evp("123E4567-E12B-12D1-A456-426655440000"), "EVP", "123e4567-e12b-12d1-a456-426655440000"]
  ] as const
  const sent: ReadonlyArray<readonly [what: string, request: WithdrawalRequest, body: object]> = [
    ["a minimal one has amount and currency", withdrawal, withdrawalBody],
    ["a PixKey gives its text and kind", { ...rest, pixKey: PixKey.cpf("529.982.247-25") }, { ...rest, ...cpf }],
    ["a plain key and its kind are sent", { ...rest, ...cpf }, { ...rest, ...cpf }],
    ["a plain key is written without punctuation", { ...rest, ...cpf, pixKey: "529.982.247-25" }, { ...rest, ...cpf }],
    [
      "metadata that is text stays text",
      { ...withdrawal, metadata: `{"a": 1}` },
      { ...withdrawalBody, metadata: `{"a": 1}` }
    ],
    ...kinds.map(
      ([pixKey, pixKeyType, text]) =>
        [
          `a key of the kind ${pixKeyType} is sent as the directory writes it`,
          { ...withdrawal, pixKey },
          { ...withdrawalBody, pixKey: text, pixKeyType }
        ] as const
    )
  ]
  effect.each(sent)("%s, and nothing else", function* ([, request, body]) {
    const answer = respond(201, recordWith({ pixKey: undefined }))
    const sent = yield* requestOf((payments) => payments.requestWithdrawal(request), answer)
    assert.deepStrictEqual([sent.method, sent.path, sent.headers], ["POST", path, headersOf("wd_1")])
    assert.deepStrictEqual(JSON.parse(sent.text ?? ""), body)
  })

  effect("is sent again with the same key and the same bytes", function* () {
    const use = withdrawing({ ...rest, pixKey: PixKey.email("maria@example.com") })
    const { sent } = yield* call(use, [respond(503), lostConnection, respond(201, record("wd_1"))])
    assert.strictEqual(sent.length, 3)
    for (const { bytes, headers } of sent) {
      assert.isAbove(bytes?.length ?? 0, 100)
      assert.deepStrictEqual(bytes, sent[0]?.bytes)
      assert.deepStrictEqual(headers, headersOf("wd_1"))
    }
  })
})

const value = { ...record("wd_1"), value: "10 reais", createdAt: "utc 2026-11-21T10:00:00.000Z" }

describe("the answer of requestWithdrawal", () => {
  const read: ReadonlyArray<Read> = [
    ["the documented answer", record("wd_1"), value],
    ["an answer after a byte order mark", `\uFEFF${JSON.stringify(record("wd_1"))}`, value],
    ["an undocumented field, which is left out", recordWith({ fee: 1.5 }), value],
    ["its company", recordWith({ companyId: 7 }), value],
    ["a value below the amount, as after a fee", recordWith({ value: 0.01 }), { ...value, value: "0.01 reais" }],
    ["another kind of key", recordWith({ pixKeyType: "HANDLE" }), { ...value, pixKeyType: "HANDLE" }],
    [
      "nulls for all that is optional",
      {
        ...nulls("companyId idempotencyKey pixKey pixKeyType creditorDocument description currency createdAt"),
        id: 55,
        value: 10,
        enTransaction: "Awaiting"
      },
      { id: 55, value: "10 reais", enTransaction: "Awaiting", idempotencyKey: "wd_1" }
    ],
    [
      "an empty date, a numeric document and a list for a description",
      recordWith({ createdAt: "", creditorDocument: 52_998_224_725, description: [canary] }),
      without(value, "createdAt", "creditorDocument", "description"),
      ["createdAt", "creditorDocument", "description"]
    ],
    ...[
      { code: 1000, errorCode: "00", errorMessage: "none", failureReason: null, isError: false, result: 0 },
      { status: 422, statusCode: "500", ok: false, success: false, code: 500 },
      { error: "E-17", errors: [{ code: 3 }], hasError: true, rejectReason: "risco" }
    ].map((change): Read => [`undocumented ${Object.keys(change).join(", ")}`, recordWith(change), value])
  ]
  effect.each(read)("%s is read", function* (row) {
    for (const status of [200, 201, 202]) yield* checkRead("requestWithdrawal", withdraw, row, status)
  })

  const wrong: ReadonlyArray<NotRead> = [
    ["no value", recordWith({ value: null }), "Unreadable", "value"],
    ["no id", recordWith({ id: undefined }), "Unreadable", "id"],
    ["no status", recordWith({ enTransaction: null }), "Unreadable", "enTransaction"],
    ["a key that is no text", recordWith({ idempotencyKey: 1 }), "Unreadable", "idempotencyKey"],
    ["a key that differs in case", recordWith({ idempotencyKey: "WD_1" }), "KeyMismatch", "idempotencyKey"],
    ["a value of nothing", recordWith({ value: 0 }), "NotAsAsked", "value"],
    ["a negative value", recordWith({ value: -10 }), "NotAsAsked", "value"],
    ["a value one centavo above the amount", recordWith({ value: 10.01 }), "NotAsAsked", "value"],
    ["the amount in centavos as its value", recordWith({ value: 1000 }), "NotAsAsked", "value"],
    ["another company", recordWith({ companyId: 8 }), "NotAsAsked", "companyId"],
    ["another payee", recordWith({ pixKey: "joao@example.com" }), "NotAsAsked", "pixKey"],
    ...[
      "Failed",
      "PaymentFailed",
      "fáiled",
      "PAYMENT_FAILED",
      "Cancelled",
      "canceled",
      "Refunded",
      "Rejected",
      "transfer-rejected"
    ].map((enTransaction): NotRead => [
      `the status ${enTransaction}`,
      recordWith({ enTransaction }),
      "NotAsAsked",
      "enTransaction"
    ])
  ]
  effect.each(wrong)(
    "an answer with %s has an unknown outcome, and its error shows what was recorded",
    function* (row) {
      const error = yield* checkNotRead(withdraw, row, 201)
      assert(error._tag === "OutcomeUnknown")
      assert.strictEqual(error.idempotencyKey, "wd_1")
      if (row[2] !== "NotAsAsked") return
      const { enTransaction, value } = row[1] as ReturnType<typeof record> // the body of this row
      assert.deepStrictEqual({ ...error.seen }, { id: "55", value: String(value), status: enTransaction })
    }
  )

  effect.each(
    `AWAITING_PAYMENT Pending Paid PAGO SUCESSO em_análise Settled Accepted NO_ERROR not_failed Cancelable CANCELLABLE
     Refundable NotRejected Unfailed FALHOU REJEITADO Error Expired Returned timed_out EM_PROCESSAMENTO`.split(/\s+/)
  )(
    "the status %s is that of a withdrawal, is counted, and is logged as a warning at each call",
    function* (enTransaction) {
      const use = withdrawing({}, { idempotencyKey: "wd_1" })
      const { lines, misfits, result } = yield* call(use, respond(201, recordWith({ enTransaction })), { times: 2 })
      assert.propertyVal(Result.getOrThrow(result), "enTransaction", enTransaction)
      assert.deepStrictEqual(misfits, { enTransaction: 2 })
      assert.deepStrictEqual(
        lines.map(([level, line]) => [level, /enTransaction of the answer is no documented status/.test(line)]),
        [
          ["Warn", true],
          ["Warn", true]
        ]
      )
    }
  )

  effect(
    "a value above the amount is accepted if the policy accepts it, and a value of zero or below never",
    function* () {
      const given: Array<readonly [number, string]> = []
      const acceptValue: PaymentsPolicy["acceptValue"] = ({ asked, value }) => {
        given.push([asked, Money.format(value)])
        return Money.ReaisOrder(value, Money.reais("12")) < 0
      }
      const tagOf = function* (value: number, policy: Partial<PaymentsPolicy>) {
        const { result } = yield* call(withdraw, respond(201, recordWith({ value })), { policy })
        return Result.isSuccess(result) ? "a withdrawal" : result.failure._tag
      }
      assert.strictEqual(yield* tagOf(11.5, { acceptValue }), "a withdrawal")
      assert.strictEqual(yield* tagOf(12.5, { acceptValue }), "OutcomeUnknown")
      assert.deepStrictEqual(given, [
        [1000, Money.format(Money.reais("11.5"))],
        [1000, Money.format(Money.reais("12.5"))]
      ])
      assert.strictEqual(yield* tagOf(11, { acceptValue: () => assert.fail("no") }), "OutcomeUnknown")
      assert.strictEqual(yield* tagOf(0, { acceptValue: () => true }), "OutcomeUnknown")
    }
  )

  effect.each([
    ["12345678901234567.89", "12345678901234567.89"],
    ["10.005", "10.005"],
    ["1e21", "1000000000000000000000"],
    ["1E-7", "0.0000001"],
    ["0.30000000000000004", "0.30000000000000004"],
    ["9007199254740993", "9007199254740993"],
    [`"12345678901234567.89"`, "12345678901234567.89"]
  ] as const)("the value %s has exactly the digits that were written", function* ([written, expected]) {
    const body = JSON.stringify(recordWith({ value: 0 })).replace(`"value":0`, `"value":${written}`)
    const { value } = yield* requestOf(withdraw, respond(201, body), { policy: { acceptValue: () => true } })
    assert.isTrue(Equal.equals(Object(value).value, Money.reais(expected)))
  })
})

const options = (given: object) => withdrawing({}, given)

const refused: ReadonlyArray<Refused> = [
  ...[-1000, 1000.5, undefined].map((amount): Refused => [
    `${amount} as its amount`,
    withdrawing({ amount }),
    "amount"
  ]),
  ["a currency in small letters", withdrawing({ currency: "brl" }), "currency"],
  ["a kind of key without a key", withdrawing({ pixKeyType: "CPF" }), "pixKeyType"],
  ["a plain key without its kind", withdrawing({ pixKey: "52998224725" }), "pixKeyType"],
  ["a plain key of an unknown kind", withdrawing({ pixKey: canary, pixKeyType: canary }), "pixKeyType"],
  ["a PIX key that is no text", withdrawing({ pixKey: 42, pixKeyType: "EVP" }), "pixKeyType"],
  [
    "a PixKey with a kind beside it",
    withdrawing({ pixKey: PixKey.cpf("52998224725"), pixKeyType: "CPF" }),
    "pixKeyType"
  ],
  ["a CPF with wrong check digits", withdrawing({ pixKey: "12345678901", pixKeyType: "CPF" }), "pixKey"],
  ["an empty key", withdrawing({ pixKey: "", pixKeyType: "EVP" }), "pixKey"],
  ["an undocumented field", withdrawing({ canary }), "canary"],
  ["a description that is no text", withdrawing({ description: 42 }), "description"],
  ["a description of a megabyte", withdrawing({ description: `${canary}${"x".repeat(1_000_000)}` }), "description"],
  ["metadata with a __proto__", withdrawing({ metadata: JSON.parse(`{"a":{"__proto__":"${canary}"}}`) }), "metadata"],
  ["metadata with a constructor", withdrawing({ metadata: { constructor: canary } }), "metadata"],
  ["metadata that contains itself", withdrawing({ metadata: odd.cyclic }), "metadata"],
  ["metadata nested too deep", withdrawing({ metadata: odd.deep }), "metadata"],
  ["metadata of a list", withdrawing({ metadata: [canary] }), "metadata"],
  ["metadata of a number", withdrawing({ metadata: 42 }), "metadata"],
  ["null as the request", (payments) => payments.requestWithdrawal(null as never), ""], // as from JavaScript
  ["null as its options", (payments) => withdraw(payments, null as never), ""], // as from JavaScript
  ["options that throw when they are read", options(odd.throwing), ""],
  ["a misspelt option", options({ idempotencykey: canary }), "idempotencykey"],
  ...["", 42, `${canary}\0`, `${canary} `, `${canary}é`].map((idempotencyKey): Refused => [
    `the key ${JSON.stringify(idempotencyKey)}`,
    options({ idempotencyKey }),
    "idempotencyKey"
  ])
]

describe("a request of requestWithdrawal", () => {
  effect.each(refused)("with %s is refused, and nothing is sent", function* (row) {
    yield* checkRefused(row)
  })

  effect("of 999 centavos fails with BelowMinimum before it is sent, and one of 1000 is sent", function* () {
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

  effect(
    "that is refused by the service has in its error the amount that was sent, also if it was changed since",
    function* () {
      const given: { amount: Money.Centavos } = { ...keyedWithdrawal }
      const response = () => {
        given.amount = Money.centavos(5)
        return new Response(JSON.stringify({ message: "O valor do saque é menor que o valor mínimo" }), { status: 422 })
      }
      const { error } = yield* errorOf((payments) => payments.requestWithdrawal(given), { response })
      assert.deepInclude(error, { _tag: "BelowMinimum", amount: withdrawal.amount })
    }
  )
})
