/**
 * The one error of a function that is called with a wrong literal: Effect's `SchemaError`, whose message says what was
 * expected and never what was given.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** Throws the error. */
export const refuse = (message: string): never => {
  throw new Schema.SchemaError(new SchemaIssue.InvalidValue({ message }))
}

/** The value, or the error with this message. */
export const orRefuse = <A>(made: Option.Option<A>, message: string): A =>
  Option.isSome(made) ? made.value : refuse(message)

/** The function, whose every throw is the error: what a caller without types hands it may fail anywhere. */
export const refusing =
  <A extends ReadonlyArray<unknown>, B>(message: string, f: (...args: A) => B) =>
  (...args: A): B =>
    orRefuse(Option.liftThrowable(f)(...args), message)
