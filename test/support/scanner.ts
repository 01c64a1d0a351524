/** A phone's view of our QR codes: painted into pixels, and read by jsQR, which shares no code with what draws them. */
import { default as jsQr } from "jsqr"

/** Pixels, each dark or light. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly isDark: (x: number, y: number) => boolean
}

/** What the decoder reads of a square of pixels, or undefined. */
export const scan = (picture: Picture): string | undefined => {
  const { height, isDark, width } = picture
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (isDark(x, y)) pixels.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3)
    }
  }
  return jsQr.default(pixels, width, height, { inversionAttempts: "dontInvert" })?.data
}

/** Paints an SVG of ours at the size that it states: the dark path, on the light one. */
export const paint = (svg: string): Picture => {
  const [, size = "", box = ""] = /width="(\d+)" height="\1" viewBox="0 0 (\d+) \2"/.exec(svg) ?? []
  const [, runs = ""] = /<path d="([^"]*)"\/><\/svg>$/.exec(svg) ?? []
  const side = Number(box)
  const dark = new Uint8Array(side * side)
  for (const [, x, y, width] of runs.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    const start = Number(y) * side + Number(x)
    dark.fill(1, start, start + Number(width))
  }
  const scale = side / Number(size)
  return {
    width: Number(size),
    height: Number(size),
    isDark: (x, y) => dark[Math.floor((y + 0.5) * scale) * side + Math.floor((x + 0.5) * scale)] === 1
  }
}

/** Paints what a dark terminal shows of text: a character is 8 by 16 pixels, and a block is light. */
export const paintTerminal = (text: string): Picture => {
  const lines = text.split("\n").map((line) => Array.from(line))
  const light = new Map([
    [" ", ""],
    ["▀", "upper"],
    ["▄", "lower"],
    ["█", "upper lower"]
  ])
  const halves = lines.map((line) =>
    line.map((block) => {
      const half = light.get(block)
      if (half === undefined) throw new Error("neither a block nor a space")
      return half
    })
  )
  return {
    width: (lines[0]?.length ?? 0) * 8,
    height: lines.length * 16,
    isDark: (x, y) => !halves[Math.floor(y / 16)]?.[Math.floor(x / 8)]?.includes(y % 16 < 8 ? "upper" : "lower")
  }
}

/** The picture on a light wall, seen by somebody who holds the phone at this angle. */
export const tilt = (picture: Picture, degrees: number): Picture => {
  const radians = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)]
  const size = Math.ceil(picture.width * (Math.abs(cos) + Math.abs(sin)))
  const [from, to] = [size / 2, picture.width / 2]
  return {
    width: size,
    height: size,
    isDark: (x, y) =>
      picture.isDark(
        Math.round((x - from) * cos + (y - from) * sin + to),
        Math.round((y - from) * cos - (x - from) * sin + to)
      )
  }
}
