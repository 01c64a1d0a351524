/**
 * Collects the statements that a program runs on its database.
 */
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"

/** A log of statements, and the layer under which they are written to it. */
export const makeStatements = () => {
  const texts: Array<string> = []
  const transformer: Statement.Transformer = (statement) =>
    Effect.sync(() => {
      texts.push(statement.compile()[0].replaceAll(/\s+/g, " ").trim())
      return statement
    })
  return { texts, layer: Layer.succeed(Statement.CurrentTransformer, transformer) }
}
