/**
 * A fake Redis server. It has the effect of the Lua scripts of Effect's `RateLimiter` (token bucket) and
 * `CircuitBreaker` (consecutive failures). Any other command fails. No value expires: an expired bucket would only be
 * full again, and Redis stores a circuit for an hour.
 */
import { Effect, Layer, type Scope } from "effect"
import { Redis } from "effect/persistence"
import { createHash } from "node:crypto"

interface Bucket {
  readonly tokens: number
  /** When the last whole token was added. */
  readonly refilled: number
}

interface Circuit {
  readonly state: "Closed" | "Open" | "HalfOpen"
  /** The generation of the circuit. Permits of an earlier one no longer count. */
  readonly generation: number
  readonly openings: number
  readonly streak: number
  readonly openUntil: number
  readonly leaseUntil: number
  readonly resetAt: number
  readonly lastOpenFor: number
}

interface Data {
  readonly buckets: Map<string, Bucket>
  readonly circuits: Map<string, Circuit>
}

type Play = (data: Data, key: string, args: ReadonlyArray<string>, now: number) => unknown

const numbers = (args: ReadonlyArray<string>) => args.map(Number)

const consume: Play = ({ buckets }, key, args) => {
  const [tokens = 0, refill = 1, limit = 0, now = 0, overflow] = numbers(args)
  const bucket = buckets.get(key) ?? { tokens: limit, refilled: now }
  const refills = Math.floor((now - bucket.refilled) / refill)
  const current = refills > 0 ? Math.min(bucket.tokens + refills, limit) : bucket.tokens
  const refilled = current >= limit ? now : bucket.refilled + Math.max(0, refills) * refill
  const next = current - tokens
  buckets.set(key, { tokens: next >= 0 || overflow === 1 ? next : current, refilled })
  return [String(next), String(Math.max(0, now - refilled))]
}

const closed: Omit<Circuit, "generation"> = {
  state: "Closed",
  openings: 0,
  streak: 0,
  openUntil: 0,
  leaseUntil: 0,
  resetAt: 0,
  lastOpenFor: 0
}

const following = (generation: number, now: number) => Math.max(generation + 1, now * 1000)

const admit: Play = ({ circuits }, key, [lease], now) => {
  const circuit = circuits.get(key) ?? { ...closed, generation: following(0, now) }
  if (circuit.state === "Closed") {
    const openings = now >= circuit.resetAt ? 0 : circuit.openings
    circuits.set(key, { ...circuit, openings })
    return ["ok", String(circuit.generation), 0, openings, 0]
  }
  if (circuit.state === "Open" && now < circuit.openUntil) return ["open", circuit.openUntil - now]
  if (circuit.state === "HalfOpen" && circuit.leaseUntil > now) return ["halfopen"]
  const generation = following(circuit.generation, now)
  circuits.set(key, { ...circuit, state: "HalfOpen", generation, leaseUntil: now + Number(lease) })
  return ["ok", String(generation), 1, circuit.openings, circuit.state === "Open" ? 1 : 0]
}

const record: Play = ({ circuits }, key, [expected, outcome, policy, failures, , , openFor], now) => {
  const circuit = circuits.get(key)
  if (policy !== "Consecutive") throw new Error("only consecutive failures are played")
  if (circuit === undefined || String(circuit.generation) !== expected) return ["none", 0]
  const { openings, state } = circuit
  const generation = following(circuit.generation, now)
  const open = () => {
    const lastOpenFor = Number(openFor)
    const opened = { ...closed, state: "Open", generation, openUntil: now + lastOpenFor, lastOpenFor } as const
    circuits.set(key, { ...opened, openings: openings + 1 })
    return [`${state.toLowerCase()}-open`, openings + 1]
  }
  if (state === "HalfOpen") {
    if (outcome === "Failure") return open()
    if (outcome === "Ignored") {
      circuits.set(key, { ...circuit, generation, leaseUntil: 0 })
      return ["none", openings]
    }
    circuits.set(key, { ...closed, generation, openings, resetAt: now + circuit.lastOpenFor })
    return ["halfopen-closed", openings]
  }
  if (state === "Open" || outcome === "Ignored") return ["none", openings]
  const streak = outcome === "Failure" ? circuit.streak + 1 : 0
  if (streak >= Number(failures)) return open()
  circuits.set(key, { ...circuit, streak })
  return ["none", openings]
}

const renew: Play = ({ circuits }, key, [generation, lease], now) => {
  const circuit = circuits.get(key)
  if (circuit?.state !== "HalfOpen" || String(circuit.generation) !== generation) return 0
  circuits.set(key, { ...circuit, leaseUntil: now + Number(lease) })
  return 1
}

/** The scripts, by a text that only one of them has. */
const plays: Readonly<Record<string, Play>> = {
  "local last_refill_key": consume,
  "CircuitBreaker admit": admit,
  "CircuitBreaker record": record,
  "CircuitBreaker renew": renew
}

/** A server that stops at the end of the scope. `connection` is the connection of one process. */
export const startFakeRedis: Effect.Effect<{ readonly connection: Layer.Layer<Redis.Redis> }, never, Scope.Scope> =
  Effect.gen(function* () {
    const data: Data = { buckets: new Map(), circuits: new Map() }
    const loaded = new Map<string, Play>()
    let isAway = false
    yield* Effect.addFinalizer(() => Effect.sync(() => (isAway = true)))

    const answer = ([command, ...args]: ReadonlyArray<string>, now: number): unknown => {
      if (isAway) throw new Error("ECONNREFUSED")
      if (command === "SCRIPT" && args[0] === "LOAD") {
        const [, lua = ""] = args
        const play = Object.entries(plays).find(([text]) => lua.includes(text))?.[1]
        if (play === undefined) throw new Error("this script is not played")
        const sha = createHash("sha1").update(lua).digest("hex")
        loaded.set(sha, play)
        return sha
      }
      if (command !== "EVALSHA") throw new Error(`${command} is not played`)
      const [sha = "", keys, key = ""] = args
      const play = loaded.get(sha)
      if (play === undefined) throw new Error("NOSCRIPT")
      return play(data, key, args.slice(2 + Number(keys)), now)
    }
    const send = <A = unknown>(...command: ReadonlyArray<string>) =>
      Effect.clockWith((clock) =>
        Effect.try({
          // The caller knows the type of the answer.
          try: () => answer(command, clock.currentTimeMillisUnsafe()) as A,
          catch: (cause) => new Redis.RedisError({ cause })
        })
      )
    const connection = Redis.make({
      send,
      subscribe: () => Effect.never,
      connect: Effect.succeed({ send, close: Effect.void })
    })
    return { connection: Layer.effect(Redis.Redis, connection) }
  })
