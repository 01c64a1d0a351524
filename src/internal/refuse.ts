/**
 * The error of functions for literals: Effect's `SchemaError`. Its message says what was expected and never shows the input.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** Throws a `SchemaError` with this message. */
export const refuse = (message: string): never => {
  throw new Schema.SchemaError(new SchemaIssue.InvalidValue({ message }))
}

/** Returns the value, or throws with this message. */
export const orRefuse = <A>(made: Option.Option<A>, message: string): A =>
  Option.isSome(made) ? made.value : refuse(message)

/** Wraps a function so that whatever it throws becomes this error: a caller without types may give it anything. */
export const withSchemaError =
  <A extends ReadonlyArray<unknown>, B>(message: string, f: (...args: A) => B) =>
  (...args: A): B =>
    orRefuse(Option.liftThrowable(f)(...args), message)
