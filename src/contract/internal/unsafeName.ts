/** Names that change an object's prototype where they are copied carelessly: never accepted from a caller. */
export const isUnsafeName = (name: PropertyKey): boolean =>
  name === "__proto__" || name === "constructor" || name === "prototype"
