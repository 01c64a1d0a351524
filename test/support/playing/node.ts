/** `effect-pix/node` for a program of the docs that is played: see `world.ts`. */
import { NodeSqlite as Original } from "effect-pix/node"
import { layerSqlite } from "./world.ts"

export * from "effect-pix/node"
export const NodeSqlite = { ...Original, layer: layerSqlite }
