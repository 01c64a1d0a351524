/** The client of the settings. Warnings of its start are shown, as the one that requests are not encrypted. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { Payments } from "../../client/Payments.ts"

const shownWarnings = Layer.effect(
  References.MinimumLogLevel,
  Effect.map(References.MinimumLogLevel, (level) => (level === "Error" ? "Warn" : level))
)

export const client = Layer.provide(Payments.layerFetch, shownWarnings)
