/**
 * Reads our QR codes like a phone: paints them into pixels and reads these with jsQR, which shares no code with our
 * writer.
 */
import { default as jsQr } from "jsqr"

/** A picture. Each pixel is a number from 0 (light) to 1 (dark). */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly darkness: (x: number, y: number) => number
}

/** Reads the text of a code in a square of pixels; `undefined` if there is none. */
export const scan = (picture: Picture): string | undefined => {
  const { darkness, height, width } = picture
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4
      pixels.fill(Math.round(255 * (1 - darkness(x, y))), at, at + 3)
    }
  }
  return jsQr.default(pixels, width, height, { inversionAttempts: "dontInvert" })?.data
}

/**
 * Paints one of our SVGs as a browser does, at its own size or at another: the dark path over the light one. A pixel is
 * as dark as its covered part. With crisp edges, each edge is moved to a whole pixel.
 */
export const paint = (svg: string, shown?: number): Picture => {
  const [, box = ""] = /width="([\d.]+)" height="\1" viewBox="0 0 \1 \1"/.exec(svg) ?? []
  const [, runs = ""] = /<path d="([^"]*)"\/><\/svg>$/.exec(svg) ?? []
  const size = shown ?? Number(box)
  const scale = size / Number(box)
  const edge = (at: number) => (svg.includes("crispEdges") ? Math.round(at * scale) : at * scale)
  const width = Math.floor(size)
  const covered = new Float64Array(width * width)
  for (const [, x, y, across, down] of runs.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-\3z/g)) {
    const [left, right] = [edge(Number(x)), edge(Number(x) + Number(across))]
    const [top, bottom] = [edge(Number(y)), edge(Number(y) + Number(down))]
    for (let row = Math.floor(top); row < bottom && row < width; row++) {
      const height = Math.min(bottom, row + 1) - Math.max(top, row)
      for (let column = Math.floor(left); column < right && column < width; column++) {
        const at = row * width + column
        covered[at] = (covered[at] ?? 0) + height * (Math.min(right, column + 1) - Math.max(left, column))
      }
    }
  }
  return { width, height: width, darkness: (x, y) => Math.min(1, covered[y * width + x] ?? 0) }
}

/** Paints a text as a terminal does: a character has 8 by 16 pixels, and a block is light on dark, or dark on light. */
export const paintTerminal = (text: string, background: "dark" | "light" = "dark"): Picture => {
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
    darkness: (x, y) => {
      const isDrawn = halves[Math.floor(y / 16)]?.[Math.floor(x / 8)]?.includes(y % 16 < 8 ? "upper" : "lower") ?? false
      return isDrawn === (background === "light") ? 1 : 0
    }
  }
}

/** Rotates a picture on a light wall, as a phone at this angle sees it. */
export const tilt = (picture: Picture, degrees: number): Picture => {
  const radians = (degrees * Math.PI) / 180
  const [cos, sin] = [Math.cos(radians), Math.sin(radians)]
  const size = Math.ceil(picture.width * (Math.abs(cos) + Math.abs(sin)))
  const [from, to] = [size / 2, picture.width / 2]
  return {
    width: size,
    height: size,
    darkness: (x, y) => {
      const column = Math.round((x - from) * cos + (y - from) * sin + to)
      const row = Math.round((y - from) * cos - (x - from) * sin + to)
      const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < picture.width
      return isInside ? picture.darkness(column, row) : 0
    }
  }
}
