/**
 * Removes a secret in the path from the span of the server. Effect's server writes the address of a request into its span when
 * the request has ended, and ends a span of a 5xx with an error that holds the request.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import { withoutValues } from "../../internal/spans.ts"

/** The attributes with an address, or with the route as it was declared. */
const addresses = /^(?:url|http)\.(?:full|path|route|target|url)$/

/** An address has a mark in place of its last segment; a route only where that is not a parameter such as `:secret`. */
const cleanValue = (name: string, value: unknown): unknown => {
  if (typeof value !== "string" || !addresses.test(name)) return value
  const isParameter = name === "http.route" && /\/[:*][^/]*$/.test(value)
  return isParameter ? value : value.replace(/\/[^/?#]+(?=\/*(?:[?#]|$))/, "/[redacted]")
}

/** From now on the span writes no secret. Its methods are replaced: its tracer calls them when the request has ended. */
const clean = (span: Tracer.Span): void => {
  const attribute = span.attribute.bind(span)
  const end = span.end.bind(span)
  Object.assign(span, {
    attribute: (name: string, value: unknown) => attribute(name, cleanValue(name, value)),
    end: (time: bigint, exit: Parameters<Tracer.Span["end"]>[1]) => end(time, withoutValues(exit))
  } satisfies Pick<Tracer.Span, "attribute" | "end">)
  for (const [name, value] of span.attributes) span.attribute(name, value)
}

/** Removes the last segment of the path from the server's spans around this effect. */
export const withoutPathSecret = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    let span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
    while (span?._tag === "Span") {
      if (span.kind === "server") clean(span)
      span = Option.getOrUndefined(span.parent)
    }
    return effect
  })
