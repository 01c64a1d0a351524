/**
 * What a call costs without a network: its CPU over a double of undici's dispatcher, which answers with the bytes of a payload in the
 * next turn of the event loop. Sockets are most of a call, and most of the noise.
 *
 * All is measured in this one process, in slices that take turns, with 64 calls in flight. A figure is that of the least slice,
 * which other work on the machine disturbs least. A ratio is against `dispatch` by hand and `JSON.parse` of the same answer, so
 * that a slow machine changes it little. The figures are sent to the process that started this one.
 */
import type { Layer } from "effect"
import { NodePayments } from "effect-pix/node"
import { Dispatcher } from "undici"
import { type Client, dispatchOn, on, ours, tracing } from "./contenders.ts"
import { answers, type Call, expected, pages } from "./payloads.ts"

export interface Row {
  readonly title: string
  /** Microseconds of CPU for a call. */
  readonly micros: number
  /** Against `dispatch` and `JSON.parse`. */
  readonly ratio: number
}

const rounds = 40
/** Rounds in which the code is compiled. */
const warmUp = 6
const inFlight = 64

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined
}

/** Answers each request with this body. */
class Double extends Dispatcher {
  readonly #body: Buffer
  readonly #headers: Record<string, string>
  constructor(body: string) {
    super()
    this.#body = Buffer.from(body)
    this.#headers = {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(this.#body.length),
      date: "Sat, 21 Nov 2026 12:00:00 GMT"
    }
  }
  override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    setImmediate(() => {
      handler.onRequestStart?.(controller, {})
      handler.onResponseStart?.(controller, 200, this.#headers, "OK")
      handler.onResponseData?.(controller, this.#body)
      handler.onResponseEnd?.(controller, {})
    })
    return true
  }
}

interface Measured {
  readonly title: string
  readonly call: Call
  readonly run: () => Promise<void>
  readonly bare: Measured | undefined
  /** Microseconds of CPU for a call, of each slice. */
  readonly slices: Array<number>
}

const measured = (title: string, call: Call, client: Client, bare?: Measured): Measured => ({
  title,
  call,
  run: async () => {
    const got = await client[call]()
    if (got !== expected[call]) throw new Error(`${title} gave ${String(got)}`)
  },
  bare,
  slices: []
})

/** Makes this number of calls. Returns the microseconds of CPU for one. */
const slice = async (run: () => Promise<void>, calls: number): Promise<number> => {
  let left = calls
  const cpu = process.cpuUsage()
  const lane = async () => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const { system, user } = process.cpuUsage(cpu)
  return (system + user) / calls
}

const origin = "http://127.0.0.1:1"

const bareOf = (call: Call) => measured(`bare ${call}`, call, dispatchOn(new Double(answers[call]), origin))

const oursOf = async (title: string, call: Call, body: string, bare: Measured, tracer?: Layer.Layer<never>) => {
  const http = NodePayments.layerHttpClient({ dispatcher: new Double(body) })
  return measured(title, call, await ours(on(http), tracer)(origin), bare)
}

const [create, lookup, list] = [bareOf("create"), bareOf("lookup"), bareOf("list")]
const all = [
  create,
  await oursOf("create", "create", answers.create, create),
  await oursOf("create, with a tracer", "create", answers.create, create, tracing),
  lookup,
  await oursOf("lookup", "lookup", answers.lookup, lookup),
  list,
  ...(await Promise.all(pages.map(([time, page]) => oursOf(`list, \`${time}\``, "list", page, list))))
]

for (let round = -warmUp; round < rounds; round++) {
  for (const { call, run, slices } of all) {
    const micros = await slice(run, (call === "list" ? 64 : 384) * (round < 0 ? 5 : 1))
    if (round >= 0) slices.push(micros)
  }
}

const least = ({ slices }: Measured): number => Math.min(...slices)

process.send?.(
  all.flatMap((one): Array<Row> => {
    const micros = least(one)
    return one.bare === undefined ? [] : [{ title: one.title, micros, ratio: micros / least(one.bare) }]
  })
)
