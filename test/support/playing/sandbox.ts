/** `effect-pix/sandbox` for a program of the docs that is played: see `world.ts`. */
import { Sandbox as Original } from "effect-pix/sandbox"
import { layerPayments } from "./world.ts"

export * from "effect-pix/sandbox"
export const Sandbox = new Proxy(Original, {
  get: (target, name) => (name === "layerPayments" ? layerPayments : Reflect.get(target, name))
})
