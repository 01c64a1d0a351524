/**
 * Compares the fast readers and writers with their schemas: both give the same value and leave out the same fields, or
 * the fast one returns `undefined`, so that the schema is used.
 */
import { assert, describe, test } from "@effect/vitest"
import { Result, type Schema } from "effect"
import * as Endpoints from "../../src/contract/Endpoints.ts"
import { bodyEncoder } from "../../src/client/internal/call/prepare.ts"
import { bodyDecoder, type FastReader } from "../../src/client/internal/wire/decode.ts"
import { readCharge, readPage } from "../../src/client/internal/wire/fastReaders.ts"
import { writePixCharge } from "../../src/client/internal/wire/writePixCharge.ts"
import { parts, runs, seeded } from "../support/seed.ts"
import brcode from "../fixtures/field/created-brcode.json" with { type: "json" }
import { charge, created, fullCharge, listed } from "../support/operations.ts"

/** How many mutated inputs each shape is tested with. */
const inputs = runs(600, 20_000)

type Random = ReturnType<typeof seeded>

const numbers = [0, -0, 1, -1, 0.5, 1e21, 2 ** 53, Number.NaN]
const others = [true, false, [], {}, [{}], ["PIX"], { id: "x" }, { extra: 1 }, { number: "1", type: "CPF" }]

/** Values for fields: right for some fields, wrong for others, and at the bounds. */
const oddities: readonly [unknown, ...Array<unknown>] = [
  null,
  undefined,
  ..." |PIX|pix|BRL|brl|a@b|a @b|11987654321|203.0.113.7|::1|21/11/2026|\u{1F600}\uD800|".split("|"),
  ..."2026-11-21T10:00:00Z 2026-11-21T10:00:00.123Z 2026-11-21T10:00:00.12Z 2026-11-21T10:00:00 2026-11-21".split(" "),
  ..."2026-11-21T07:00:00-03:00 2026-02-30T10:00:00Z 2026-10-31T10:00:00+00:00 2026-11-21T10:00:00+73:66".split(" "),
  ..."2026-13-01T10:00:00Z 2026-11-28T24:00:00Z 2026-11-28T23:59:60Z 2026-1١-21T10:00:00Z".split(" "),
  ...numbers,
  ...others,
  { qrcode: "0002" },
  { expiresInDays: 1 }
]

const names: readonly [string, ...Array<string>] = [
  "extra",
  ..."brcode payloadBase64 expiresAt externalRef postbackUrl".split(" "),
  ..."id amount status pix lead items ok error companyId toJSON constructor size unitPrice tangible".split(" "),
  ..."name email currency 0 paymentMethod note".split(" ")
]

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** A random object or list inside a value, or the value itself. */
const somewhere = (value: Record<string, unknown>, random: Random): Record<string, unknown> => {
  const inner = Object.values(value).filter(isContainer)
  const [first, ...rest] = inner
  return first === undefined || random.next() < 0.25 ? value : somewhere(random.pick([first, ...rest]), random)
}

/** Changes a copy in one to three places: replaces, removes, adds or moves a field. */
const mutated = (base: object, random: Random): unknown => {
  const copy: unknown = structuredClone(base)
  if (!isContainer(copy)) return copy
  const odd = () => structuredClone(random.pick(oddities))
  for (let changes = random.below(4); changes > 0; changes--) {
    const container = somewhere(copy, random)
    const [first = "x", ...rest] = Object.keys(container)
    const name = random.pick([first, ...rest])
    const kind = random.below(8)
    if (kind === 0) Reflect.deleteProperty(container, name)
    else if (kind === 1) container[random.pick(names)] = odd()
    else if (kind === 2) {
      const value = container[name]
      Reflect.deleteProperty(container, name)
      container[name] = value
    } else if (kind === 3 && Array.isArray(container)) container.push(odd())
    else container[name] = odd()
  }
  return copy
}

const [row] = listed.res.items
const { lead: _, ...leadless } = row ?? assert.fail("no row")
const page = { ...listed, res: { ...listed.res, items: [row, leadless, { id: 1, amount: 2, status: "" }] } }

/** Checks mutated inputs of a shape, of which the fast reader or writer must accept a fifth. */
const compare = (bases: readonly [object, ...Array<object>], check: (input: unknown) => boolean): void => {
  for (const { runs, seed } of parts(inputs)) {
    const random = seeded(seed)
    let taken = 0
    for (let run = 0; run < runs; run++) if (check(mutated(random.pick(bases), random))) taken++
    assert.isAbove(taken, runs / 5, `seed ${seed}`)
  }
}

/** Reads an answer. Returns its value, and the names of the fields that were left out. */
const decoding = <A>(schema: Schema.ConstraintDecoder<unknown> & { readonly Type: A }, fast?: FastReader<A>) => {
  const decode = bodyDecoder(schema, { exact: undefined, fast })
  return (text: string) => {
    const misfits = new Set<string>()
    const result = decode(text, misfits)
    return { result, misfits: [...misfits].toSorted(), order: JSON.stringify(Result.getOrNull(result)) }
  }
}

/** Whether the fast reader accepted a text. If it did, its schema must give the same result. */
const reads = <A>(schema: Schema.ConstraintDecoder<unknown> & { readonly Type: A }, fast: FastReader<A>) => {
  const [bySchema, byReader] = [decoding(schema), decoding(schema, fast)]
  return (input: unknown): boolean => {
    const text = JSON.stringify(input)
    const expected = bySchema(text)
    assert.deepStrictEqual(byReader(text), expected, text)
    const isTaken = fast(JSON.parse(text), new Set()) !== undefined
    assert.strictEqual(isTaken, Result.isSuccess(expected.result), `it takes what the schema reads: ${text}`)
    return isTaken
  }
}

describe("a reader or writer beside its schema", { timeout: 600_000 }, () => {
  test("a page is read with the same value and the same omitted fields as by its schema", () => {
    compare([page, listed], reads(Endpoints.listTransactions.response, readPage))
  })

  test("the answer to a charge is read with the same value and the same omitted fields as by its schema", () => {
    const bases: readonly [object, ...Array<object>] = [
      created,
      { ...created, companyId: 7, data: { ...created.data, note: { a: [1] }, companyId: 7 } },
      brcode
    ]
    compare(bases, reads(Endpoints.createTransaction.response, readCharge))
  })

  test("the fast writer writes a PIX charge with the same bytes as the schema", () => {
    const encode = bodyEncoder(Endpoints.createTransaction.body.members[0])
    const check = (input: unknown): boolean => {
      const text = writePixCharge(input)
      if (text === undefined) return false
      assert.strictEqual(text, Result.getOrUndefined(encode(input)))
      return true
    }
    compare([fullCharge, charge], check)
  })

  test("the fast writer leaves a request that is not a plain object to the schema", () => {
    const strange: ReadonlyArray<unknown> = [
      Object.create(charge),
      { ...charge, [Symbol("note")]: 1 },
      Object.defineProperty({ ...charge }, "hidden", { value: 1 }),
      null,
      "PIX",
      []
    ]
    for (const request of strange) assert.isUndefined(writePixCharge(request))
  })
})
