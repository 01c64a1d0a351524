/**
 * QR codes of copy-and-paste texts, for a page, an image or a terminal.
 *
 * Gotchas:
 * - A picture holds only the modules of the code and no text, so any text is safe in a page. A scanner can read the text
 *   from the picture: do not log pictures.
 * - Each function throws a `SchemaError`, which does not quote the text, if that is longer than 2331 bytes of UTF-8, the
 *   most that a QR code of level M holds. A BR Code is far shorter.
 */
declare module "./QrCode.ts" {}

import * as Redacted from "effect/Redacted"
import { encode, renderUnicodeCompact } from "uqr"
import { refuse, withSchemaError } from "../internal/refuse.ts"

/** Options of a picture. */
export interface SvgOptions {
  /** Width and height of the picture in pixels, unless the page says otherwise. Default: 256. */
  readonly size?: number | undefined
}

/** Options of a code for a terminal. */
export interface TerminalOptions {
  /** The background of the terminal: `dark` (with light text) or `light` (with dark text). Default: `dark`. */
  readonly background?: "dark" | "light" | undefined
}

const maxBytes = 2331

const utf8 = new TextEncoder()

const textOf = withSchemaError("Expected a text, or a redacted one", (payload: unknown) => {
  const text = Redacted.isRedacted(payload) ? Redacted.value(payload) : payload
  return typeof text === "string" ? text : refuse("")
})

const bytesOf = (payload: string | Redacted.Redacted): Array<number> => {
  const bytes = utf8.encode(textOf(payload))
  return bytes.length > maxBytes ? refuse(`Expected a text of at most ${maxBytes} bytes`) : Array.from(bytes)
}

// Level M, or a better one if the code does not grow by it. ISO/IEC 18004 requires a border of four modules.
const qr = { ecc: "M", boostEcc: true, border: 4 } as const

const pixelsOf = withSchemaError("Expected a size in pixels, above 0", (options?: SvgOptions) => {
  const { size = 256 } = options ?? {}
  return Number.isFinite(size) && size > 0 ? size : refuse("")
})

/**
 * A black and white picture as an `<svg>` element, with its quiet zone.
 *
 * Each module is a whole number of pixels wide, since modules of unequal width are harder to scan. The remaining pixels
 * widen the border. If a page shows the picture at another size, give that size here.
 *
 * ```ts
 * import { QrCode } from "effect-pix"
 *
 * const svg = QrCode.svg("00020101021226...", { size: 320 })
 * svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg" width="320" height="320"') // => true
 * ```
 */
export const svg = (payload: string | Redacted.Redacted, options?: SvgOptions): string => {
  const { data, size } = encode(bytesOf(payload), qr)
  const pixels = pixelsOf(options)
  // With less than a pixel for each module, the page has to enlarge the picture.
  const module = Math.floor(pixels / size) || pixels / size
  const start = Math.floor((pixels - module * size) / 2)
  const runs = data.flatMap((row, y) =>
    Array.from(
      row
        .map((dark) => (dark ? "#" : " "))
        .join("")
        .matchAll(/#+/g),
      ({ 0: run, index }) => {
        const width = run.length * module
        return `M${start + index * module} ${start + y * module}h${width}v${module}h-${width}z`
      }
    )
  )
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${pixels}" height="${pixels}" viewBox="0 0 ${pixels} ${pixels}" ` +
    `role="img" aria-label="QR code">` +
    `<path fill="#fff" d="M0 0h${pixels}v${pixels}H0z"/><path d="${runs.join("")}"/></svg>`
  )
}

/**
 * The same picture as a `data:` URL, for the `src` of an `<img>`.
 *
 * ```ts
 * import { QrCode } from "effect-pix"
 *
 * const image = `<img alt="QR code" src="${QrCode.dataUrl("00020101021226...")}">`
 * image.includes('src="data:image/svg+xml,%3Csvg') // => true
 * ```
 */
export const dataUrl = (payload: string | Redacted.Redacted, options?: SvgOptions): string =>
  `data:image/svg+xml,${encodeURIComponent(svg(payload, options))}`

/**
 * The code in block characters: one line of text shows two rows of modules. A code of 200 characters takes about 65
 * columns and 33 lines.
 *
 * A block has the colour of the text. By default the code is for light text on a dark background. For dark text on a light
 * background give `{ background: "light" }`: many phones do not read an inverted code.
 */
export const terminal = (payload: string | Redacted.Redacted, options?: TerminalOptions): string =>
  renderUnicodeCompact(bytesOf(payload), { ...qr, invert: isForLight(options) })

const isForLight = withSchemaError("Expected options", (options?: TerminalOptions) => options?.background === "light")
