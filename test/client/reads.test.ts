/** What `getTransaction`, `listTransactions` and `getBalance` send, and which requests they refuse. */
import { assert, describe } from "@effect/vitest"
import { canary, checkRefused, headersOf, long, odd, type Refused, requestOf, type Use } from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import {
  balance,
  balancePath,
  detail,
  getBalance,
  getTransaction,
  listed,
  listTransactions,
  lookupPath,
  transactionId
} from "../support/operations.ts"
import { respond } from "../support/Wire.ts"

const { call: look } = getTransaction
const { path: listPath } = listTransactions
const { call: readBalance } = getBalance

// The arguments of programs without types.
const looking =
  (id: unknown): Use =>
  (payments) =>
    payments.getTransaction(id as string)
const listing =
  (options?: unknown): Use =>
  (payments) =>
    payments.listTransactions(options as object)
const reading =
  (options?: unknown): Use =>
  (payments) =>
    payments.getBalance(options as object)

const strange = ["a?b#c", "%2e%2e", "...", "a:b@c;d", "a%2Fb", "a".repeat(128)]

describe("the request of a read", () => {
  const sent: ReadonlyArray<readonly [what: string, use: Use, answer: object, path: string]> = [
    ["a lookup", look, detail, lookupPath(transactionId)],
    ...strange.map(
      (id) =>
        [
          `a lookup of ${id.slice(0, 8)}, which stays one segment of the path`,
          looking(id),
          { ...detail, transactionId: id },
          lookupPath(encodeURIComponent(id))
        ] as const
    ),
    ["a list without options", listing(), listed, listPath],
    ["a list with empty options", listing({}), listed, listPath],
    ["a list of a page", listing({ page: 2 }), listed, `${listPath}?page=2`],
    [
      "a list of an order",
      listing({ pageSize: 100, sort: "createdAt_asc" }),
      listed,
      `${listPath}?pageSize=100&sort=createdAt_asc`
    ],
    [
      "a list with all options",
      listing({ page: 1, pageSize: 1, sort: "createdAt_desc" }),
      listed,
      `${listPath}?page=1&pageSize=1&sort=createdAt_desc`
    ],
    ["a balance of the configured company", reading(), balance, `${balancePath(7)}?currency=BRL`],
    ["a balance of a named company", reading({ companyId: 8 }), balance, `${balancePath(8)}?currency=BRL`],
    ["a balance of the company 0", reading({ companyId: 0 }), balance, `${balancePath(0)}?currency=BRL`],
    ["a balance in another currency", reading({ currency: "USD" }), balance, `${balancePath(7)}?currency=USD`],
    [
      "a balance of options that are undefined",
      reading({ companyId: undefined, currency: undefined }),
      balance,
      `${balancePath(7)}?currency=BRL`
    ]
  ]
  effect.each(sent)("%s is a GET without body, content type and key", function* ([, use, answer, path]) {
    const { headers, method, path: place, text } = yield* requestOf(use, respond(200, answer))
    assert.deepStrictEqual([method, place, headers, text], ["GET", path, headersOf(), undefined])
  })
})

const refused: ReadonlyArray<Refused> = [
  ...[
    "",
    ".",
    "..",
    `../${canary}`,
    `..\\${canary}`,
    `${canary}\r\n`,
    ` ${canary}`,
    `${canary}é`,
    "a".repeat(129),
    91,
    undefined
  ].map((id): Refused => [`a lookup of ${JSON.stringify(id)}`, looking(id), "transactionId"]),
  ...[
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 1.5 },
    { page: 0 },
    { page: "1" },
    { sort: canary },
    { pagesize: 10 }
  ].map((options): Refused => [`a list of ${JSON.stringify(options)}`, listing(options), Object.keys(options).join()]),
  ["a list of a list", listing([]), ""],
  ["a list of null", listing(null), ""],
  ["a balance of a number", reading(42), ""],
  ["a balance of a text", reading(canary), ""],
  ["a balance of options that throw when they are read", reading(odd.throwing), ""],
  ["a balance of a negative company", reading({ companyId: -1 }), "companyId"],
  ["a balance of half a company", reading({ companyId: 7.5 }), "companyId"],
  ["a balance of a company in text", reading({ companyId: `../${canary}` }), "companyId"],
  ["a balance in a currency that is none", reading({ currency: `BRL&x=${canary}` }), "currency"],
  ["a balance with a misspelt option", reading({ canary }), "canary"]
]

describe("a request of a read", () => {
  effect.each(refused)("%s is refused, and nothing is sent", function* (row) {
    yield* checkRefused(row)
  })

  effect("a balance is refused where neither the call nor the client names a company", function* () {
    yield* checkRefused(["", reading({}), "companyId"], { companyId: undefined })
  })

  effect("a path before every path may be in the base URL, however long it is", function* () {
    for (const [prefix, path] of [
      ["/pix/v2", "/pix/v2"],
      ["/pix/v2//", "/pix/v2"],
      [`${long("/")}x//`, `${long("/")}x`]
    ]) {
      const sent = yield* requestOf(readBalance, respond(200, balance), { baseUrl: `https://gateway.example${prefix}` })
      assert.strictEqual(sent.path, `${path}${balancePath(7)}?currency=BRL`)
    }
  })
})
