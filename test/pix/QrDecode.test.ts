/**
 * Reads our QR codes as a phone does: paints them into pixels and reads them with jsQR, which shares no code with the
 * library that drew them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as QrCode from "../../src/pix/QrCode.ts"
import { generate } from "../support/brCode.ts"
import { answered, published } from "../support/brCodes.ts"
import { runs, seed, seeded } from "../support/seed.ts"
import { paint, paintTerminal, scan, tilt } from "../support/scanner.ts"

const [first, ...others] = [
  ...Object.entries(published),
  ...Object.entries(answered).map(([name, { payload }]) => [name, payload] as const)
]
if (first === undefined) throw new Error("no codes to read")
const payloads = [first, ...others] as const

const Options = Schema.Struct({
  key: Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,30}@[a-z]{1,20}\.com\.br$/)),
  merchantName: Schema.String.check(Schema.isPattern(/^[A-Z][A-Za-z0-9 ]{0,23}[a-z]$/)),
  merchantCity: Schema.String.check(Schema.isPattern(/^[A-Z][a-z]{0,14}$/)),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999_999 })),
  txid: Schema.optional(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9]{1,25}$/)))
})

/** The payload for a test, by its number. */
const payloadOf = (turn: number) => payloads[turn % payloads.length] ?? first

describe("a QR code that jsQR reads", () => {
  for (const [index, [name, payload]] of payloads.entries()) {
    const size = [256, 301, 512][index % 3]
    it(`an SVG at ${size} pixels and a terminal's code give back the text of ${name}`, () => {
      assert.strictEqual(scan(paint(QrCode.svg(payload, { size }))), payload)
      assert.strictEqual(scan(paintTerminal(QrCode.terminal(payload))), payload)
      const inverted = QrCode.terminal(payload, { background: "light" })
      assert.strictEqual(scan(paintTerminal(inverted, "light")), payload)
    })
  }

  it("an SVG gives back its text at every size from 150 pixels", () => {
    const missed: Array<string> = []
    const { below } = seeded(seed)
    for (const size of [...Array.from({ length: runs(10, 50) }, (_, n) => 150 + n * runs(15, 3)), 255.5]) {
      const [name, payload] = payloadOf(below(payloads.length))
      if (scan(paint(QrCode.svg(payload, { size }))) !== payload) missed.push(`${name} at ${size}`)
    }
    assert.deepStrictEqual(missed, [])
  })

  it("an SVG of less than a pixel a module gives back its text on a page that enlarges it", () => {
    for (const turn of [0, 5, 10]) {
      const [, payload] = payloadOf(turn)
      assert.strictEqual(scan(paint(QrCode.svg(payload, { size: 40 }), 800)), payload)
    }
  })

  it.each([7, 45, 90, 173, 180])("an SVG gives back its text to a phone that is held at %d degrees", (degrees) => {
    for (let turn = 0; turn < runs(2, 4); turn++) {
      const [, payload] = payloadOf(degrees + turn)
      assert.strictEqual(scan(tilt(paint(QrCode.svg(payload, { size: 400 })), degrees)), payload)
    }
  })

  it("an SVG stays readable with a stain over a twentieth of it", () => {
    for (const [, payload] of payloads.slice(0, runs(4, payloads.length))) {
      const picture = paint(QrCode.svg(payload, { size: 400 }))
      const isStained = (x: number, y: number) => Math.abs(x - 200) < 40 && Math.abs(y - 200) < 40
      assert.strictEqual(
        scan({ ...picture, darkness: (x, y) => (isStained(x, y) ? 1 : picture.darkness(x, y)) }),
        payload
      )
    }
  })

  it.prop(
    "any code gives back its text, on a page and in a terminal",
    [Options],
    ([options]) => {
      const payload = generate(options)
      assert.strictEqual(scan(paint(QrCode.svg(payload))), payload)
      assert.strictEqual(scan(paintTerminal(QrCode.terminal(payload))), payload)
    },
    { arbitrary: { runs: runs(5, 20) } }
  )

  it("a QR code gives back text beyond ASCII", () => {
    const text = "Pão de açúcar, 2 × R$ 5,00"
    assert.strictEqual(scan(paint(QrCode.svg(text))), text)
    assert.strictEqual(scan(paintTerminal(QrCode.terminal(text))), text)
  })

  it("jsQR reads another text from another code, and no text from a picture without a code", () => {
    const [[, one], [, other]] = [payloadOf(0), payloadOf(1)]
    assert.notStrictEqual(scan(paint(QrCode.svg(one))), other)
    assert.isUndefined(scan({ width: 256, height: 256, darkness: () => 0 }))
  })
})
