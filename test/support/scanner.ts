/** A phone's view of our QR codes: painted into pixels, and read by jsQR, which shares no code with what draws them. */
import { default as jsQr } from "jsqr"

/** Pixels, each from 0, light, to 1, dark. */
export interface Picture {
  readonly width: number
  readonly height: number
  readonly darkness: (x: number, y: number) => number
}

/** What the decoder reads of a square of pixels, or undefined. */
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
 * Paints an SVG of ours as a browser does, at the size that it states or at another: the dark path on the light one, a
 * pixel as dark as the part of it that is covered. Where crisp edges are asked for, each edge moves to a whole pixel.
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

/** Paints what a terminal shows of text: a character is 8 by 16 pixels, and a block is light, or dark on light. */
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

/** The picture on a light wall, seen by somebody who holds the phone at this angle. */
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
