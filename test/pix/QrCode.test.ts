import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import * as QrCode from "../../src/pix/QrCode.ts"

const payload =
  "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4"

type Modules = ReadonlyArray<ReadonlyArray<boolean>>

/** Reads the modules of an SVG: a light square, and dark runs on it. */
const fromSvg = (text: string): Modules => {
  const size = sideOf(text)
  const svg = QrCode.svg(text, { size })
  assert.include(svg, ` width="${size}" height="${size}" viewBox="0 0 ${size} ${size}" `)
  assert.include(svg, `<path fill="#fff" d="M0 0h${size}v${size}H0z"/>`)
  const [, runs = ""] = /<path d="([^"]*)"\/><\/svg>$/.exec(svg) ?? []
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  const rest = runs.replaceAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g, (_, x, y, width) => {
    for (let i = 0; i < Number(width); i++) {
      const row = rows[Number(y)] ?? []
      assert.isFalse(row[Number(x) + i])
      row[Number(x) + i] = true
    }
    return ""
  })
  assert.strictEqual(rest, "")
  return rows
}

/** The number of modules in a row: a terminal shows one module in each column. */
const sideOf = (text: string) => QrCode.terminal(text).split("\n")[0]?.length ?? 0

/**
 * Reads the modules of a terminal code. A block is a light module. The half line below an odd last row is not part of
 * the code.
 */
const fromTerminal = (text: string): Modules => {
  const lines = text.split("\n").map((line) => Array.from(line))
  const rows = lines.flatMap((line) => [
    line.map((block) => block !== "█" && block !== "▀"),
    line.map((block) => block !== "█" && block !== "▄")
  ])
  return rows.slice(0, lines[0]?.length)
}

const masks: ReadonlyArray<(y: number, x: number) => boolean> = [
  (y, x) => (y + x) % 2 === 0,
  (y) => y % 2 === 0,
  (_, x) => x % 3 === 0,
  (y, x) => (y + x) % 3 === 0,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (y, x) => ((y * x) % 2) + ((y * x) % 3) === 0,
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2 === 0,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2 === 0
]

const toNumber = (bits: ReadonlyArray<boolean>) => bits.reduce((sum, bit) => sum * 2 + Number(bit), 0)

const isFunction = (y: number, x: number) =>
  y === 6 || x === 6 || (y < 9 && x < 9) || (y < 9 && x > 12) || (y > 12 && x < 9)

/** Reads a code of version 1 by ISO/IEC 18004: quiet zone off, unmask, zigzag, byte mode. */
const readVersion1 = (picture: Modules): string => {
  const modules = picture.slice(4, -4).map((row) => row.slice(4, -4))
  assert.strictEqual(modules.length, 21)
  const at = (y: number, x: number) => modules[y]?.[x] === true
  const format = toNumber([0, 1, 2, 3, 4].map((x) => at(8, x))) ^ 0b10101
  const mask = masks[format & 0b111]
  assert.isDefined(mask)
  const bits: Array<boolean> = []
  let upwards = true
  for (const right of [20, 18, 16, 14, 12, 10, 8, 5, 3, 1]) {
    for (let step = 0; step < 21; step++) {
      const y = upwards ? 20 - step : step
      for (const x of [right, right - 1]) {
        if (!isFunction(y, x)) bits.push(at(y, x) !== mask?.(y, x))
      }
    }
    upwards = !upwards
  }
  assert.strictEqual(toNumber(bits.slice(0, 4)), 4)
  const length = toNumber(bits.slice(4, 12))
  const bytes = Array.from({ length }, (_, i) => toNumber(bits.slice(12 + i * 8, 20 + i * 8)))
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

const finder = ["#######", "#     #", "# ### #", "# ### #", "# ### #", "#     #", "#######"]
const corner = (picture: Modules, y: number, x: number) =>
  picture.slice(y, y + 7).map((row) =>
    row
      .slice(x, x + 7)
      .map((dark) => (dark ? "#" : " "))
      .join("")
  )

const assertScannable = (picture: Modules) => {
  const size = picture.length
  const far = size - 11
  assert.isTrue(picture.every((row) => row.length === size))
  assert.deepStrictEqual(corner(picture, 4, 4), finder)
  assert.deepStrictEqual(corner(picture, 4, far), finder)
  assert.deepStrictEqual(corner(picture, far, 4), finder)
  assert.notDeepEqual(corner(picture, far, far), finder)
  picture.forEach((row, y) =>
    row.forEach((dark, x) => {
      if (Math.min(y, x, size - 1 - y, size - 1 - x) < 4) assert.isFalse(dark)
    })
  )
}

describe("QrCode.svg", () => {
  it("an SVG paints the finders and the quiet zone that a scanner looks for", () => {
    assertScannable(fromSvg(payload))
  })

  it.each(["00020126", "hello, world!", "Pão de açúc", "'\"<&>"])("an SVG can be read back: %j", (text) => {
    assert.strictEqual(readVersion1(fromSvg(text)), text)
  })

  it("an SVG has the requested size, and 256 pixels by default", () => {
    assert.include(QrCode.svg(payload), ` width="256" height="256" `)
    assert.include(QrCode.svg(payload, { size: 320 }), ` width="320" height="320" `)
  })

  it("an SVG draws modules of whole pixels in the middle, and refuses a wrong size", () => {
    for (const size of [200, 256, 301, 320, 512]) {
      const svg = QrCode.svg(payload, { size })
      const module = Math.floor(size / sideOf(payload))
      const start = Math.floor((size - module * sideOf(payload)) / 2)
      assert.include(svg, `"M${start + 4 * module} ${start + 4 * module}h${7 * module}v${module}h-${7 * module}z`)
      assert.notInclude(svg, ".5")
    }
    for (const size of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => QrCode.svg(payload, { size }), Schema.SchemaError)
    }
  })

  it("an SVG draws a redacted text like a plain one", () => {
    assert.strictEqual(QrCode.svg(Redacted.make(payload)), QrCode.svg(payload))
  })

  it.prop("an SVG holds no part of the text in its markup", [Schema.String], ([any]) => {
    const text = `${any}<script>alert("1")</script>'`
    assert.match(
      QrCode.svg(text),
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="256" height="256" viewBox="0 0 256 256" role="img" aria-label="QR code"><path fill="#fff" d="[\dMhvHz -]+"\/><path d="[\dMhvz -]+"\/><\/svg>$/
    )
  })

  it("an SVG accepts the longest text that fits, and refuses a longer one without quoting it", () => {
    assertScannable(fromSvg("x".repeat(2331)))
    for (const draw of [QrCode.svg, QrCode.dataUrl, QrCode.terminal]) {
      try {
        draw(`fulano@example.com${"ã".repeat(1157)}`)
        assert.fail("was accepted")
      } catch (error) {
        assert.isTrue(Schema.isSchemaError(error))
        assert.notInclude(String(error), "fulano")
      }
    }
  })
})

describe("QrCode.dataUrl", () => {
  it("a data URL is the same picture, in characters that end no attribute", () => {
    const url = QrCode.dataUrl(payload, { size: 99 })
    assert.match(url, /^data:image\/svg\+xml,[\w%.~!*-]+$/)
    assert.strictEqual(decodeURIComponent(url.slice(url.indexOf(",") + 1)), QrCode.svg(payload, { size: 99 }))
  })
})

describe("QrCode.terminal", () => {
  it("a terminal's code shows the same modules in light blocks", () => {
    for (const text of [payload, "a", payload.repeat(3)]) {
      const picture = fromTerminal(QrCode.terminal(text))
      assertScannable(picture)
      assert.deepStrictEqual(picture, fromSvg(text))
    }
  })

  it("a terminal's code draws the dark modules for a light background, and nothing below an odd last row", () => {
    for (const text of [payload, "a"]) {
      const inverted = QrCode.terminal(text, { background: "light" })
      assert.deepStrictEqual(
        fromTerminal(inverted).map((row) => row.map((dark) => !dark)),
        fromSvg(text)
      )
      assert.match(inverted.split("\n").at(-1) ?? "", /^ +$/)
    }
    assert.strictEqual(QrCode.terminal(payload, { background: "dark" }), QrCode.terminal(payload))
  })

  it("a terminal's code can be read back", () => {
    assert.strictEqual(readVersion1(fromTerminal(QrCode.terminal("00020126"))), "00020126")
  })

  it("a terminal's code fits a terminal of 80 columns with a code of 200 characters", () => {
    const lines = QrCode.terminal(payload.padEnd(200, "0")).split("\n")
    assert.isAtMost(Math.max(...lines.map((line) => line.length)), 80)
  })
})
