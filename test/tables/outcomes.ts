/**
 * What becomes of a call by what its request meets: the one table of it. `client/Outcomes.test.ts` puts each row through
 * `Payments`. The calls have two retries, without waits.
 */
import type { FailureReason } from "effect-pix"
import { failures } from "./failures.ts"
import type { Answer, Body, End, Row } from "./outcome.ts"

const endless = { isEndless: true } as const
const json = (members: object) => JSON.stringify(members)
const words = "não foi possível"
const page = "<html><title>Erro</title></html>"
const silent = ["", "{}"]
const repeatingTheStatus = ["null", json({ status: 422 }), json({ error: "Unprocessable Entity" })]
const answers = (status: number, ...bodies: ReadonlyArray<Body>) => bodies.map((body) => ({ status, body }))

const unknown = "OutcomeUnknown RefusalUnknown"
const rejected = "RequestRejected"

/** The errors of a refused withdrawal, with words that nobody knows and without words, of a charge by PIX and of a read. */
type Ends = readonly [statuses: ReadonlyArray<number>, worded: End, silent: End, charge: End, read: End]
const all = (statuses: ReadonlyArray<number>, write: End, read: End): Ends => [statuses, write, write, write, read]

const refusals: ReadonlyArray<Ends> = [
  [[400, 402, 406, 412, 416, 418, 422, 498], unknown, unknown, rejected, rejected],
  [[404, 405, 410, 411, 413, 414, 415, 417, 421, 426, 428, 431, 451], unknown, rejected, rejected, rejected],
  [[403], unknown, "AuthError", "AuthError", "AuthError"],
  all([401], "AuthError", "AuthError"),
  all([301, 307, 308, 407], rejected, rejected),
  all([409], "IdempotencyConflict", rejected),
  all([429], "RateLimited again", "RateLimited again"),
  all([423, 424], "OutcomeUnknown UnderWay", rejected),
  all([425], "OutcomeUnknown UnderWay", "RequestRejected again"),
  all([460, 499], "OutcomeUnknown Timeout", rejected)
]

/** The errors of the other statuses outside of 2xx. */
const otherStatuses: typeof refusals = [
  all([0, 101, 199], "OutcomeUnknown Unreadable", "ServiceUnavailable Unreadable"),
  all([300, 302, 303, 304, 305, 306, 399], "OutcomeUnknown Redirect", "UnexpectedResponse Redirect"),
  all([408], "OutcomeUnknown Timeout again", "ServiceUnavailable Timeout again"),
  all([500, 502, 503, 504], "OutcomeUnknown ServerError again", "ServiceUnavailable ServerError again"),
  all(
    [501, 505, 507, 511, 520, 524, 529, 599, 600, 999],
    "OutcomeUnknown ServerError",
    "ServiceUnavailable ServerError"
  )
]

const byStatus = (status: number, isSilent = false) => {
  const found = [...refusals, ...otherStatuses].find(([statuses]) => statuses.includes(status))
  if (found === undefined) throw new Error(`no row has the status ${status}`)
  const [, worded, silent, charge, read] = found
  return {
    write: isSilent ? silent : worded,
    charge,
    read,
    ...(status === 404 && { lookup: "TransactionNotFound" as const })
  }
}

const statuses = [...refusals, ...otherStatuses].flatMap(([all]) =>
  all.flatMap((status): ReadonlyArray<Row> => [
    { name: `a ${status}`, met: answers(status, json({ message: words })), ...byStatus(status) },
    {
      name: `a ${status} without words`,
      met: answers(status, ...silent, ...(status === 404 ? [] : [page]), ...(status === 422 ? repeatingTheStatus : [])),
      ...byStatus(status, true)
    }
  ])
)
const othersOf404: ReadonlyArray<Row> = [
  {
    name: "a page with 404",
    met: answers(404, page),
    ...byStatus(404, true),
    lookup: "UnexpectedResponse Unreadable"
  },
  { name: "a text with 404", met: answers(404, words), ...byStatus(404), lookup: "UnexpectedResponse Unreadable" }
]

/** The words that decide over the outcome of a withdrawal. */
const worded: ReadonlyArray<Row> = [
  {
    name: "a 429 with a word of doubt",
    met: answers(429, json({ message: "Idempotency-Key already used" }), json({ erro: "Operação duplicada" })),
    ...byStatus(429),
    write: unknown,
    charge: unknown
  },
  {
    name: "a 422 about a balance that nobody doubts",
    met: answers(422, json({ message: "Saldo insuficiente" }), json({ title: "Erro", code: "INSUFFICIENT_FUNDS" })),
    ...byStatus(422),
    write: "InsufficientBalance"
  }
]

/** The answers whose body cannot be read, and why. */
const unreadable: ReadonlyArray<readonly [name: string, FailureReason, Omit<Answer, "status">]> = [
  ["cut off", "Truncated", { body: { cutAfter: `{"message":"Pagamento` } }],
  ["over the bound", "TooLarge", { body: endless }],
  ["said to be over the bound", "TooLarge", { body: "x", headers: { "content-length": "99999999" } }],
  ["that is too long to be searched for words", "TooLarge", { body: "não ".repeat(20_000) }],
  ["as JSON that does not end", "Unreadable", { body: `{"message":"Pagamento j` }],
  ["as a list that does not end", "Unreadable", { body: ` [ {"message":"Pagamento j` }],
  ["in another encoding than UTF-8", "Unreadable", { body: Uint8Array.of(0x4e, 0xe3, 0x6f, 0xff) }],
  [
    "that is still compressed",
    "Unreadable",
    { body: Uint8Array.of(0x0b, 2, 1, 0x41), headers: { "content-encoding": "br" } }
  ],
  [
    "that was never compressed, as its header says",
    "Unreadable",
    { body: "not packed", headers: { "content-encoding": "gzip", "content-length": "10" } }
  ]
]

/** The statuses that decide though the body could not be read. */
const deciding = [301, 401, 407]

const unread = unreadable.flatMap(([name, reason, answer]) => [
  ...[400, 402, 403, 404, 406, 412, 422, 405, 410, 418, 451, 409, 429, ...deciding].map((status): Row => ({
    name: `a ${status} with a body ${name}`,
    met: [{ status, ...answer }],
    ...byStatus(status),
    ...(status === 404 && { lookup: `UnexpectedResponse ${reason}` }),
    ...(!deciding.includes(status) && { write: `OutcomeUnknown ${reason}`, charge: `OutcomeUnknown ${reason}` })
  })),
  ...[500, 408].map((status): Row => ({
    name: `a ${status} with a body ${name}`,
    met: [{ status, ...answer }],
    ...byStatus(status)
  }))
])

const nothing = { cutAfter: `{"data":{"id":"` }
/** The successes that do not count. */
const successes: ReadonlyArray<Row> = [
  {
    name: "a success that is not what the contract says",
    met: [
      ...answers(200, "", "null", "[]", "0", '"ok"', "\u0000", '{"data":null}', `{"__proto__":{"id":1}}`, page),
      ...answers(201, nothing.cutAfter, json({ ok: true })),
      ...answers(202, ""),
      ...answers(204, "")
    ],
    write: "OutcomeUnknown Unreadable",
    read: "UnexpectedResponse Unreadable"
  },
  {
    name: "a success over the bound",
    met: [
      { status: 200, body: endless },
      { status: 201, body: "{}", headers: { "content-length": "99999999" } }
    ],
    write: "OutcomeUnknown TooLarge",
    read: "UnexpectedResponse TooLarge"
  },
  {
    name: "a success that is cut off",
    met: answers(200, nothing),
    write: "OutcomeUnknown Truncated again",
    read: "ServiceUnavailable Truncated again"
  }
]

const longer = ["3600", "9".repeat(20), "Thu, 01 Jan 1970 01:00:00 GMT"]
const shorter = ["0", "-1", "1.5", "1e9", "2026-13-45", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", ""]
const after = (status: number, times: ReadonlyArray<string>) =>
  times.map((time) => ({ status, body: "", headers: { "retry-after": time } }))

const waits: ReadonlyArray<Row> = [
  { name: "a 429 for longer than is waited", met: after(429, longer), write: "RateLimited", read: "RateLimited" },
  { name: "a 429 for no time, or for none that can be read", met: after(429, shorter), ...byStatus(429) },
  {
    name: "a 503 for longer than is waited",
    met: after(503, longer),
    write: "OutcomeUnknown ServerError",
    read: "ServiceUnavailable ServerError"
  }
]

/** All rows. */
export const outcomes: ReadonlyArray<Row> = [
  ...statuses,
  ...othersOf404,
  ...worded,
  ...unread,
  ...successes,
  ...waits,
  ...failures
]
