/** `effect-pix` for a program of the docs that is played: see `world.ts`. */
import { Payments as Original } from "effect-pix"
import { layerPayments } from "./world.ts"

export * from "effect-pix"
export const Payments = new Proxy(Original, {
  get: (target, name) => {
    if (name === "layer") return () => layerPayments
    return name === "layerFetch" ? layerPayments : Reflect.get(target, name)
  }
})
