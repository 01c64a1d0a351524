import { assert, describe } from "@effect/vitest"
import { IdempotencyKey, Money, Payments, type PaymentsError, PixKey } from "effect-pix"
import { Effect } from "effect"
import { charge, created, detail, listed, record, withdrawal } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"

const { customer } = charge

describe("an input that is refused before anything is sent", () => {
  const canary = "canary-7f3e"

  type Use = (payments: Payments["Service"]) => Effect.Effect<unknown, PaymentsError>

  /** The input of a caller without types. */
  const create =
    (change: object, options?: object): Use =>
    (payments) =>
      payments.createTransaction({ ...charge, ...change }, options)
  const withdraw =
    (change: object, options?: object): Use =>
    (payments) =>
      payments.requestWithdrawal({ ...withdrawal, ...change }, options)
  const look =
    (id: unknown): Use =>
    (payments) =>
      payments.getTransaction(id as string)
  const list =
    (options: unknown): Use =>
    (payments) =>
      payments.listTransactions(options as object)
  const read =
    (options: unknown): Use =>
    (payments) =>
      payments.getBalance(options as object)

  const throwing = Object.defineProperty({}, "companyId", { get: () => assert.fail(canary), enumerable: true })
  Object.defineProperty(throwing, "idempotencyKey", { get: () => assert.fail(canary), enumerable: true })

  const cyclic: Record<string, unknown> = { canary }
  cyclic["self"] = cyclic

  const deep = (levels: number): unknown => {
    let value: unknown = canary
    for (let level = 0; level < levels; level++) value = { level: value }
    return value
  }

  const customerWith = (change: object) => ({ customer: { ...customer, ...change } })
  const item = { title: "Café", unitPrice: 100, quantity: 1 }
  const boleto = (extra: unknown) => ({ paymentMethod: "BOLETO", extra })

  const cases: ReadonlyArray<readonly [name: string, use: Use, path: string]> = [
    ["a negative amount", create({ amount: -1 }), "amount"],
    ["an amount with a fraction", create({ amount: 25.5 }), "amount"],
    ["an amount beyond the safe integers", create({ amount: 2 ** 53 }), "amount"],
    ["an amount that is text", create({ amount: canary }), "amount"],
    ["an amount that is not a number", create({ amount: Number.NaN }), "amount"],
    ["an infinite amount", create({ amount: Infinity }), "amount"],
    ["no amount", create({ amount: undefined }), "amount"],
    ["an unknown method", create({ paymentMethod: canary }), "paymentMethod"],
    ["a method in small letters", create({ paymentMethod: "pix" }), "paymentMethod"],
    ["a currency that is none", create({ currency: canary }), "currency"],
    ["a field that the contract does not name", create({ canary }), "canary"],
    ["an extra of a PIX charge", create({ extra: { canary } }), "extra"],
    ["pix options of a boleto", create({ paymentMethod: "BOLETO", pix: { expiresInDays: 1 } }), "pix"],
    [
      "an undocumented field of a boleto outside extra",
      create({ paymentMethod: "BOLETO", dueDate: canary }),
      "dueDate"
    ],
    ["no customer", create({ customer: undefined }), "customer"],
    ["a customer without a name", create(customerWith({ name: undefined })), "customer.name"],
    ["a customer with an empty name", create(customerWith({ name: "" })), "customer.name"],
    ["a customer without an e-mail", create(customerWith({ email: undefined })), "customer.email"],
    ["an e-mail that is none", create(customerWith({ email: canary })), "customer.email"],
    ["an undocumented field of the customer", create(customerWith({ canary })), "customer.canary"],
    [
      "an undocumented field of a boleto's customer",
      create({ paymentMethod: "BOLETO", ...customerWith({ canary }) }),
      "customer.canary"
    ],
    ["a phone with signs", create(customerWith({ phone: `+55 ${canary}` })), "customer.phone"],
    ["a document without a type", create(customerWith({ document: { number: canary } })), "customer.document.type"],
    ["an item of quantity 0", create({ items: [{ ...item, quantity: 0 }] }), "items.0.quantity"],
    ["an item with half a centavo", create({ items: [item, { ...item, unitPrice: 0.5 }] }), "items.1.unitPrice"],
    ["an expiry of half a day", create({ pix: { expiresInDays: 0.5 } }), "pix.expiresInDays"],
    ["no installment", create({ installments: 0 }), "installments"],
    ["a payer's address that is none", create({ ip: canary }), "ip"],
    ["an extra that names a documented field", create(boleto({ amount: 1 })), "extra"],
    ["an extra that is no record", create(boleto(canary)), "extra"],
    ["an extra that contains itself", create(boleto(cyclic)), "extra"],
    ["an extra with a function", create(boleto({ canary: () => canary })), "extra"],
    ["an extra with a bigint", create(boleto({ canary: 1n })), "extra"],
    ["an extra with a __proto__", create(boleto(JSON.parse(`{"__proto__":"${canary}"}`))), "extra"],

    ["an extra nested too deep to be written", create(boleto(deep(50_000))), ""],
    ["a charge that is no object", (payments) => payments.createTransaction(null as never), "paymentMethod"],
    ["a withdrawal that is no object", (payments) => payments.requestWithdrawal(null as never), ""],
    ["a PIX key that is no text", withdraw({ pixKey: 42, pixKeyType: "EVP" }), "pixKeyType"],
    ["options of a balance that are no object", read(42), ""],

    ["a negative withdrawal", withdraw({ amount: -1000 }), "amount"],
    ["a withdrawal with a fraction", withdraw({ amount: 1000.5 }), "amount"],
    ["a withdrawal without an amount", withdraw({ amount: undefined }), "amount"],
    ["a withdrawal in a currency that is none", withdraw({ currency: "brl" }), "currency"],
    ["a kind of key without a key", withdraw({ pixKeyType: "CPF" }), "pixKeyType"],
    ["a plain key without its kind", withdraw({ pixKey: "52998224725" }), "pixKeyType"],
    ["a plain key of an unknown kind", withdraw({ pixKey: canary, pixKeyType: canary }), "pixKeyType"],
    ["a CPF with wrong check digits", withdraw({ pixKey: "12345678901", pixKeyType: "CPF" }), "pixKey"],
    ["an empty key", withdraw({ pixKey: "", pixKeyType: "EVP" }), "pixKey"],
    [
      "a PixKey with a kind beside it",
      withdraw({ pixKey: PixKey.cpf("52998224725"), pixKeyType: "CPF" }),
      "pixKeyType"
    ],
    ["an undocumented field of a withdrawal", withdraw({ canary }), "canary"],
    ["a description that is no text", withdraw({ description: 42 }), "description"],
    ["metadata with a __proto__", withdraw({ metadata: JSON.parse(`{"a":{"__proto__":"${canary}"}}`) }), "metadata"],
    ["metadata with a constructor", withdraw({ metadata: { constructor: canary } }), "metadata"],
    ["metadata that contains itself", withdraw({ metadata: cyclic }), "metadata"],
    ["metadata nested too deep", withdraw({ metadata: deep(50_000) }), "metadata"],
    ["metadata of a list", withdraw({ metadata: [canary] }), "metadata"],
    ["metadata of a number", withdraw({ metadata: 42 }), "metadata"],

    ["a description of a megabyte", withdraw({ description: `${canary}${"x".repeat(1_000_000)}` }), "description"],
    ["a charge of more than 65536 characters", create({ items: Array.from({ length: 2000 }, () => item) }), ""],
    ["an extra of a megabyte", create(boleto({ note: `${canary}${"x".repeat(1_000_000)}` })), ""],
    ["options of a charge that are a number", create({}, 5 as unknown as object), ""],
    ["options of a withdrawal that are null", withdraw({}, null as unknown as object), ""],
    ["options that throw when they are read", withdraw({}, throwing), ""],
    ["a charge that throws when it is read", create(boleto(throwing)), ""],
    ["a query that is a list", list([]), ""],
    ["a query that is null", list(null), ""],
    ["a balance of options that are a text", read(canary), ""],
    ["a balance of options that throw when they are read", read(throwing), ""],

    ["an empty idempotency key", withdraw({}, { idempotencyKey: "" }), "idempotencyKey"],
    [
      "an idempotency key with a line break",
      create({}, { idempotencyKey: `${canary}\r\nX-Evil: 1` }),
      "idempotencyKey"
    ],
    ["an idempotency key with NUL", withdraw({}, { idempotencyKey: `${canary}\0` }), "idempotencyKey"],
    ["an idempotency key with a space", withdraw({}, { idempotencyKey: `${canary} ` }), "idempotencyKey"],
    ["an idempotency key beyond ASCII", withdraw({}, { idempotencyKey: `${canary}é` }), "idempotencyKey"],
    ["an idempotency key of 256 characters", create({}, { idempotencyKey: "k".repeat(256) }), "idempotencyKey"],
    ["an idempotency key that is a number", withdraw({}, { idempotencyKey: 42 }), "idempotencyKey"],
    ["an option that is misspelt", withdraw({}, { idempotencykey: canary }), "idempotencykey"],

    ["an empty id", look(""), "transactionId"],
    ["the id .", look("."), "transactionId"],
    ["the id ..", look(".."), "transactionId"],
    ["an id with a slash", look(`../${canary}`), "transactionId"],
    ["an id with a backslash", look(`..\\${canary}`), "transactionId"],
    ["an id with a line break", look(`${canary}\r\n`), "transactionId"],
    ["an id with a space", look(` ${canary}`), "transactionId"],
    ["an id beyond ASCII", look(`${canary}é`), "transactionId"],
    ["an id of 129 characters", look("a".repeat(129)), "transactionId"],
    ["an id that is a number", look(91), "transactionId"],
    ["no id", look(undefined), "transactionId"],

    ["a page size of 0", list({ pageSize: 0 }), "pageSize"],
    ["a page size of 101", list({ pageSize: 101 }), "pageSize"],
    ["half a row", list({ pageSize: 1.5 }), "pageSize"],
    ["page 0", list({ page: 0 }), "page"],
    ["a page that is text", list({ page: "1" }), "page"],
    ["an order that the service does not know", list({ sort: canary }), "sort"],
    ["a misspelt option of a list", list({ pagesize: 10 }), "pagesize"],

    ["no company", read({}), "companyId"],
    ["a negative company", read({ companyId: -1 }), "companyId"],
    ["half a company", read({ companyId: 7.5 }), "companyId"],
    ["a company that is text", read({ companyId: `../${canary}` }), "companyId"],
    ["a balance in a currency that is none", read({ companyId: 7, currency: `BRL&x=${canary}` }), "currency"],
    ["a misspelt option of a balance", read({ companyId: 7, canary }), "canary"]
  ]

  effect.each(cases)("%s is refused as InvalidRequest, and nothing is sent", function* ([, use, path]) {
    const { layer, sent } = scripted(respond(500))
    const error = yield* Effect.flip(Effect.flatMap(Payments, use)).pipe(Effect.provide(paymentsOn(layer)))
    assert.strictEqual(error._tag, "InvalidRequest")
    if (error._tag !== "InvalidRequest") return
    assert.deepStrictEqual([error.outcome, error.attempts, sent.length], ["NotSent", 0, 0])
    assert.include(
      error.issues.map((issue) => issue.path),
      path
    )
    const printed = `${String(error)} ${JSON.stringify(error)}`
    // The name of a field may be shown; its value never is.
    assert.notInclude(path.includes("canary") ? printed.replaceAll(path, "") : printed, canary)
  })

  effect("a withdrawal of 999 centavos fails with BelowMinimum, and one of 1000 is sent", function* () {
    const { layer, sent } = scripted(respond(201, record("wd_2")))
    yield* Effect.gen(function* () {
      const payments = yield* Payments
      const error = yield* Effect.flip(payments.requestWithdrawal({ amount: Money.centavos(999) }))
      assert.strictEqual(error._tag, "BelowMinimum")
      if (error._tag !== "BelowMinimum") return
      assert.deepStrictEqual(
        [error.outcome, error.attempts, error.amount, error.minimum, error.idempotencyKey, sent.length],
        ["NotSent", 0, 999, 1000, "wd_1", 0]
      )
      yield* payments.requestWithdrawal({ amount: Money.centavos(1000) })
      assert.strictEqual(sent.length, 1)
    }).pipe(Effect.provide(paymentsOn(layer)))
  })

  effect("the bounds themselves are accepted: a page of 100 rows, an id of 128 characters, a key of 255", function* () {
    const id = "a".repeat(128)
    const { layer, sent } = scripted(
      respond(200, listed),
      respond(200, { ...detail, transactionId: id }),
      respond(200, created)
    )
    const idempotencyKey = IdempotencyKey.IdempotencyKey.make("k".repeat(255))
    yield* Effect.gen(function* () {
      const payments = yield* Payments
      yield* payments.listTransactions({ pageSize: 100 })
      yield* payments.getTransaction(id)
      yield* payments.createTransaction(charge, { idempotencyKey })
    }).pipe(Effect.provide(paymentsOn(layer)))
    assert.strictEqual(sent.length, 3)
  })
})
