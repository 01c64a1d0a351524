/**
 * Tests one rule for bad input on every exported function of the PIX values, the references and the metadata. A
 * function for literals throws a `SchemaError`. A function that reads, parses or returns an `Option` never throws. No
 * function throws another error, whatever value a caller without types gives, if that can be read.
 */
import { inspect } from "node:util"
import { assert, it } from "@effect/vitest"
import { BrCode, Document, IdempotencyKey, Metadata, Money, PixKey, QrCode } from "effect-pix"
import { BigDecimal, Option, Result, Schema } from "effect"
import { drawn, runs } from "../support/seed.ts"

const secret = "fulano-de-tal"

const long = runs(20_000, 1_000_000)

const hostile: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  zero: 0,
  NaN: Number.NaN,
  "a fraction": 0.5,
  "a number beyond the safe integers": 2 ** 53,
  "a bigint": 10n ** 60n,
  "an empty text": "",
  "a text": secret,
  "a lone surrogate": "a\ud800b",
  "a NUL": "a\0b",
  "a long text": "a".repeat(long),
  "many digits": "1".repeat(long),
  "many accents": "\u0301".repeat(long),
  "an exponent": "1e999999999",
  "a symbol": Symbol(secret),
  "a function": () => secret,
  "an object": { secret },
  "an object without prototype": Object.create(null),
  "an array": [secret],
  "a text that is an object": Object(secret),
  "a false BigDecimal": { ...BigDecimal.make(1n, 0), value: "1", scale: "x" },
  "a false key": { _tag: "PixKey", type: "CPF" }
}

const modules = { BrCode, Document, IdempotencyKey, Metadata, Money, PixKey, QrCode }

/** Functions of Effect, and functions whose input is a schema and not a value. */
const exempt = new Set(["Metadata.codec"])

const functions = Object.entries(modules).flatMap(([module, exports]) =>
  Object.entries<unknown>(exports).flatMap(([name, value]) =>
    typeof value === "function" && !Schema.isSchema(value) && !exempt.has(`${module}.${name}`)
      ? [{ name: `${module}.${name}`, run: value }]
      : []
  )
)

/** The functions for literals, and those of checked values: they throw. */
const throwing: ReadonlyArray<string> = [
  ..."BrCode.checkAmount IdempotencyKey.fingerprint IdempotencyKey.fromReference".split(" "),
  ..."Document.cnpj Document.cpf Document.format Document.mask Document.matches Document.of".split(" "),
  ..."Money.centavos Money.format Money.fromReais Money.percent Money.reais".split(" "),
  ..."Money.split Money.sum Money.toReais".split(" "),
  ..."PixKey.cnpj PixKey.cpf PixKey.email PixKey.evp PixKey.phone PixKey.toPair PixKey.value".split(" "),
  ..."QrCode.dataUrl QrCode.svg QrCode.terminal".split(" ")
]

/** The arguments for a hostile value: alone, after a good first argument, and in every place. */
const calls = (value: unknown): ReadonlyArray<ReadonlyArray<unknown>> => [
  [value],
  [value, value],
  ["payout", value],
  [value, "CPF"],
  ["CPF", value],
  [Money.centavos(1), value],
  [[value]],
  [{ problems: value, amount: value }, value]
]

it.each(drawn(functions))(
  "$name throws a SchemaError if it is for literals, and nothing if it is not",
  ({ name, run }) => {
    for (const [kind, value] of Object.entries(hostile)) {
      for (const call of calls(value)) {
        try {
          const given: unknown = run(...call)
          if (name.endsWith("Option")) assert.isTrue(Option.isOption(given), kind)
          if (/\.(make|parse|generate|fromPair)$/.test(name)) assert.isTrue(Result.isResult(given), kind)
        } catch (error) {
          assert.instanceOf(error, Schema.SchemaError, `${kind}: ${error instanceof Error ? error.stack : "?"}`)
          assert.include(throwing, name, kind)
          assert.notInclude(`${error.message}${inspect(error)}`, secret)
        }
      }
    }
  }
)

const schemas = Object.entries(modules).flatMap(([module, exports]) =>
  Object.entries<unknown>(exports).flatMap(([name, value]) =>
    Schema.isSchema(value) ? [{ name: `${module}.${name}`, schema: value }] : []
  )
)

it.each(drawn(schemas))("$name fails to decode hostile input without a throw of another kind", ({ schema }) => {
  // None of these schemas needs a service.
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)
  for (const value of Object.values(hostile))
    for (const input of [value, { pixKey: value, pixKeyType: "PHONE" }, { pixKey: "fulano", pixKeyType: value }])
      assert.isTrue(Result.isResult(decode(input)))
})
