/** Reads all pages of lists that change, have ties, are capped or are stale, and compares the delivered rows. */
import { DateTime, Effect, Exit, Stream } from "effect"
import { TestClock } from "effect/testing"
import { json } from "./calls.ts"
import { checkpointOf, once, type Payments, PaymentsPolicy, paymentsOver, TransactionStream } from "./doors.ts"
import { type Answer, type Arrived, memoryGateway } from "./gateway.ts"
import { failureOf, hashOf, jumping, type Observation, resultOf, seeded } from "./observation.ts"

interface Row {
  readonly id: number
  /** In seconds. */
  readonly time: number
}

const kinds = [
  "still",
  "appends",
  "deletes",
  "appends and deletes",
  "late rows",
  "ties that keep their order",
  "ties by page size",
  "ties by limit and offset",
  "ties by limit and offset, moving",
  "a silent cap",
  "a cap that lies",
  "stale replicas",
  "stale replicas, deletes",
  "echoed pages",
  "a count that is too high",
  "no times"
] as const
type Kind = (typeof kinds)[number]

const has = (kind: Kind, ...words: ReadonlyArray<string>) => words.some((word) => kind.includes(word))

/** More requests than any reader needs. After them the gateway stops answering. */
const mostRequests = 3000

/** Makes the list of a case. `freeze` stops its changes. */
const makeList = (kind: Kind, seed: number, sort: string) => {
  const { below, next } = seeded(seed)
  const count = [0, 1, 40, 200, 450][below(5)] ?? 200
  const together = has(kind, "ties") ? ([3, 50, 200][below(3)] ?? 3) : 1
  let rows: ReadonlyArray<Row> = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    time: 1000 + Math.floor(index / together)
  }))
  const before = rows.map(({ id }) => id)
  let nextId = count + 1
  let now = 1000 + Math.ceil(count / together)
  let left = 40
  let isFrozen = false
  let requests = 0
  const replicas: Array<ReadonlyArray<Row>> = []

  const move = (page: number, size: number) => {
    if (isFrozen || left === 0 || next() > 0.6) return
    left -= 1
    if (has(kind, "append", "late", "moving", "stale")) {
      const added: Array<Row> = []
      for (let n = below(4); n > 0; n--) {
        if (next() < 0.7) now += 1
        const time = has(kind, "late") && next() < 0.5 ? 1000 + below(Math.max(1, now - 1000)) : now
        added.push({ id: nextId++, time })
      }
      rows = [...rows, ...added]
    }
    if (has(kind, "deletes", "moving")) {
      const at = next() < 0.6 ? Math.max(0, page * size - below(size + 2)) : below(rows.length + 1)
      const ordered = order(rows, page, size)
      const gone = new Set(ordered.slice(at, at + 1 + below(5)).map(({ id }) => id))
      rows = rows.filter(({ id }) => !gone.has(id))
    }
  }
  const order = (of: ReadonlyArray<Row>, page: number, size: number) => {
    const tie = (row: Row) => {
      if (has(kind, "by page size")) return hashOf(row.id, size)
      return has(kind, "by limit and offset") ? hashOf(row.id, size * page) : row.id
    }
    const ascending = of.toSorted((a, b) => a.time - b.time || tie(a) - tie(b))
    return sort === "createdAt_asc" ? ascending : ascending.toReversed()
  }
  const answer = ({ path }: Arrived): Answer => {
    const query = new URL(path, "https://gateway.example").searchParams
    const page = Number(query.get("page") ?? 1)
    const asked = Number(query.get("pageSize") ?? 50)
    if (++requests > mostRequests) return { status: 400, body: "enough" }
    const size = has(kind, "cap") ? Math.min(asked, 20) : asked
    if (requests > 1) move(page, size)
    replicas.push(rows)
    const state = has(kind, "stale") && !isFrozen && next() < 0.4 ? (replicas.at(-1 - below(4)) ?? rows) : rows
    const shown = has(kind, "echoed") && !isFrozen && next() < 0.2 ? Math.max(1, page - 1) : page
    const items = order(state, shown, size)
      .slice((shown - 1) * size, shown * size)
      .map(({ id, time }) => ({
        id,
        amount: 100 + id,
        status: "PENDING",
        ...(kind !== "no times" && { createdAt: DateTime.formatIso(DateTime.makeUnsafe(time * 1000)) })
      }))
    const totalItems = state.length + (has(kind, "too high") ? 7 : 0)
    const pageSize = has(kind, "lies") ? asked : size
    return json(200, {
      ok: true,
      res: { items, totalItems, totalPages: Math.ceil(totalItems / pageSize), currentPage: page, pageSize }
    })
  }
  return {
    before,
    answer,
    requests: () => requests,
    now: () => new Set(rows.map(({ id }) => id)),
    freeze: () => {
      isFrozen = true
    }
  }
}

type Options = Parameters<typeof TransactionStream.stream>[0]

const collect = (rows: Array<number>, options: Options): Effect.Effect<void, unknown, Payments> =>
  Stream.runForEach(TransactionStream.stream(options), ({ id }) => Effect.sync(() => void rows.push(id)))

const read = (kind: Kind, seed: number, sort: "createdAt_asc" | "createdAt_desc", pageSize: number) =>
  Effect.gen(function* () {
    const list = makeList(kind, seed, sort)
    const { layer } = memoryGateway(list.answer)
    const client = paymentsOver("https://gateway.example", layer)
    const run = (rows: Array<number>, options: Options) =>
      jumping(Effect.exit(Effect.provide(collect(rows, options), client)), TestClock.adjust("10 seconds"), 200).pipe(
        Effect.provideService(PaymentsPolicy, once)
      )
    const rows: Array<number> = []
    const exit = yield* run(rows, { sort, pageSize })
    const requests = list.requests()
    const there = list.now()
    const lostOf = (ids: ReadonlyArray<number>) => {
      const got = new Set(ids)
      return list.before.filter((id) => there.has(id) && !got.has(id)).length
    }
    const doubled = (ids: ReadonlyArray<number>) => ids.length - new Set(ids).size
    const isWhole = exit !== undefined && Exit.isSuccess(exit)
    // After a failure, a service without faults returns the other rows from the checkpoint of the error.
    const from = exit === undefined ? undefined : checkpointOf(failureOf(exit))
    const all = [...rows]
    let rest = "not needed"
    if (!isWhole) {
      list.freeze()
      rest = from === undefined ? "no checkpoint" : resultOf(yield* run(all, { from, pageSize }))
    }
    const observation: Observation = {
      id: `${kind} | ${sort} | ${pageSize} | ${seed}`,
      kind,
      dims: { sort, pageSize: `${pageSize}` },
      exact: {
        result: resultOf(exit),
        "lost in silence": isWhole && lostOf(rows) > 0 ? "some" : "none",
        doubled: doubled(rows) > 0 ? "some" : "none",
        "then from the checkpoint": rest,
        "lost after that": rest === "Success" && lostOf(all) > 0 ? "some" : "none",
        "doubled after that": rest === "Success" && doubled(all) > 0 ? "some" : "none"
      },
      sums: {
        requests,
        "rows delivered": rows.length,
        "rows lost in silence": isWhole ? lostOf(rows) : 0,
        "rows doubled": doubled(rows)
      },
      note: `${kind}, ${sort}, pages of ${pageSize}, seed ${seed}, ${list.before.length} rows`
    }
    return observation
  }).pipe(Effect.provide(TestClock.layer()))

export const pages = Effect.fnUntraced(function* ({ seeds }: { readonly seeds: number }) {
  const observations: Array<Observation> = []
  for (const kind of kinds) {
    for (let seed = 1; seed <= seeds * 2; seed++) {
      const sort = seed % 2 === 0 ? "createdAt_asc" : "createdAt_desc"
      const pageSize = [100, 50, 10][seed % 3] ?? 100
      observations.push(yield* read(kind, seed, sort, pageSize))
    }
  }
  return observations
})
