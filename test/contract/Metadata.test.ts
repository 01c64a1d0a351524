import { assert, describe, expect, it } from "@effect/vitest"
import { DateTime, type Effect, Exit, Schema } from "effect"
import { expectTypeOf } from "vitest"
import * as Metadata from "../../src/contract/Metadata.ts"
import { effect } from "../support/effect.ts"

const decode = Schema.decodeUnknownExit(Metadata.Metadata)

const refusal = (exit: Exit.Exit<unknown, Schema.SchemaError>) => {
  assert(Exit.isFailure(exit))
  const text = String(exit.cause.reasons.map((reason) => (reason._tag === "Fail" ? reason.error.message : reason._tag)))
  assert.notInclude(text, "canary")
  return text
}

const nest = (levels: number): unknown => {
  let value: unknown = {}
  for (let level = 1; level < levels; level++) value = { inner: value }
  return value
}

describe("Metadata", () => {
  it("Metadata accepts a string and an object of JSON values, as they are", () => {
    for (const value of ["", "invoice-42", {}, { a: [1, -0.5, true, null, { b: "ç" }] }, Object.create(null)]) {
      assert.strictEqual(
        Exit.getSuccess(decode(value)).pipe((o) => (o._tag === "Some" ? o.value : undefined)),
        value
      )
    }
  })

  it("Metadata refuses a value that is neither a string nor an object", () => {
    for (const value of [undefined, null, 1, true, [], ["canary"], 1n, () => "canary", Symbol("canary")]) {
      expect(refusal(decode(value))).toBe("Metadata must be a string or a JSON object")
    }
  })

  it("Metadata refuses a value that JSON cannot hold, and does not repeat it", () => {
    class Canary {
      readonly canary = "canary"
    }
    const hole: Array<string> = []
    hole.length = 2
    for (const value of [undefined, Number.NaN, Infinity, 1n, () => "canary", Symbol("canary"), new Date(0)]) {
      expect(refusal(decode({ canary: value }))).toContain("JSON values only")
      expect(refusal(decode({ canary: [{ canary: value }] }))).toContain("JSON values only")
    }
    for (const value of [new Canary(), new Map(), new Error("canary"), { canary: hole }]) {
      expect(refusal(decode(value))).toContain("JSON values only")
    }
  })

  it("Metadata refuses the keys that reach a prototype at any depth, and names them", () => {
    for (const key of ["__proto__", "constructor", "prototype"]) {
      const own: unknown = JSON.parse(`{"${key}":{"admin":"canary"}}`)
      expect(refusal(decode(own))).toBe(`Metadata must not have the key "${key}"`)
      expect(refusal(decode({ canary: [{ canary: own }] }))).toBe(`Metadata must not have the key "${key}"`)
    }
  })

  it("Metadata refuses an object that inherits properties", () => {
    expect(refusal(decode({ __proto__: { admin: true } }))).toContain("JSON values only")
  })

  it("Metadata refuses a hostile depth, a cycle and an exponential graph without exhausting the machine", () => {
    assert.isTrue(Exit.isSuccess(decode(nest(400))))
    expect(refusal(decode(nest(1_000_000)))).toContain("4096 bytes")
    const cycle: Record<string, unknown> = { canary: 1 }
    cycle["again"] = [cycle]
    expect(refusal(decode(cycle))).toContain("nor contain itself")
    let graph: unknown = "canary"
    for (let level = 0; level < 6; level++) graph = Array.from({ length: 1000 }).fill(graph)
    expect(refusal(decode({ graph }))).toContain("4096 bytes")
  })

  it("Metadata counts UTF-8 bytes of the text", () => {
    assert.isTrue(Exit.isSuccess(decode("a".repeat(4096))))
    expect(refusal(decode("a".repeat(4097)))).toContain("4096 bytes")
    assert.isTrue(Exit.isSuccess(decode("ç".repeat(2048))))
    expect(refusal(decode("ç".repeat(2049)))).toContain("4096 bytes")
    assert.isTrue(Exit.isSuccess(decode({ a: "a".repeat(4096 - 8) })))
    expect(refusal(decode({ a: "a".repeat(4096 - 7) }))).toContain("4096 bytes")
    expect(refusal(decode({ ["k".repeat(4097)]: 1 }))).toContain("4096 bytes")
  })

  it("Metadata does not report the input even if reporting is on", () => {
    const exit = Schema.decodeUnknownExit(Metadata.Metadata, { reportInput: true })({ canary: 1n })
    expect(refusal(exit)).toContain("JSON values only")
  })

  it("Metadata is described as a string or an object in JSON Schema, and passes through its JSON form", () => {
    const { schema } = Schema.toJsonSchemaDocument(Metadata.Metadata)
    expect(JSON.stringify(schema)).toContain('"type":"string"')
    expect(JSON.stringify(schema)).toContain('"type":"object"')
    const json = Schema.toCodecJson(Metadata.Metadata)
    for (const value of ["text", { a: [1, { b: null }] }]) {
      expect(Schema.encodeSync(json)(value)).toEqual(value)
      expect(Schema.decodeSync(json)(value)).toEqual(value)
    }
    expect(refusal(Schema.decodeExit(json)({ constructor: "canary" }))).toContain("constructor")
  })
})

describe("Metadata.codec", () => {
  const Payout = Schema.Struct({
    invoice: Schema.String,
    dueAt: Schema.optionalKey(Schema.DateTimeUtc),
    note: Schema.optional(Schema.String),
    tags: Schema.Array(Schema.String)
  })
  const codec = Metadata.codec(Payout)
  const value = { invoice: "A-42", dueAt: DateTime.makeUnsafe("2026-03-01T12:00:00Z"), tags: ["rent", "março"] }
  const object = { invoice: "A-42", dueAt: "2026-03-01T12:00:00.000Z", tags: ["rent", "março"] }

  it("a codec keeps the types: yours on one side, Metadata on the other", () => {
    expectTypeOf<(typeof codec)["Type"]>().toEqualTypeOf<(typeof Payout)["Type"]>()
    expectTypeOf<(typeof codec)["Encoded"]>().toEqualTypeOf<Metadata.Metadata>()
    expectTypeOf(Schema.decodeUnknownEffect(codec)).returns.toEqualTypeOf<
      Effect.Effect<(typeof Payout)["Type"], Schema.SchemaError>
    >()
    expectTypeOf(Schema.encodeEffect(codec)(value)).toEqualTypeOf<
      Effect.Effect<Metadata.Metadata, Schema.SchemaError>
    >()
    // @ts-expect-error the service knows a string or an object, so the schema is one of an object
    expect(refusal(Schema.encodeUnknownExit(Metadata.codec(Schema.Array(Schema.String)))(["canary"]))).toContain(
      "must be a string or a JSON object"
    )
  })

  effect("a codec encodes to the object that the service stores as its JSON", function* () {
    assert.deepStrictEqual(yield* Schema.encodeEffect(codec)(value), object)
  })

  effect("a codec reads the stored text, the object itself, and text that was encoded twice", function* () {
    const once = JSON.stringify(object)
    const escaped = once.replaceAll('"', String.raw`\u0022`).replaceAll("ç", String.raw`\u00e7`)
    for (const stored of [object, once, JSON.stringify(once), `"${escaped}"`]) {
      assert.deepStrictEqual(yield* Schema.decodeEffect(codec)(stored), value)
    }
  })

  it("a codec unwraps at most two encodings, and needs an object in the end", () => {
    const encodedThreeTimes = JSON.stringify(JSON.stringify(JSON.stringify(object)))
    for (const stored of [encodedThreeTimes, "canary", "", "{", "null", "[1]", "42", '"canary"', '"\\"canary\\""']) {
      expect(refusal(Schema.decodeExit(codec)(stored))).toBe("Metadata must be a JSON object, or the JSON text of one")
    }
    for (const stored of [null, undefined, 1, []]) {
      expect(refusal(Schema.decodeUnknownExit(codec)(stored))).toContain("must be a string or a JSON object")
    }
  })

  it("a codec checks the bounds when it decodes", () => {
    const anything = Schema.decodeUnknownExit(Metadata.codec(Schema.Record(Schema.String, Schema.Unknown)))
    expect(refusal(anything('{"a":{"__proto__":{"canary":1}}}'))).toContain('"__proto__"')
    expect(refusal(anything({ constructor: "canary" }))).toContain('"constructor"')
    expect(refusal(anything(`{"a":${"[".repeat(9000)}${"]".repeat(9000)}}`))).toContain("4096 bytes")
    expect(refusal(anything(JSON.stringify({ a: "a".repeat(4096) })))).toContain("4096 bytes")
    expect(refusal(anything(" ".repeat(40_000)))).toContain("4096 bytes")
    const full = { a: '"'.repeat(2044) }
    assert.isTrue(Exit.isSuccess(anything(JSON.stringify(JSON.stringify(full)))))
  })

  it("a codec checks the bounds when it encodes", () => {
    const anything = Schema.encodeUnknownExit(Metadata.codec(Schema.Record(Schema.String, Schema.Unknown)))
    expect(refusal(anything({ a: "a".repeat(4096) }))).toContain("4096 bytes")
    expect(refusal(anything(JSON.parse('{"prototype":"canary"}')))).toContain('"prototype"')
  })

  it("a codec fails with your schema's issue, without the value", () => {
    const text = refusal(Schema.decodeExit(codec)({ invoice: "A-42", tags: ["canary", 1] }))
    expect(text).toContain('["tags"][1]')
  })

  it.prop(
    "a codec returns the sent value for every object",
    [Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null]))],
    ([sent]) => {
      const any = Metadata.codec(Schema.Record(Schema.String, Schema.Json))
      const encoded = Schema.encodeUnknownExit(any)(sent)
      if (Exit.isFailure(encoded)) return
      const stored = JSON.stringify(encoded.value)
      assert.deepStrictEqual(Schema.decodeSync(any)(stored), JSON.parse(JSON.stringify(sent)))
    }
  )
})
