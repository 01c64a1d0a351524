/** When the next request of an account may leave: a function of its row and of what happened. */
import { assert, describe, test } from "@effect/vitest"
import { Account } from "../../src/payouts/internal/machine/account.ts"
import {
  type AccountTime,
  afterAnswer,
  afterTurn,
  givesTurns,
  leftOf,
  marginOf,
  released,
  spacingOf
} from "../../src/payouts/internal/machine/accountTime.ts"

type Said = Parameters<typeof afterAnswer>[1]

const now = 1_000_000_000
const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** An account that took a request a second ago. */
const open = Account.make({ account: "a", nextAt: now - second, setAt: now - second })
const held = { heldAt: now - minute, heldBecause: "Setup", refusals: 3, nextAt: now + 30 * second, setAt: now - second }
const paced = { paceMost: 5, pacePer: minute }
const taken: Said = { _tag: "Taken", amount: 1000 }
const refused = (named?: number): Said => ({ _tag: "Refused", because: "Credentials", named, amount: 1000 })
const short = (amount: number, isNews = true): Said => ({ _tag: "Short", isNews, amount })
const unclear = (key: string, because: "Outage" | "Credentials" = "Outage"): Said => ({
  _tag: "Unclear",
  because,
  key
})

/** What happens to an account in its row, to a request that was taken after so many refusals, and what is different then. */
type Case = readonly [title: string, row: Partial<Account>, said: Said, refusals: number, after: Partial<AccountTime>]
const cases: ReadonlyArray<Case> = [
  ["a success changes nothing of an account that takes requests", {}, taken, 0, {}],
  [
    "a success after half a minute says that it still does",
    { setAt: now - minute },
    taken,
    0,
    { nextAt: now, setAt: now }
  ],
  [
    "a success ends a hold",
    held,
    taken,
    3,
    { nextAt: now - second, setAt: now - second, heldAt: null, heldBecause: null, refusals: 0 }
  ],
  ["a success of before a refusal does not end the hold", held, taken, 2, held],
  [
    "a success ends the wait for a limit, whose end is known",
    { ...held, heldBecause: "Limit" },
    taken,
    3,
    { nextAt: now - second, limitedAt: now, heldAt: null, heldBecause: null, refusals: 0 }
  ],
  [
    "a success with a pace allows the next one after its spacing",
    { ...held, ...paced },
    taken,
    3,
    { nextAt: now - second + 12_200, setAt: now - second, heldAt: null, heldBecause: null, refusals: 0 }
  ],
  ["a success of a smaller amount leaves what is not covered", { shortOf: 2000 }, taken, 0, { shortOf: 2000 }],
  ["a success of as much covers it", { shortOf: 1000 }, taken, 0, { shortOf: null }],
  [
    "a refusal lengthens it",
    {},
    refused(),
    0,
    { nextAt: now + 5 * second, setAt: now, heldAt: now, heldBecause: "Credentials", refusals: 1, limitedAt: now }
  ],
  [
    "the fourth refusal waits for 40 seconds",
    held,
    refused(),
    3,
    {
      nextAt: now + 40 * second,
      setAt: now,
      heldAt: held.heldAt,
      heldBecause: "Credentials",
      refusals: 4,
      limitedAt: now
    }
  ],
  [
    "the tenth refusal waits for 5 minutes",
    { ...held, refusals: 9 },
    refused(),
    9,
    {
      nextAt: now + 5 * minute,
      setAt: now,
      heldAt: held.heldAt,
      heldBecause: "Credentials",
      refusals: 10,
      limitedAt: now
    }
  ],
  ["of those that were under way together the first refusal counts", held, refused(), 0, held],
  ["of these the longest named time counts", held, refused(hour), 0, { ...held, nextAt: now + hour }],
  [
    "a named time is the time",
    {},
    refused(2 * second),
    0,
    { nextAt: now + 2 * second, setAt: now, heldAt: now, heldBecause: "Credentials", refusals: 1, limitedAt: now }
  ],
  [
    "a named time after another refusal is no shorter than its own",
    held,
    refused(2 * second),
    3,
    {
      nextAt: now + 40 * second,
      setAt: now,
      heldAt: held.heldAt,
      heldBecause: "Credentials",
      refusals: 4,
      limitedAt: now
    }
  ],
  [
    "the first payout that the balance does not cover has another tried at once",
    {},
    short(5000),
    0,
    {
      nextAt: now,
      setAt: now,
      heldAt: now,
      heldBecause: "Balance",
      refusals: 1,
      shortOf: 5000,
      limitedAt: now
    }
  ],
  [
    "the second one in a row lengthens it",
    { ...held, heldBecause: "Balance", refusals: 1, shortOf: 5000 },
    short(3000),
    1,
    {
      nextAt: now + 5 * second,
      setAt: now,
      heldAt: held.heldAt,
      heldBecause: "Balance",
      refusals: 2,
      shortOf: 3000,
      limitedAt: now
    }
  ],
  [
    "one that waits for the balance is no news",
    { shortOf: 5000 },
    short(5000, false),
    0,
    { shortOf: 5000, limitedAt: now }
  ],
  [
    "one or two failures that may be of their payouts are remembered",
    { suspects: "x" },
    unclear("y"),
    0,
    { suspects: "x y" }
  ],
  ["the same payout counts once", { suspects: "x y" }, unclear("y"), 0, { suspects: "x y" }],
  [
    "those of three payouts are of the account",
    { suspects: "x y" },
    unclear("z"),
    0,
    {
      nextAt: now + 5 * second,
      setAt: now,
      heldAt: now,
      heldBecause: "Outage",
      refusals: 1,
      suspects: "x y z"
    }
  ],
  ["a success between them forgets them", { suspects: "x y" }, taken, 0, { suspects: null }],
  [
    "silence does not end a hold",
    held,
    unclear("x"),
    3,
    { ...held, nextAt: now + 40 * second, setAt: now, refusals: 4 }
  ],
  [
    "a 403 ends a hold of another cause",
    held,
    unclear("x", "Credentials"),
    3,
    { nextAt: now - second, setAt: now - second, heldAt: null, heldBecause: null, refusals: 0, suspects: "x" }
  ],
  [
    "a 403 does not end a hold of three",
    { ...held, suspects: "x y z" },
    unclear("x", "Credentials"),
    3,
    { ...held, suspects: "x y z", nextAt: now + 40 * second, setAt: now, refusals: 4 }
  ],
  [
    "a turn that no request used is free",
    { nextAt: now + 90 * second },
    { _tag: "Nothing" },
    0,
    { nextAt: now - second }
  ]
]

describe("the time of an account", () => {
  test.each(cases)("%s", (_, row, said, refusals, after) => {
    const account = Account.make({ ...open, ...row })
    assert.deepStrictEqual(afterAnswer(account, said, refusals, now), { ...account, ...after })
  })

  test("is moved by a request's own deadline where nobody knows whether the service takes it", () => {
    const moved = (row: Partial<Account>) => afterTurn(Account.make({ ...open, ...row }), now, 90 * second).next.nextAt
    assert.strictEqual(moved({}), now)
    assert.strictEqual(moved({ setAt: null }), now + 90 * second)
    assert.strictEqual(moved({ setAt: now - minute }), now + 90 * second)
    assert.strictEqual(moved({ ...held, nextAt: now }), now + 90 * second)
  })

  test("lets no sliding window see more than the pace allows, and wastes less than a twentieth", () => {
    for (const [paceMost, pacePer] of [
      [5, minute],
      [5, second],
      [1, 100],
      [20, 10 * second],
      [1, 24 * hour]
    ] as const) {
      const account = Account.make({ account: "a", paceMost, pacePer })
      const spacing = spacingOf(account)
      // One request is as late as it may be, and the next ones are not.
      assert.isAtLeast(paceMost * spacing - marginOf(account), pacePer)
      assert.isAtMost(paceMost * spacing, pacePer * 1.04 + paceMost)
    }
    // A turn that is taken a moment late moves no later one.
    const account = Account.make({ account: "a", ...paced, nextAt: now - 400, setAt: now - second })
    assert.deepStrictEqual(afterTurn(account, now, 0), {
      time: now - 400,
      next: { nextAt: now - 400 + 12_200, setAt: now }
    })
    const late = Account.make({ account: "a", ...paced, nextAt: now - 600, setAt: now - second })
    assert.strictEqual(afterTurn(late, now, 0).next.nextAt, now + 12_200)
  })

  test("is void where it was set later than now", () => {
    const left = (setAt: number) => leftOf({ nextAt: now + hour, setAt }, now)
    assert.deepStrictEqual([left(now), left(now + 1)], [hour, 0])
  })

  test("gives turns while there is something to wait for", () => {
    const gives = (row: Partial<Account>) => givesTurns(Account.make({ ...open, ...row }), now)
    assert.deepStrictEqual(
      [{}, paced, held, { nextAt: now + 1 }, { setAt: now - minute }, { setAt: null }].map(gives),
      [false, true, true, true, true, true]
    )
  })

  test("is at once after a step of a person, but for the pace", () => {
    assert.strictEqual(released(Account.make({ ...open, ...held }), now).nextAt, now - second)
    assert.strictEqual(released(Account.make({ ...open, ...held, ...paced }), now).nextAt, now - second + 12_200)
  })
})
