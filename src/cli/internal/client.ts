/** The client of the settings. Warnings of its start are shown, as the one that requests are not encrypted. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { Payments } from "../../client/Payments.ts"

/** The log level of the command, with warnings in any case. */
export const levelWithWarnings = Effect.map(References.MinimumLogLevel, (level) => (level === "Error" ? "Warn" : level))

export const client = Layer.provide(Payments.layerFetch, Layer.effect(References.MinimumLogLevel, levelWithWarnings))
