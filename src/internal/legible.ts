/**
 * Makes errors print their message. An error of Effect that is logged as a value (`Effect.logError(error)`,
 * `console.log(error)`, `inspect`) shows what its `toJSON` returns, which is its fields alone.
 */
interface Legible extends Error {
  readonly toJSON: () => unknown
}

/** Changes a class of errors so that the message is printed before the fields. */
export const legible = <C extends { readonly prototype: Legible }>(errors: C): C => {
  const { prototype } = errors
  const { toJSON } = prototype
  Object.defineProperty(prototype, "toJSON", {
    value(this: Legible) {
      return { message: this.message, ...Object(toJSON.call(this)) }
    },
    configurable: true,
    writable: true
  })
  return errors
}
