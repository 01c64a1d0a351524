import { hash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import * as QrCode from "../../src/pix/QrCode.ts"
import { vectors } from "../support/brCode.ts"

const payload = vectors.dynamicUrl

/** The codes from which another library (jsQR) has read their texts, each as the hash of its picture in a terminal. */
const read: ReadonlyArray<readonly [text: string, picture: string]> = [
  ["00020126", "dd9aa59bb3ce91469874beecad025f72fb7453e0"],
  [payload, "b30a4c2af2c6621a35b4b03ba93e2dbe94b0fed0"],
  ["Pão de açúcar, 2 × R$ 5,00", "d92dc0b6091a0798459ccca6bfb8938d498275da"]
]

type Modules = ReadonlyArray<ReadonlyArray<boolean>>

/** The dark modules of a terminal's code. The half line below an odd last row is not part of the code. */
const fromTerminal = (text: string): Modules => {
  const lines = text.split("\n").map((line) => Array.from(line))
  const rows = lines.flatMap((line) => [
    line.map((block) => block !== "█" && block !== "▀"),
    line.map((block) => block !== "█" && block !== "▄")
  ])
  return rows.slice(0, lines[0]?.length)
}

/** The number of modules in a row: a terminal shows one module in each column. */
const sideOf = (text: string) => fromTerminal(QrCode.terminal(text)).length

/** The dark modules of an SVG with a pixel for each: a light square, and dark runs on it that do not overlap. */
const fromSvg = (text: string): Modules => {
  const size = sideOf(text)
  const svg = QrCode.svg(text, { size })
  assert.include(svg, ` width="${size}" height="${size}" viewBox="0 0 ${size} ${size}" `)
  assert.include(svg, `<path fill="#fff" d="M0 0h${size}v${size}H0z"/>`)
  const [, runs = ""] = /<path d="([^"]*)"\/><\/svg>$/.exec(svg) ?? []
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
  const rest = runs.replaceAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g, (_, x, y, width) => {
    assert.isFalse(rows[Number(y)]?.slice(Number(x), Number(x) + Number(width)).includes(true))
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(width))
    return ""
  })
  assert.strictEqual(rest, "")
  return rows
}

describe("QrCode.terminal", () => {
  it.each(read)("the code of %s is the one from which another library has read it", (text, picture) => {
    assert.strictEqual(hash("sha1", QrCode.terminal(text)), picture)
    assert.strictEqual(QrCode.terminal(text, { background: "dark" }), QrCode.terminal(text))
    const inverted = QrCode.terminal(text, { background: "light" })
    assert.deepStrictEqual(
      fromTerminal(inverted).map((row) => row.map((dark) => !dark)),
      fromTerminal(QrCode.terminal(text))
    )
    // Nothing is below an odd last row.
    assert.match(inverted.split("\n").at(-1) ?? "", /^ +$/)
  })

  it("a code of 200 characters fits a terminal of 80 columns", () => {
    assert.isAtMost(sideOf(payload.padEnd(200, "0")), 80)
  })
})

describe("QrCode.svg", () => {
  it.each([payload, "a", "Pão de açúcar", "x".repeat(2331)])(
    "an SVG shows the modules of the terminal's code, with a border of four: %j",
    (text) => {
      const modules = fromSvg(text)
      assert.deepStrictEqual(modules, fromTerminal(QrCode.terminal(text)))
      const dark = modules.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [x, y] : [])))
      assert.deepStrictEqual([Math.min(...dark), Math.max(...dark)], [4, modules.length - 5])
    }
  )

  it.each([undefined, 40, 99, 256, 301, 255.5])("an SVG of size %s has its modules in the middle", (size) => {
    const side = sideOf(payload)
    const pixels = size ?? 256
    const svg = QrCode.svg(payload, { size })
    const module = pixels < side ? pixels / side : Math.floor(pixels / side)
    const start = Math.floor((pixels - module * side) / 2)
    assert.include(svg, ` width="${pixels}" height="${pixels}" viewBox="0 0 ${pixels} ${pixels}" `)
    assert.include(svg, `"M${start + 4 * module} ${start + 4 * module}h${7 * module}v${module}h-${7 * module}z`)
  })

  it.prop("an SVG has no part of the text in its markup", [Schema.String], ([any]) => {
    assert.match(
      QrCode.svg(Redacted.make(`${any}<script>alert("1")</script>'`)),
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="256" height="256" viewBox="0 0 256 256" role="img" aria-label="QR code"><path fill="#fff" d="[\dMhvHz -]+"\/><path d="[\dMhvz -]+"\/><\/svg>$/
    )
  })

  it("a data URL is the same picture also of a redacted text, in characters that end no attribute", () => {
    const url = QrCode.dataUrl(Redacted.make(payload), { size: 99 })
    assert.match(url, /^data:image\/svg\+xml,[\w%.~!*-]+$/)
    assert.strictEqual(decodeURIComponent(url.slice(url.indexOf(",") + 1)), QrCode.svg(payload, { size: 99 }))
  })

  const long = `fulano@example.com${"ã".repeat(1157)}`
  it.each<[string, string, () => string]>([
    ["a code", "at most 2331 bytes", () => QrCode.svg(long)],
    ["a code for a terminal", "at most 2331 bytes", () => QrCode.terminal(long)],
    ...[0, -1, Number.NaN, Infinity].map((size): [string, string, () => string] => [
      `a picture of ${size} pixels`,
      "a size in pixels, above 0",
      () => QrCode.svg("fulano", { size })
    ])
  ])("%s that is not of %s is refused, without quoting the text", (_, words, draw) => {
    try {
      draw()
      assert.fail("was accepted")
    } catch (error) {
      assert.instanceOf(error, Schema.SchemaError)
      assert.include(error.message, words)
      assert.notInclude(String(error), "fulano")
    }
  })
})
