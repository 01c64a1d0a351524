/** `effect-pix/sandbox` for a program of the docs that is played: see `world.ts`. */
import { Sandbox as Original } from "effect-pix/sandbox"
import { layerPayments } from "./world.ts"

export * from "effect-pix/sandbox"
const layers = new Set<string | symbol>(["layer", "layerPayments", "layerServer"])
export const Sandbox = new Proxy(Original, {
  get: (target, name) => (layers.has(name) ? layerPayments : Reflect.get(target, name))
})
