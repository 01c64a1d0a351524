/**
 * The simulation of lists: a world is drawn from a seed, as data; a run reads its list while the steps of the world change
 * it, and one checker says what is wrong. A world that fails is shrunk to the fewest steps that still fail.
 */
import { Effect, Result, Schema, Stream } from "effect"
import { TransactionStream } from "effect-pix"
import type { TransactionPage, TransactionSort } from "../../src/contract/Transaction.ts"
import { idsOf, MovingList, pagesBy, type Row } from "../support/movingList.ts"
import { fewest, seeded } from "../support/seed.ts"

export type Random = ReturnType<typeof seeded>

/** How a list and its service behave. */
export interface Traits {
  readonly sort: TransactionSort
  readonly pageSize: number
  /** How many rows the list has at the start. */
  readonly count: number
  /** How many rows share one time. With 0, rows show no time. */
  readonly ties: number
  /** The order among rows of one time: that of their ids, any that stays, or another for each page or each request. */
  readonly order: "ById" | "Mixed" | "ByPage" | "ByRequest"
  /** The most rows of an answer. */
  readonly cap: number
  /** Whether each answer has `cap` rows, whatever is requested. */
  readonly isFixed: boolean
  readonly counts: "Honest" | "OwnPage" | "Nothing" | "TooFew" | "TooMany"
  /** The probability that an answer is that of another request, is of an older state of the list, or repeats a row. */
  readonly echoes: number
  readonly stale: number
  readonly repeats: number
  /** The probability that the list changes before an answer. */
  readonly changes: number
  /** The most rows that are added, and that are removed, before an answer. */
  readonly added: number
  readonly removed: number
  /** The probability that an added row has a time before that of other rows. */
  readonly late: number
  /** How many rows a run delivers. The next run continues from its checkpoint. */
  readonly limit: number
}

/** What changes before an answer, and what is wrong with the answer. */
interface Step {
  /** For each added row its order in its time, and how far back in the list its time is. */
  readonly added: ReadonlyArray<{ readonly tie: number; readonly late?: number }>
  /** Adjacent rows that are removed: from a part of the list, or of the page that was requested last. */
  readonly removed: ReadonlyArray<{ readonly at: number; readonly isNear: boolean; readonly rows: number }>
  readonly echo?: number
  readonly isStale: boolean
  readonly repeated?: number
}

/** A list, its service and all that happens to them. */
export interface World {
  readonly seed: number
  readonly traits: Traits
  readonly rows: ReadonlyArray<Row>
  readonly steps: ReadonlyArray<Step>
}

const quiet: Step = { added: [], removed: [], isStale: false }

/** What a kind of lists does not state is drawn. All is drawn, so that another kind leaves the other draws as they are. */
const drawTraits = (random: Random, given: (random: Random) => Partial<Traits>): Traits => {
  const { below, next, pick } = random
  const traits = given(seeded(below(2 ** 32)))
  const pageSize = traits.pageSize ?? pick([1, 2, 3, 5, 10, 30, 99, 100])
  const ties = traits.ties ?? pick([1, 1.2, 5, Infinity])
  const burst = pick([1, 3, pageSize, pageSize * 3])
  return {
    sort: pick(["createdAt_asc", "createdAt_desc"]),
    pageSize,
    count: below(1 + pick([0, 1, pageSize, pageSize * 2, pageSize * 6, 250])),
    ties,
    order: next() < 0.3 && ties > 0 && ties < Infinity ? "Mixed" : "ById",
    cap: Infinity,
    isFixed: false,
    counts: "Honest",
    echoes: 0,
    stale: 0,
    repeats: 0,
    changes: next() * 0.6,
    added: burst,
    removed: burst,
    late: next() < 0.3 && ties > 0 ? 0.5 : 0,
    limit: Infinity,
    ...traits
  }
}

/** The time of the row that is added to the end of the list as the n-th. */
const timeOf = ({ ties }: Traits, n: number) => (ties === 0 ? undefined : 1000 + Math.floor(n / ties) * 3)

const times = (count: number) => Array.from({ length: count })

export const draw = (seed: number, given: (random: Random) => Partial<Traits>): World => {
  const random = seeded(seed)
  const { below, next } = random
  const traits = drawTraits(random, given)
  const tieOf = (id: number) => (traits.order === "Mixed" ? next() : id)
  const rows = times(traits.count).map((_, at): Row => ({ id: at + 1, time: timeOf(traits, at), tie: tieOf(at + 1) }))
  const isChanged = () => next() < traits.changes
  const steps = times(80).map((): Step => ({
    added: isChanged()
      ? times(below(traits.added + 1)).map(() => ({
          ...(next() < traits.late && { late: next() }),
          tie: tieOf(Infinity)
        }))
      : [],
    removed: isChanged()
      ? [0, 0].map((_, part) => ({
          at: next(),
          isNear: next() < 0.5,
          rows: part === 0 ? below(traits.removed + 1) : Math.min(traits.removed, below(2))
        }))
      : [],
    isStale: next() < traits.stale,
    ...(next() < traits.echoes && { echo: next() }),
    ...(next() < traits.repeats && { repeated: next() })
  }))
  return { seed, traits, rows, steps }
}

/** A hash of whole numbers, for an order that does not depend on their size. */
const mix = (...values: ReadonlyArray<number>) =>
  values.reduce((hash, value) => Math.imul(hash ^ (value + 0x9e3779b9), 0x85ebca6b) ^ (hash >>> 13), 1)

const totals = {
  Honest: ({ totalItems }: TransactionPage) => totalItems,
  OwnPage: ({ items }: TransactionPage) => items.length,
  Nothing: () => 0,
  TooFew: ({ totalItems }: TransactionPage) => Math.floor(totalItems / 2),
  TooMany: ({ totalItems }: TransactionPage) => totalItems + 7
}

/** The service of a world. `now` is its list as it is, which an answer may not show yet. */
const serve = ({ rows, steps, traits }: World) => {
  const { cap, counts, isFixed, order, sort } = traits
  const list = new MovingList(rows)
  const now = new MovingList(rows)
  const states = [rows]
  const answers: Array<TransactionPage> = []
  let newest = traits.count
  const apply = ({ added, removed }: Step) => {
    const { page = 1, pageSize = 1 } = list.requests.at(-1) ?? {}
    for (const { late, tie } of added) {
      const time = late === undefined ? timeOf(traits, newest++) : Math.floor(1000 + late * 3 * (newest / traits.ties))
      now.add(time, tie === Infinity ? now.nextId : tie)
    }
    for (const { at, isNear, rows } of removed) {
      const from = isNear ? page * pageSize - at * (pageSize + 2) : at * now.rows.length
      if (rows > 0) now.remove(Math.max(0, Math.floor(from)), rows, sort)
    }
  }
  const stepOf = () => steps[list.requests.length] ?? quiet
  list.change = () => {
    if (list.requests.length > 0) apply(stepOf())
    states.push(now.rows)
    list.rows = (stepOf().isStale ? states.at(-3) : undefined) ?? now.rows
  }
  list.sizeOf = (asked) => (isFixed ? cap : Math.min(asked, cap))
  if (order === "ByPage" || order === "ByRequest") {
    list.tieOf = ({ id }, { page, pageSize }) =>
      mix(id, page, pageSize, order === "ByRequest" ? list.requests.length : 0)
  }
  list.answer = (honest, { pageSize }) => {
    const { echo = 1, repeated } = steps[list.requests.length - 1] ?? quiet
    const earlier = answers[Math.floor(echo * answers.length)]
    if (earlier !== undefined) return earlier
    const at = Math.floor((repeated ?? 0) * honest.items.length)
    const again = repeated === undefined ? [] : honest.items.slice(at, at + 1)
    const totalItems = totals[counts](honest)
    const totalPages = counts === "OwnPage" ? 1 : Math.ceil(totalItems / honest.pageSize)
    const answer = { ...honest, items: honest.items.toSpliced(at, 0, ...again), totalItems, totalPages, pageSize }
    answers.push(answer)
    return answer
  }
  return { list, now }
}

/** What a run came to: `ended` is the reason of its error, or "Whole"; `problem` says which promise was broken. */
interface Played {
  readonly ended: TransactionStream.PaginationError["reason"] | "Whole"
  readonly problem: string | undefined
}

/** More requests in a row than these without a new row are no bounded number of tries: thirty, of three requests at most. */
const mostIdle = 95

const json = Schema.fromJsonString(TransactionStream.Checkpoint)

/** Reads the list of a world to its end, and after a failure the rest of it from the checkpoint, when nothing changes. */
export const play = Effect.fnUntraced(function* (world: World) {
  const { limit, pageSize, sort } = world.traits
  const { list, now } = serve(world)
  const delivered: Array<number> = []
  let from: TransactionStream.Checkpoint | undefined
  let idle = 0
  const readFrom = (list: MovingList["list"], limit: number) =>
    pagesBy((asked) => ((idle += 1) > mostIdle ? Effect.die("idle") : list(asked)), {
      pageSize,
      sort,
      from,
      limit
    }).pipe(
      Stream.runForEach(({ checkpoint, rows }) =>
        Effect.sync(() => {
          idle = 0
          delivered.push(...idsOf(rows))
          from = checkpoint
        })
      ),
      Effect.catchDefect(() => Effect.succeed("Idle" as const)),
      Effect.result
    )
  const store = Effect.gen(function* () {
    if (from === undefined) return 0
    const stored = yield* Schema.encodeEffect(json)(from)
    from = yield* Schema.decodeEffect(json)(stored)
    return stored.length
  }).pipe(Effect.orDie)

  let read = yield* readFrom(list.list, limit)
  let longest = yield* store
  let before = limit === Infinity ? Infinity : 0
  while (before < delivered.length && Result.isSuccess(read)) {
    before = delivered.length
    idle = 0
    read = yield* readFrom(list.list, limit)
    longest = Math.max(longest, yield* store)
  }
  const played = (ended: Played["ended"], problem?: string): Played => ({ ended, problem })
  let ended: Played["ended"] = "Whole"
  let isChecked = true
  if (Result.isFailure(read)) {
    const { failure } = read
    if (!(failure instanceof TransactionStream.PaginationError)) return played(ended, failure.message)
    ended = failure.reason
    from = failure.checkpoint
    idle = 0
    longest = Math.max(longest, yield* store)
    read = yield* readFrom(new MovingList(now.rows).list, Infinity)
    // No run can continue if the rows that were read last are gone and the others show no time.
    isChecked = Result.isSuccess(read)
  }
  const got = new Set(delivered)
  const left = new Set(idsOf(now.rows))
  const lost = idsOf(world.rows).filter((id) => left.has(id) && !got.has(id))
  if (Result.isSuccess(read) && read.success === "Idle")
    return played(ended, "requests without a new row have no bound")
  if (got.size < delivered.length) return played(ended, "a row was delivered twice")
  if (delivered.some((id) => id >= now.nextId)) return played(ended, "a row was delivered that never existed")
  if (longest > 10_000) return played(ended, "a checkpoint has more than ten thousand characters")
  return played(ended, isChecked && lost.length > 0 ? `lost rows without an error: ${lost.join()}` : undefined)
})

/** The steps without which the world has no problem. */
export const shrink = (world: World) =>
  Effect.promise(async () => {
    const worldWith = (at: ReadonlyArray<number>): World => ({
      ...world,
      steps: world.steps.map((step, index) => (at.includes(index) ? step : quiet))
    })
    const fails = (at: ReadonlyArray<number>) =>
      Effect.runPromise(Effect.map(play(worldWith(at)), ({ problem }) => problem !== undefined))
    const at = await fewest([...world.steps.keys()], fails)
    return JSON.stringify({ traits: world.traits, steps: at.map((index) => ({ at: index, ...world.steps[index] })) })
  })
