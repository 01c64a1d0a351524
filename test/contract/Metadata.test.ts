import { assert, describe, it } from "@effect/vitest"
import { DateTime, Exit, Schema } from "effect"
import * as Metadata from "../../src/contract/Metadata.ts"

const decode = Schema.decodeUnknownExit(Metadata.Metadata)

/** What the refusal says, which never shows the value. */
const refusal = (exit: Exit.Exit<unknown, Schema.SchemaError>) => {
  assert(Exit.isFailure(exit), "was accepted")
  const text = String(exit.cause.reasons.map((reason) => (reason._tag === "Fail" ? reason.error.message : reason._tag)))
  assert.notInclude(text, "canary")
  return text
}

const tooBig = "must not be larger than 4096 bytes, nor contain itself"
const notJson = "must hold JSON values only"
const notMetadata = "must be a string or a JSON object"

class Canary {
  readonly canary = "canary"
}

const own = (key: string): unknown => JSON.parse(`{"${key}":{"admin":"canary"}}`)
const nest = (levels: number) => {
  let value: object = {}
  for (let level = 1; level < levels; level++) value = { inner: value }
  return value
}

const right: ReadonlyArray<unknown> = [
  "",
  "invoice-42",
  {},
  { a: [1, -0.5, true, null, { b: "ç" }] },
  Object.create(null),
  nest(400),
  "a".repeat(4096),
  "ç".repeat(2048),
  { a: "a".repeat(4096 - 8) }
]

const outside = [Number.NaN, Infinity, 1n, () => "canary", Symbol("canary"), undefined, new Date(0), new Canary()]
const wrong: ReadonlyArray<readonly [problem: string, values: ReadonlyArray<unknown>]> = [
  [notMetadata, [undefined, null, 1, true, [], ["canary"], 1n, () => "canary", Symbol("canary")]],
  [notJson, outside.flatMap((value) => [{ canary: value }, { canary: [{ canary: value }] }])],
  [notJson, [new Canary(), new Map(), new Error("canary"), { canary: Array(2) }, { __proto__: { admin: true } }]],
  ...["__proto__", "constructor", "prototype"].map(
    (key) => [`must not have the key "${key}"`, [own(key), { canary: [{ canary: own(key) }] }]] as const
  ),
  [tooBig, ["a".repeat(4097), "ç".repeat(2049), { a: "a".repeat(4096 - 7) }, { ["k".repeat(4097)]: 1 }]],
  [tooBig, [{ a: "ç".repeat(2045) }, { a: Array(2048).fill(1) }, nest(1_000_000)]]
]

describe("Metadata", () => {
  it.each(right)("metadata is accepted as it is: %j", (value) => {
    assert.deepStrictEqual<unknown>(decode(value), Exit.succeed(value))
  })

  it.each(wrong)("metadata %s", (problem, values) => {
    for (const value of values)
      for (const reportInput of [false, true])
        assert.include(
          refusal(Schema.decodeUnknownExit(Metadata.Metadata, { reportInput })(value)),
          `Metadata ${problem}`
        )
  })

  it("metadata is read no further than to 4096 bytes", () => {
    let reads = 0
    const cycle = {
      get again() {
        reads += 1
        assert.isBelow(reads, 2050)
        return [cycle, cycle]
      }
    }
    assert.include(refusal(decode({ canary: cycle })), tooBig)
  })

  it("metadata is described as a string or an object, and passes through its JSON form", () => {
    const { schema } = Schema.toJsonSchemaDocument(Metadata.Metadata)
    for (const part of ['"type":"string"', '"type":"object"']) assert.include(JSON.stringify(schema), part)
    const json = Schema.toCodecJson(Metadata.Metadata)
    for (const value of ["text", { a: [1, { b: null }] }]) {
      assert.deepStrictEqual<unknown>(Schema.encodeSync(json)(value), value)
      assert.deepStrictEqual<unknown>(Schema.decodeSync(json)(value), value)
    }
    assert.include(refusal(Schema.decodeExit(json)({ constructor: "canary" })), "constructor")
  })
})

describe("Metadata.codec", () => {
  const Payout = Schema.Struct({
    invoice: Schema.String,
    dueAt: Schema.optionalKey(Schema.DateTimeUtc),
    tags: Schema.Array(Schema.String)
  })
  const codec = Metadata.codec(Payout)
  const value = { invoice: "A-42", dueAt: DateTime.makeUnsafe("2026-03-01T12:00:00Z"), tags: ["rent", "março"] }
  const object = { invoice: "A-42", dueAt: "2026-03-01T12:00:00.000Z", tags: ["rent", "março"] }
  const once = JSON.stringify(object)
  const escaped = once.replaceAll('"', String.raw`\u0022`).replaceAll("ç", String.raw`\u00e7`)
  const longest = JSON.stringify(JSON.stringify({ a: '"'.repeat(2044) }))

  const anything = Metadata.codec(Schema.Record(Schema.String, Schema.Unknown))
  const read = Schema.decodeUnknownExit(anything)
  const write = Schema.encodeUnknownExit(anything)

  it.each([object, once, JSON.stringify(once), `"${escaped}"`])(
    "the codec writes an object, and reads what the service makes of it: %j",
    (stored) => {
      assert.deepStrictEqual<unknown>(Schema.encodeSync(codec)(value), object)
      assert.deepStrictEqual(Schema.decodeUnknownSync(codec)(stored), value)
    }
  )

  const thrice = JSON.stringify(JSON.stringify(once))
  const notJson = [thrice, "canary", "", "{", "null", "[1]", "42", '"canary"', '"\\"canary\\""']
  it.each([
    ["must be a JSON object, or the JSON text of one", notJson],
    [notMetadata, [null, undefined, 1, []]],
    ['must not have the key "__proto__"', ['{"a":{"__proto__":{"canary":1}}}']],
    ['must not have the key "constructor"', [{ constructor: "canary" }]],
    [tooBig, [`{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`, JSON.stringify({ a: "a".repeat(4096) })]],
    [tooBig, [" ".repeat(40_000)]]
  ])("stored metadata %s, or it is not read: %j", (problem, stored) => {
    for (const text of stored) assert.include(refusal(read(text)), `Metadata ${problem}`)
    assert.isTrue(Exit.isSuccess(read(longest)))
  })

  it("the codec does not write what is no object, too big or has a wrong key, and fails with your schema's issue", () => {
    assert.include(
      // @ts-expect-error the service knows a string or an object, so the schema is one of an object
      refusal(Schema.encodeUnknownExit(Metadata.codec(Schema.Array(Schema.String)))(["canary"])),
      notMetadata
    )
    assert.include(refusal(write({ a: "a".repeat(4096) })), tooBig)
    assert.include(refusal(write(JSON.parse('{"prototype":"canary"}'))), '"prototype"')
    assert.include(refusal(Schema.decodeExit(codec)({ invoice: "A-42", tags: ["canary", 1] })), '["tags"][1]')
  })
})
