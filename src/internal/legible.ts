/**
 * Errors that print their sentence. An error of Effect that is logged as a value (`Effect.logError(error)`,
 * `console.log(error)`, `inspect`) shows what its `toJSON` returns, which is its fields alone.
 */
interface Legible extends Error {
  readonly toJSON: () => unknown
}

/** Puts the message of each error of a class first among what is printed of it. */
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
