/** Whether a name could change an object's prototype when a program copies it. Such names are refused in requests. */
export const isUnsafeName = (name: PropertyKey): boolean =>
  name === "__proto__" || name === "constructor" || name === "prototype"
