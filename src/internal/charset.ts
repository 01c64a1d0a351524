/**
 * The encoding of a body, by its declared charset.
 */

/**
 * Makes the decoder of a body: for the charset of its `content-type`, or for UTF-8 where none is declared, or one that no
 * platform knows. A body of UTF-8 needs none: `undefined`, for those who have a faster way.
 */
export const decoderOf = (contentType: string | null | undefined): TextDecoder | undefined => {
  if (contentType === lastOfUtf8) return undefined
  const decoder = makeDecoder(contentType)
  if (decoder === undefined) lastOfUtf8 = contentType
  return decoder
}

/** A service writes the same header each time. */
let lastOfUtf8: string | null | undefined

const makeDecoder = (contentType: string | null | undefined): TextDecoder | undefined => {
  const label = /;\s*charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType ?? "")?.[1]?.toLowerCase()
  if (label === undefined || label === "utf-8" || label === "utf8" || label === "us-ascii") return undefined
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
