/**
 * QR codes of copy-and-paste texts, for a page, an image or a terminal.
 *
 * Gotchas:
 * - Nothing of the text but its modules comes out, so a text from anywhere is safe to draw into a page. The picture is
 *   as good as the text, though: keep it out of logs too.
 * - Each function throws a `SchemaError`, which does not quote the text, if that is longer than 2331 bytes of UTF-8, the
 *   most that a QR code of level M holds. A BR Code is far shorter.
 */
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { encode, renderUnicodeCompact } from "uqr"

/** How a picture is drawn. */
export interface SvgOptions {
  /** Width and height of the picture in pixels, unless the page says otherwise. Default: 256. */
  readonly size?: number | undefined
}

const maxBytes = 2331

const utf8 = new TextEncoder()

const bytesOf = (payload: string | Redacted.Redacted): Array<number> => {
  const bytes = utf8.encode(Predicate.isString(payload) ? payload : Redacted.value(payload))
  if (bytes.length > maxBytes) {
    throw new Schema.SchemaError(new SchemaIssue.InvalidValue({ expected: `a text of at most ${maxBytes} bytes` }))
  }
  return Array.from(bytes)
}

// Level M, and better where it fits; four modules of quiet around it, as ISO/IEC 18004 wants.
const qr = { ecc: "M", boostEcc: true, border: 4 } as const

/**
 * A black and white picture as an `<svg>` element, with its quiet zone.
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
  const pixels = options?.size ?? 256
  const runs = data.flatMap((row, y) =>
    Array.from(
      row
        .map((dark) => (dark ? "#" : " "))
        .join("")
        .matchAll(/#+/g),
      ({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`
    )
  )
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${pixels}" height="${pixels}" viewBox="0 0 ${size} ${size}" ` +
    `shape-rendering="crispEdges" role="img" aria-label="QR code">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${runs.join("")}"/></svg>`
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
 * The code in block characters, two rows of it a line, for a terminal with light text on a dark background. A code of
 * 200 characters takes about 65 columns and 33 lines.
 */
export const terminal = (payload: string | Redacted.Redacted): string => renderUnicodeCompact(bytesOf(payload), qr)
