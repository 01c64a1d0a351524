/**
 * The QR codes as a phone sees them: painted into pixels and read by jsQR, which knows nothing of the library that drew
 * them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as BrCode from "../../src/pix/BrCode.ts"
import * as Money from "../../src/pix/Money.ts"
import * as QrCode from "../../src/pix/QrCode.ts"
import { answered, published } from "../support/brCodes.ts"
import { paint, paintTerminal, scan, tilt } from "../support/scanner.ts"

const payloads = [
  ...Object.entries(published),
  ...Object.entries(answered).map(([name, { payload }]) => [name, payload] as const)
]

const Options = Schema.Struct({
  key: Schema.String.check(Schema.isPattern(/^[a-z0-9]{1,30}@[a-z]{1,20}\.com\.br$/)),
  merchantName: Schema.String.check(Schema.isPattern(/^[A-Z][A-Za-z0-9 ]{0,23}[a-z]$/)),
  merchantCity: Schema.String.check(Schema.isPattern(/^[A-Z][a-z]{0,14}$/)),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999_999 })),
  txid: Schema.optional(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9]{1,25}$/)))
})

describe("a QR code that another program reads", () => {
  describe.each([256, 301, 512])("as SVG at %d pixels", (size) => {
    it.each(payloads)("gives back the text of %s", (_, payload) => {
      assert.strictEqual(scan(paint(QrCode.svg(payload, { size }))), payload)
    })
  })

  describe("in a terminal", () => {
    it.each(payloads)("gives back the text of %s, on a dark and on a light background", (_, payload) => {
      assert.strictEqual(scan(paintTerminal(QrCode.terminal(payload))), payload)
      const inverted = QrCode.terminal(payload, { background: "light" })
      assert.strictEqual(scan(paintTerminal(inverted, "light")), payload)
    })
  })

  it("gives back the text at every size that is asked for, from 150 pixels", () => {
    const missed: Array<string> = []
    for (const [name, payload] of payloads) {
      for (const size of [...Array.from({ length: 50 }, (_, n) => 150 + n * 3), 255.5]) {
        if (scan(paint(QrCode.svg(payload, { size }))) !== payload) missed.push(`${name} at ${size}`)
      }
    }
    assert.deepStrictEqual(missed, [])
  })

  it("is drawn smaller than a pixel a module for a page that enlarges it", () => {
    for (const [, payload] of payloads) assert.strictEqual(scan(paint(QrCode.svg(payload, { size: 40 }), 800)), payload)
  })

  it("as a data URL gives back the text", () => {
    for (const [, payload] of payloads) {
      const [type, svg = ""] = QrCode.dataUrl(payload).split(/,(.*)/s)
      assert.strictEqual(type, "data:image/svg+xml")
      assert.strictEqual(scan(paint(decodeURIComponent(svg))), payload)
    }
  })

  it.each([7, 45, 90, 173, 180])("can be held at %d degrees", (degrees) => {
    for (const [, payload] of payloads) {
      assert.strictEqual(scan(tilt(paint(QrCode.svg(payload, { size: 400 })), degrees)), payload)
    }
  })

  it("stays readable with a stain over a twentieth of it", () => {
    for (const [, payload] of payloads) {
      const picture = paint(QrCode.svg(payload, { size: 400 }))
      const isStained = (x: number, y: number) => Math.abs(x - 200) < 40 && Math.abs(y - 200) < 40
      assert.strictEqual(
        scan({ ...picture, darkness: (x, y) => (isStained(x, y) ? 1 : picture.darkness(x, y)) }),
        payload
      )
    }
  })

  it.prop("gives back any code that we make, on a page and in a terminal", [Options], ([options]) => {
    const payload = Result.getOrThrow(BrCode.generate({ ...options, amount: Money.centavos(options.amount) }))
    assert.strictEqual(scan(paint(QrCode.svg(payload))), payload)
    assert.strictEqual(scan(paintTerminal(QrCode.terminal(payload))), payload)
  })

  it("gives back text beyond ASCII", () => {
    const text = "Pão de açúcar, 2 × R$ 5,00"
    assert.strictEqual(scan(paint(QrCode.svg(text))), text)
    assert.strictEqual(scan(paintTerminal(QrCode.terminal(text))), text)
  })

  it("is not read where a code of another text is shown", () => {
    const [[, one], [, other]] = payloads as [(typeof payloads)[0], (typeof payloads)[0]]
    assert.notStrictEqual(scan(paint(QrCode.svg(one))), other)
    assert.isUndefined(scan({ width: 256, height: 256, darkness: () => 0 }))
  })
})
