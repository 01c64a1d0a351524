/**
 * QR codes of copy-and-paste texts, for a page, an image or a terminal.
 *
 * Gotchas:
 * - A picture holds only the modules of the code, no text, so any text is safe to draw into a page. But a picture can be
 *   read back into the text: keep it out of logs too.
 * - Each function throws a `SchemaError`, which does not quote the text, if that is longer than 2331 bytes of UTF-8, the
 *   most that a QR code of level M holds. A BR Code is far shorter.
 */
import * as Redacted from "effect/Redacted"
import { encode } from "uqr"
import { refuse, refusing } from "../internal/refuse.ts"

/** How a picture is drawn. */
export interface SvgOptions {
  /** Width and height of the picture in pixels, unless the page says otherwise. Default: 256. */
  readonly size?: number | undefined
}

/** How a code is written into a terminal. */
export interface TerminalOptions {
  /** What the terminal shows behind its text: `dark` (light text), or `light` (dark text). Default: `dark`. */
  readonly background?: "dark" | "light" | undefined
}

const maxBytes = 2331

const utf8 = new TextEncoder()

const textOf = refusing("Expected a text, or a redacted one", (payload: unknown) => {
  const text = Redacted.isRedacted(payload) ? Redacted.value(payload) : payload
  return typeof text === "string" ? text : refuse("")
})

const bytesOf = (payload: string | Redacted.Redacted): Array<number> => {
  const bytes = utf8.encode(textOf(payload))
  return bytes.length > maxBytes ? refuse(`Expected a text of at most ${maxBytes} bytes`) : Array.from(bytes)
}

// Level M, and better where it fits; four modules of quiet around it, as ISO/IEC 18004 wants.
const qr = { ecc: "M", boostEcc: true, border: 4 } as const

const pixelsOf = refusing("Expected a size in pixels, above 0", (options?: SvgOptions) => {
  const { size = 256 } = options ?? {}
  return Number.isFinite(size) && size > 0 ? size : refuse("")
})

/**
 * A black and white picture as an `<svg>` element, with its quiet zone.
 *
 * A module is drawn as a whole number of pixels of the size that is asked for, and what is left over widens the border:
 * modules of unequal width are harder to scan. If a page shows it at another size, ask for that size here.
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
  // A picture smaller than a pixel a module is for a page that enlarges it.
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

const blocks = [" ", "▄", "▀", "█"]

/**
 * The code in block characters, two rows of it a line. A code of 200 characters takes about 65 columns and 33 lines.
 *
 * A block has the colour of the text. So the code is right for light text on a dark background, and needs
 * `{ background: "light" }` for dark text on a light one: many phones do not read an inverted code.
 */
export const terminal = (payload: string | Redacted.Redacted, options?: TerminalOptions): string => {
  const { data } = encode(bytesOf(payload), qr)
  const drawn = inkOf(options)
  // Below an odd last row there is nothing to draw.
  const bit = (y: number, x: number) => (data[y]?.[x] === drawn ? 1 : 0)
  const lines = data.flatMap((row, y) =>
    y % 2 === 0 ? [row.map((_, x) => blocks[bit(y, x) * 2 + bit(y + 1, x)]).join("")] : []
  )
  return lines.join("\n")
}

/** Whether it is the dark modules that are drawn. */
const inkOf = refusing("Expected options", (options?: TerminalOptions) => options?.background === "light")
