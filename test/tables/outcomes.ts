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

/** The errors of a refused write and read, by status. */
const refusals: ReadonlyArray<readonly [statuses: ReadonlyArray<number>, write: End, read: End]> = [
  [[301, 307, 308, 400, 402, 404, 405, 406, 410, 411, 412, 413, 414], "RequestRejected", "RequestRejected"],
  [[415, 416, 417, 418, 421, 422, 426, 428, 431, 451, 498], "RequestRejected", "RequestRejected"],
  [[425], "RequestRejected again", "RequestRejected again"],
  [[407], "RequestRejected", "RequestRejected"],
  [[401, 403], "AuthError", "AuthError"],
  [[409], "IdempotencyConflict", "RequestRejected"],
  [[429], "RateLimited again", "RateLimited again"],
  [[423, 424], "OutcomeUnknown UnderWay", "RequestRejected"],
  [[460, 499], "OutcomeUnknown Timeout", "RequestRejected"]
]

/** The errors of the other statuses outside of 2xx. */
const otherStatuses: typeof refusals = [
  [[0, 101, 199], "OutcomeUnknown Unreadable", "ServiceUnavailable Unreadable"],
  [[300, 302, 303, 304, 305, 306, 399], "OutcomeUnknown Redirect", "UnexpectedResponse Redirect"],
  [[408], "OutcomeUnknown Timeout again", "ServiceUnavailable Timeout again"],
  [[500, 502, 503, 504], "OutcomeUnknown ServerError again", "ServiceUnavailable ServerError again"],
  [[501, 505, 507, 511, 520, 524, 529, 599, 600, 999], "OutcomeUnknown ServerError", "ServiceUnavailable ServerError"]
]

/** The error of a status, whatever the words of the answer. */
const endOf = (status: number, kind: "write" | "read"): End => {
  const found = [...refusals, ...otherStatuses].find(([statuses]) => statuses.includes(status))
  if (found === undefined) throw new Error(`no row has the status ${status}`)
  return kind === "write" ? found[1] : found[2]
}

const byStatus = (status: number) => ({
  write: endOf(status, "write"),
  read: endOf(status, "read"),
  ...(status === 404 && { lookup: "TransactionNotFound" as const })
})

const statuses = [...refusals, ...otherStatuses].flatMap(([all]) =>
  all.flatMap((status): ReadonlyArray<Row> => {
    const own = answers(status, json({ message: words }))
    const is422 = status === 422
    return [
      { name: `a ${status}`, met: status === 404 ? own : [...own, ...answers(status, page)], ...byStatus(status) },
      {
        name: `a ${status} without words`,
        met: answers(status, ...silent, ...(is422 ? repeatingTheStatus : [])),
        ...byStatus(status)
      }
    ]
  })
)
const pagesOf404: Row = {
  name: "a page or a text with 404",
  met: answers(404, page, words),
  ...byStatus(404),
  lookup: "UnexpectedResponse Unreadable"
}

/** The words that decide over the outcome of a write. */
const worded = [400, 403, 422, 429].flatMap((status): ReadonlyArray<Row> => [
  {
    name: `a ${status} about duplication`,
    met: answers(status, json({ message: "Idempotency-Key already used" }), json({ erro: "Operação duplicada" })),
    ...byStatus(status),
    write: "IdempotencyConflict"
  },
  {
    name: `a ${status} about a time-out behind the service`,
    met: answers(status, json({ message: "Tempo esgotado no PSP" })),
    ...byStatus(status),
    write: "OutcomeUnknown UnderWay"
  }
])

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
const deciding = [301, 401, 407, 409, 429]

const unread = unreadable.flatMap(([name, reason, answer]) => [
  ...[400, 402, 403, 404, 406, 412, 422, 405, 410, 418, 425, 451, ...deciding].map((status): Row => ({
    name: `a ${status} with a body ${name}`,
    met: [{ status, ...answer }],
    ...byStatus(status),
    ...(status === 404 && { lookup: `UnexpectedResponse ${reason}` }),
    ...(!deciding.includes(status) && { write: `OutcomeUnknown ${reason}` })
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
  pagesOf404,
  ...worded,
  ...unread,
  ...successes,
  ...waits,
  ...failures
]
