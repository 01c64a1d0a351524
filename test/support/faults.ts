/**
 * The one list of the faults between a client and the gateway. A test takes all of them, or those that a predicate on their fields
 * finds. Each name of `Fault` and of `rawReplies.ts` has at least one row: the compiler finds a new one.
 */
import * as Fault from "../../src/sandbox/Fault.ts"
import * as Raw from "./rawReplies.ts"

interface NamedFault {
  /** What happens to the request, as a part of a sentence: "a withdrawal that met ... is Unknown". */
  readonly name: string
  readonly fault: Fault.Fault
  /** Whether the gateway executes the request. `late`: only when the client has given up. */
  readonly executed: boolean | "late"
  /** When the client knows the end of the attempt. */
  readonly ends: "at once" | "with the time limit"
  /** The status that the client reads. Absent: the gateway's own, or none. */
  readonly status?: number
  /** What the client gets: the whole answer of the gateway, another answer, a part of one, or none. */
  readonly answer: "own" | "other" | "part" | "none"
  /** Only a socket shows it. */
  readonly isOfSockets?: true
}

type Row = Omit<NamedFault, "ends"> & { readonly ends?: NamedFault["ends"] }

const none = (name: string, fault: Fault.Fault, executed: boolean): Row => ({ name, fault, executed, answer: "none" })
const part = (name: string, fault: Fault.Fault): Row => ({ name, fault, executed: true, answer: "part" })
const own = (name: string, fault: Fault.Fault): Row => ({ name, fault, executed: true, answer: "own" })
const other = (name: string, fault: Fault.Fault): Row => ({
  name,
  fault,
  executed: fault.executed,
  answer: "other",
  ...(fault.answer !== undefined && { status: fault.answer.status })
})
const slow = (row: Row): Row => ({ ...row, ends: "with the time limit" })
const executed = { executed: true } as const

/** The answers of a status that does not say whether the request was executed. */
const both = (status: number) => [
  other(`a ${status}`, Fault.answer(status)),
  other(`a ${status} after the execution`, Fault.answer(status, executed))
]
/** Words of a refusal, each with a status that gateways use for it. */
const words = [
  [400, "Pedido inválido"],
  [403, "Acesso negado"],
  [422, "Saldo insuficiente"],
  [422, "Chave PIX não encontrada"],
  [422, "Recusado"],
  [429, "Devagar"]
] as const

/** Longer than any time limit of a test. */
const never = "2 hours"
/** Longer than the largest response that a test reads, which is at most the default of 4 MiB. */
const tooLong = 4 * 1024 * 1024 + 64 * 1024

/** What the gateway was seen to answer, which is its own answer in full: test/sandbox/Seen.test.ts has these. */
type OfSeen = "failure" | "brcode" | "qrcode" | "localTimes" | "falseZ"

type Names = Exclude<keyof typeof Fault, "Fault" | "FaultTarget" | "PlannedFault" | OfSeen>

const ofFault: Readonly<Record<Names, ReadonlyArray<Row>>> = {
  none: [own("no fault", Fault.none)],
  latency: [
    own("a late answer", Fault.latency("1 millis")),
    slow(none("an answer after the time limit", Fault.latency(never, executed), true)),
    slow({ ...none("an execution after the time limit", Fault.latency(never), false), executed: "late" })
  ],
  refuse: [none("a refused connection", Fault.refuse, false)],
  resetBefore: [none("a reset before the execution", Fault.resetBefore, false)],
  resetAfter: [none("a reset after the execution", Fault.resetAfter, true)],
  silence: [
    slow(none("silence", Fault.silence(), false)),
    slow(none("silence after the execution", Fault.silence(executed), true))
  ],
  truncated: [part("half of an answer", Fault.truncated)],
  answer: [
    ...[402, 404, 412, 425].map((status) => other(`a ${status}`, Fault.answer(status))),
    ...[303, 408, 409, 423, 500, 502, 504, 524].flatMap(both),
    other("an unreadable 422", Fault.answer(422, { body: "\u0000<", headers: { "x-odd": "1" } }))
  ],
  refusal: [
    ...words.map(([status, message]) => other(`a ${status} "${message}"`, Fault.refusal(status, message))),
    other("a 401", Fault.refusal(401, "Credenciais inválidas")),
    other("a 422 about duplication", Fault.refusal(422, "Transação em duplicidade.", executed))
  ],
  html: [
    other("a page with 503", Fault.html(503)),
    other("a page with 504 after the execution", Fault.html(504, executed)),
    other("a page with 200", Fault.html()),
    other("a page with 200 after the execution", Fault.html(200, executed))
  ],
  empty: [other("an empty 200", Fault.empty()), other("a 204", Fault.empty(204))],
  retryAfter: [
    other("a 429 with Retry-After", Fault.retryAfter("1 minute")),
    other("a 503 with Retry-After", Fault.retryAfter("1500 millis", { status: 503 }))
  ],
  redirect: [
    other("a redirect with 307", Fault.redirect("https://elsewhere.example/")),
    other("a redirect with 302", Fault.redirect("https://elsewhere.example/", 302))
  ],
  tooSoon: [other("another one too soon", Fault.tooSoon)],
  dailyLimit: [other("the limit of the day", Fault.dailyLimit)],
  nightLimit: [other("the limit of the night", Fault.nightLimit)],
  keyLimit: [other("the limit of look-ups", Fault.keyLimit)],
  blocked: [other("a blocked account", Fault.blocked)],
  ownWords: [other("a refusal in words that no list knows", Fault.ownWords())],
  forgetKey: [own("a forgotten key", Fault.forgetKey)]
}

// A change of an answer is what a test says, and no fault.
const ofRaw: Readonly<Record<Exclude<keyof typeof Raw, "changedJson">, ReadonlyArray<Row>>> = {
  hangUpBefore: [none("a closed connection before the execution", Raw.hangUpBefore, false)],
  hangUpAfter: [none("a closed connection after the execution", Raw.hangUpAfter, true)],
  headersThenSilence: [slow(part("headers, and then silence", Raw.headersThenSilence))],
  truncatedByReset: [part("half of an answer, and then a reset", Raw.truncatedByReset)],
  drip: [slow(part("an answer byte by byte", Raw.drip(never)))],
  oversize: [part("an answer over the largest response", Raw.oversize(tooLong))],
  gzipBomb: [
    { ...part("a compressed answer over the largest response", Raw.gzipBomb(tooLong)), isOfSockets: true },
    part("a compressed answer over the largest response, unpacked", Raw.gzipBomb(tooLong, "memory"))
  ],
  otherKey: [{ ...own("an answer about another key", Raw.otherKey()), answer: "other" }],
  malformed: [other("an answer that is no JSON", Raw.malformed(201))],
  bytes: [{ ...other("a 200 of bytes", Raw.bytes(200, Uint8Array.of(0xff, 0xfe))), executed: false, status: 200 }],
  retryAfterDate: [{ ...other("a 429 with a date", Raw.retryAfterDate("1 minute", 429)), executed: false, status: 429 }]
}

/** All faults. The first one is none. */
export const faults: ReadonlyArray<NamedFault> = [...Object.values(ofFault), ...Object.values(ofRaw)]
  .flat()
  .map((row) => ({ ends: "at once", ...row }))
