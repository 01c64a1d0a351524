/**
 * Members of a service that its type does not show: what another room of this library needs of it. A copy of the service, such as
 * `{ ...payments, requestWithdrawal }`, keeps them, so a decorated service keeps what hangs on them. A mock has none.
 */
export const makeMember = <Value>(name: string) => {
  const key = Symbol.for(`effect-pix/${name}`)
  return {
    /** The service, with the member. */
    add: <Service extends object>(service: Service, value: Value): Service => Object.assign(service, { [key]: value }),
    /** The member of a service, if it has one. */
    of: (service: object): Value | undefined => {
      // Effect's `Layer.mock` has an effect that dies for each property that it is asked for.
      let holder: object | null = service
      while (holder !== null && !Object.hasOwn(holder, key)) holder = Reflect.getPrototypeOf(holder)
      // Only `add` writes under this key.
      return holder === null ? undefined : (Reflect.get(service, key) as Value)
    }
  }
}
