/** `effect-pix payouts`, on a program's own database. */
import { assert, describe, expect } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { Money, PixKey } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { PayoutQueue } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { hasPty, run as runProcess, runHere as run, runOnTerminal } from "../support/command.ts"
import { accountSteps, letterSteps, payoutSteps } from "../../src/cli/internal/operator/steps.ts"
import { databases, folder } from "../support/operated.ts"
import { storedRefusal } from "../support/payoutQueue.ts"
import { runs } from "../support/seed.ts"
import { live } from "../support/effect.ts"

const pixKey = PixKey.email("maria@example.com")
const states = ["accepted", "parked", "posted", "refused", "unknown"]

/** Five payouts, of R$ 10,00 to R$ 50,00, each in the state that it is named by. */
const fill = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const sql = yield* SqlClient.SqlClient
  for (const [index, reference] of states.entries()) {
    yield* queue.submit({ reference, amount: Money.centavos(1000 * (index + 1)), pixKey, description: "For Maria" })
  }
  yield* queue.park("parked")
  const before = Date.now() - 3 * 3_600_000
  yield* sql`UPDATE effect_pix_payouts SET state = 'posted', withdrawal_id = 7 WHERE reference = 'posted'`
  yield* sql`UPDATE effect_pix_payouts SET state = 'refused', error = ${storedRefusal} WHERE reference = 'refused'`
  yield* sql`UPDATE effect_pix_payouts SET state = 'unknown', may_have_left_at = ${before} WHERE reference = 'unknown'`
  yield* sql`UPDATE effect_pix_payouts SET submitted_at = ${before}`
})

type Client = Layer.Layer<SqlClient.SqlClient, unknown>

const asking = (client: Client) => Layer.provideMerge(PayoutQueue.layerClient(), client)

const statusOf = (client: Client, reference: string) =>
  Effect.flatMap(PayoutQueue, ({ status }) => status(reference)).pipe(
    Effect.map(Option.getOrThrow),
    Effect.provide(asking(client)),
    Effect.orDie
  )

/** What a worker makes of a reference. */
const work = (client: Client, reference: string) => {
  const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 1_000_000 }))
  const worker = Layer.provide(PayoutQueue.layer({ poll: "20 millis" }), Layer.merge(client, gateway))
  return Effect.orDie(
    Effect.provide(
      Effect.flatMap(PayoutQueue, ({ await: wait }) => wait(reference)),
      worker
    )
  )
}

const person = ["--by", "ana", "--note", "asked twice"]

const lines = (text: string) => text.trimEnd().split("\n")

describe.each(databases)("payouts in %s", (_, database) => {
  live("payouts are listed with ages, amounts and totals by state, and one is shown with its key masked", function* () {
    const { client, env } = yield* database
    yield* Effect.orDie(Effect.provide(fill, asking(client)))
    const waiting = yield* run(["payouts", "list"], env)
    expect(waiting.code).toBe(0)
    expect(lines(waiting.stdout).map((line) => line.split(/ {2,}/))).toEqual([
      ["STATE", "AMOUNT", "AGE", "REFERENCE", "WHY"],
      ["parked", "R$ 20,00", "3 h", "parked", "Operator"],
      ["unknown", "R$ 50,00", "3 h", "unknown", "OutcomeUnknown"],
      ["accepted", "R$ 10,00", "3 h", "accepted"]
    ])
    expect(lines(waiting.stderr)).toEqual(["1 parked, R$ 20,00", "1 unknown, R$ 50,00", "1 accepted, R$ 10,00"])

    const all = yield* run(["payouts", "list", "--state", "all", "--json", "--limit", "4"], env)
    expect(lines(all.stdout).map((line) => JSON.parse(line))).toHaveLength(4)
    const posted = yield* run(["payouts", "list", "--state", "posted", "--json"], env)
    expect(JSON.parse(posted.stdout)).toMatchObject({ reference: "posted", amount: 3000, withdrawalId: 7 })

    const shown = yield* run(["payouts", "show", "unknown"], env)
    expect(shown.stdout).toMatch(/^Amount +R\$ 50,00 \(5000 centavos\)$/m)
    expect(shown.stdout).toMatch(/^May have left +\S+Z \(3 h ago\)$/m)
    expect(shown.stdout + waiting.stdout + all.stdout).not.toContain("maria@example.com")
    const full = yield* run(["payouts", "show", "unknown", "--full", "--json", ...person], env)
    expect(JSON.parse(full.stdout)).toMatchObject({ state: "unknown", pixKey: "maria@example.com" })
    expect(JSON.parse(full.stdout).history.at(-1)).toMatchObject({ _tag: "Shown", by: "ana", note: "asked twice" })
    const { EFFECT_PIX_BY: _, ...nobody } = env
    const unnamed = yield* run(["payouts", "show", "unknown", "--full"], nobody)
    expect([unnamed.code, unnamed.stdout]).toEqual([1, ""])
    expect(unnamed.stderr).toContain("--by")
    const again = yield* run(["payouts", "show", "unknown"], env)
    expect(again.stdout.match(/ Shown /g)).toHaveLength(1)
    const missing = yield* run(["payouts", "show", "nothing"], env)
    expect([missing.code, missing.stdout, missing.stderr]).toEqual([4, "", expect.stringContaining("No payout")])
  })

  live(
    "forget deletes the payee's data of a payout that is over, with who and why, and is refused for one in doubt",
    function* () {
      const { client, env } = yield* database
      yield* Effect.orDie(Effect.provide(fill, asking(client)))
      const unconfirmed = yield* run(["payouts", "forget", "posted", ...person], env)
      expect(unconfirmed.code).toBe(2)
      const both = yield* run(["payouts", "forget", "posted", "unknown", "--yes", ...person], env)
      expect(both.code).toBe(4)
      expect(both.stderr).toContain("are deleted for ever. Its reference, amount and history stay.")
      expect(both.stderr).toContain("forget changed nothing: the payout unknown is unknown.")
      const shown = yield* run(["payouts", "show", "posted"], env)
      expect(shown.stdout).toMatch(/^To +forgotten$/m)
      expect(shown.stdout).toMatch(/^Amount +R\$ 30,00 /m)
      expect(shown.stdout).toMatch(/ Forgotten \(posted\) by ana : asked twice$/m)
      const refused = yield* run(["payouts", "forget", "refused", "--yes", ...person], env)
      expect(refused.stderr).toContain("It cannot be sent any more.")
      const retried = yield* run(["payouts", "retry", "refused", "--yes", ...person], env)
      expect([retried.code, retried.stderr]).toEqual([4, expect.stringContaining("Its request was deleted")])
    }
  )

  live("whom a payout pays is shown as far as it is stored, and sums are exact beyond the safe integers", function* () {
    const { client, env } = yield* database
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* fill
      yield* PayoutQueue.use((queue) => queue.submit({ reference: "own", amount: Money.centavos(1000) }))
      yield* sql`UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'posted'`
      yield* sql`UPDATE effect_pix_payouts SET request = 'sealed:1f8b' WHERE reference = 'refused'`
      yield* sql`UPDATE effect_pix_payouts SET amount = ${Number.MAX_SAFE_INTEGER} WHERE state = 'accepted'`
    }).pipe(Effect.provide(asking(client)), Effect.orDie)
    for (const [reference, payee] of [
      ["parked", "***"],
      ["own", "the company's own PIX key"],
      ["posted", "forgotten"],
      ["refused", "sealed by the program"]
    ] as const) {
      const shown = yield* run(["payouts", "show", reference], env)
      expect(lines(shown.stdout).find((line) => line.startsWith("To "))).toContain(payee)
    }
    const { stderr } = yield* run(["payouts", "list", "--state", "accepted"], env)
    expect(lines(stderr)).toEqual(["2 accepted, R$ 180.143.985.094.819,82"])
  })

  live(
    "the account of --account is meant by every command, and one that the database does not know is refused",
    function* () {
      const { client, env } = yield* database
      yield* Effect.orDie(Effect.provide(fill, asking(client)))
      const padaria = Layer.provideMerge(PayoutQueue.layerClient({ account: "padaria" }), client)
      const submitted = PayoutQueue.use((queue) =>
        queue.submit({ reference: "accepted", amount: Money.centavos(7000), pixKey })
      )
      yield* Effect.orDie(Effect.provide(submitted, padaria))
      const listed = yield* run(["payouts", "list", "--account", "padaria"], env)
      assert.match(listed.stdout, /accepted +R\$ 70,00/)
      assert.notInclude(listed.stdout, "R$ 10,00")
      const step = (name: string) => run(["payouts", name, "accepted", "--account", "padaria", "--yes", ...person], env)
      assert.strictEqual((yield* step("park")).code, 0)
      assert.strictEqual((yield* statusOf(client, "accepted")).state, "accepted")
      assert.strictEqual((yield* run(["payouts", "pause", "--account", "padaria", "--yes"], env)).code, 0)
      assert.notInclude((yield* run(["payouts", "list"], env)).stderr, "paused")
      const wrong = yield* run(["payouts", "pause", "--account", "padria", "--yes"], env)
      assert.notStrictEqual(wrong.code, 0)
      assert.match(wrong.stderr, /padria has no payouts in this database, which has the accounts: default, padaria/)
      const fingerprint = "a".repeat(40)
      const change = (flags: ReadonlyArray<string>) =>
        run(["payouts", "change-sender", fingerprint, "--account", "padaria", ...flags], env)
      assert.include((yield* change([])).stderr, "MONEY WILL MOVE FROM ANOTHER ACCOUNT OF THE GATEWAY")
      assert.strictEqual((yield* change(["--yes", ...person])).code, 0)
      const { changes } = yield* Effect.orDie(
        Effect.provide(
          PayoutQueue.use((queue) => queue.account),
          padaria
        )
      )
      assert.deepStrictEqual(
        changes.map((each) => [each.fingerprint, each.by]),
        [[fingerprint, "ana"]]
      )
      const same = yield* run(["payouts", "change-sender", fingerprint, "--yes"], env)
      assert.notStrictEqual(same.code, 0)
      assert.include(same.stderr, "is that of the account padaria")
    }
  )

  live(
    "payouts are refused if their tables are of another version or absent, and no table is made or changed",
    function* () {
      const { client, env } = yield* database
      const tablesOf = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const names = sql.onDialectOrElse({
          pg: () => sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
          orElse: () => sql`SELECT name FROM sqlite_master WHERE type = 'table'`
        })
        return (yield* names).length
      })
      const count = yield* Effect.orDie(Effect.provide(tablesOf, client))
      const none = yield* run(["payouts", "list"], env)
      expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("has no tables in this database")])
      expect(yield* Effect.orDie(Effect.provide(tablesOf, client))).toBe(count)

      yield* Effect.orDie(Effect.provide(fill, asking(client)))
      {
        const table = "effect_pix_payouts"
        const newer = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO ${sql(`${table}_migrations`)} (migration_id, name) VALUES (99, 'later')`
        )
        yield* Effect.orDie(Effect.provide(newer, client))
        const { code, stderr } = yield* run(["payouts", "park", "accepted", "--yes"], env)
        expect([code, stderr]).toEqual([1, expect.stringMatching(/tables of version \d+ .* changes no tables/s)])
        const older = Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`DELETE FROM ${sql(`${table}_migrations`)} WHERE migration_id = 99`
        )
        yield* Effect.orDie(Effect.provide(older, client))
      }
      expect((yield* statusOf(client, "accepted")).state).toBe("accepted")
    }
  )
})

// On PostgreSQL in the soak alone: these tests run the command thirty times, and QueueHistory tests the same steps on both databases.
describe.each(databases.slice(0, runs(1, 2)))("payouts in %s", (_, database) => {
  live(
    "payouts are listed page by page as CSV for an accountant, without their payees and with no cell that a sheet runs",
    function* () {
      const { client, env } = yield* database
      const empty = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM effect_pix_payouts`)
      yield* Effect.orDie(Effect.provide(fill, asking(client)))
      const posted = yield* Effect.map(statusOf(client, "posted"), ({ submittedAt, updatedAt }) =>
        [submittedAt, updatedAt].map((at) => DateTime.formatIso(at).replace(/\.\d+Z$/, "Z"))
      )
      const head = "reference,state,amount_centavos,amount_reais,submitted_at,updated_at,withdrawal_id"
      const one = yield* run(["payouts", "list", "--state", "posted", "--csv"], env)
      expect([one.code, one.stdout]).toEqual([0, `${head}\r\nposted,posted,3000,30.00,${posted.join()},7\r\n`])

      // More than one page.
      const formulas = ["=1+1", "+1", "-1", "@SUM(A1)"]
      const many = [...formulas, ...Array.from({ length: 1100 }, (_, index) => `invoice-${index}`)]
      const submitMany = Effect.flatMap(PayoutQueue, (queue) =>
        queue.submitMany(many.map((reference) => ({ reference, amount: Money.centavos(123_456), pixKey })))
      )
      yield* Effect.orDie(Effect.provide(submitMany, asking(client)))
      const all = yield* run(["payouts", "list", "--state", "all", "--csv"], env)
      const rows = lines(all.stdout).map((line) => line.split(","))
      expect(all.code).toBe(0)
      expect(rows).toHaveLength(1 + states.length + many.length)
      expect(new Set(rows.slice(1).map(([reference]) => reference))).toEqual(
        new Set([...states, ...many].map((each) => (formulas.includes(each) ? `"'${each}"` : each)))
      )
      expect(rows.find(([reference]) => reference === "invoice-0")?.slice(1, 4)).toEqual([
        "accepted",
        "123456",
        "1234.56"
      ])
      const asJson = yield* run(["payouts", "list", "--state", "all", "--json"], env)
      const objects = lines(asJson.stdout).map((line) => JSON.parse(line))
      expect(new Set(objects.map(({ reference }) => reference))).toEqual(new Set([...states, ...many]))
      expect(objects).toHaveLength(states.length + many.length)
      expect(objects).toContainEqual(
        expect.objectContaining({ reference: "posted", amount: 3000, state: "posted", withdrawalId: 7 })
      )
      for (const text of [one.stdout, all.stdout, asJson.stdout]) expect(text).not.toMatch(/maria/i)

      yield* Effect.orDie(Effect.provide(empty, client))
      expect((yield* run(["payouts", "list", "--csv"], env)).stdout).toBe(`${head}\r\n`)
    }
  )

  live("payouts are changed by a step that is confirmed, and by no other", function* () {
    const { client, env } = yield* database
    yield* Effect.orDie(Effect.provide(fill, asking(client)))
    const refused = yield* run(["payouts", "park", "accepted"], env)
    expect([refused.code, refused.stdout]).toEqual([2, ""])
    expect(refused.stderr).toContain("Payout accepted: R$ 10,00 (1000 centavos), accepted, submitted 3 h ago")
    expect(refused.stderr).toContain("Not confirmed. Nothing was changed. Without a terminal a park needs --yes.")
    expect((yield* statusOf(client, "accepted")).state).toBe("accepted")

    const parked = yield* run(["payouts", "park", "accepted", "--yes", "--json", ...person], env)
    expect([parked.code, JSON.parse(parked.stdout)]).toMatchObject([0, { state: "parked", because: "Operator" }])
    const settled = yield* run(["payouts", "settle", "accepted", "--as", "failed", "--yes"], env)
    expect(settled.stdout).toMatch(/^State +failed$/m)
    const over = yield* run(["payouts", "retry", "posted", "--yes"], env)
    expect([over.code, over.stderr]).toEqual([
      4,
      expect.stringContaining("retry changed nothing: the payout posted is posted")
    ])

    const shown = yield* run(["payouts", "show", "accepted"], env)
    expect(shown.stdout).toMatch(
      /Submitted \(accepted\)\n.* Parked Operator \(parked\) by ana : asked twice\n.* Settled \(failed\)/
    )

    const paused = yield* run(["payouts", "pause", "--yes"], env)
    expect([paused.code, paused.stdout]).toEqual([0, expect.stringMatching(/^Workers +paused since /m)])
    expect((yield* run(["payouts", "list"], env)).stderr).toContain("The workers are paused: nothing is sent")
    yield* run(["payouts", "pause", "--yes", ...person], env)
    const listed = yield* run(["payouts", "list", "--json"], env)
    expect(listed.stderr).toMatch(/paused since \S+Z \(\d+ s ago\) by ana: asked twice\n$/)
    const goOn = yield* run(["payouts", "continue", "--yes"], env)
    expect([goOn.code, goOn.stderr]).toEqual([0, expect.stringMatching(/paused since .* by ana: asked twice\n/)])

    for (const step of ["retry refused", "resume parked"]) {
      const taken = yield* run(["payouts", ...step.split(" "), "--yes"], env)
      expect([taken.code, taken.stderr]).toEqual([0, expect.stringMatching(/MONEY (WILL|MAY) MOVE/)])
    }
    // A request of it left longer ago than the default horizon, of which the command knows as little as of the program's.
    const longAgo = Date.now() - 13 * 3_600_000
    const inDoubt = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`UPDATE effect_pix_payouts SET may_have_left_at = ${longAgo} WHERE reference = 'unknown'`
    )
    yield* Effect.orDie(Effect.provide(inDoubt, client))
    for (const step of ["park", "resume"]) {
      expect((yield* run(["payouts", step, "unknown", "--yes"], env)).code).toBe(0)
    }
    const again = yield* work(client, "unknown")
    expect([again.state, "because" in again && again.because]).toEqual(["parked", "PastHorizon"])
    // The worker finds what the command queued.
    expect((yield* work(client, "refused")).state).toBe("posted")
    expect((yield* work(client, "parked")).state).toBe("posted")
  })
})

/** Three payouts above the limit of the workers, of R$ 10,00, R$ 20,00 and R$ 30,00, and one that an operator parked. */
const fillParked = Effect.gen(function* () {
  const queue = yield* PayoutQueue
  const sql = yield* SqlClient.SqlClient
  for (const [index, reference] of ["over-1", "over-2", "over-3", "held"].entries()) {
    yield* queue.submit({ reference, amount: Money.centavos(1000 * (index + 1)), pixKey })
    yield* queue.park(reference)
  }
  yield* sql`UPDATE effect_pix_payouts SET parked_because = 'OverMaxAmount' WHERE reference <> 'held'`
})

describe.each(databases.slice(0, runs(1, 2)))("a step about many payouts in %s", (_, database) => {
  const filled = Effect.gen(function* () {
    const { client, env } = yield* database
    yield* Effect.orDie(Effect.provide(fillParked, asking(client)))
    const stateOf = (reference: string) => Effect.map(statusOf(client, reference), ({ state }) => state)
    const step = (...args: ReadonlyArray<string>) => run(["payouts", ...args, ...person], env)
    return { client, env, step, stateOf }
  })

  live("names each with its amount, and their number and sum, before it is confirmed", function* () {
    const { stateOf, step } = yield* filled
    const asked = yield* step("resume", "--because", "OverMaxAmount")
    expect([asked.code, asked.stdout]).toEqual([2, ""])
    for (const [index, reference] of ["over-1", "over-2", "over-3"].entries()) {
      const amount = `R$ ${index + 1}0,00 (${index + 1}000 centavos)`
      expect(asked.stderr).toContain(`Payout ${reference}: ${amount}, parked (OverMaxAmount), submitted`)
    }
    expect(asked.stderr).toContain("resume: 3 payouts, R$ 60,00 (6000 centavos): MONEY MAY MOVE")
    expect(asked.stderr).not.toContain("held")
    expect(yield* stateOf("over-1")).toBe("parked")

    const resumed = yield* step("resume", "--because", "OverMaxAmount", "--yes", "--json")
    expect(resumed.code).toBe(0)
    expect(lines(resumed.stdout).map((line) => JSON.parse(line))).toMatchObject([
      { reference: "over-1", state: "accepted" },
      { reference: "over-2", state: "accepted" },
      { reference: "over-3", state: "accepted" }
    ])
    expect(yield* stateOf("held")).toBe("parked")
    const none = yield* step("resume", "--because", "OverMaxAmount", "--yes")
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining("there is no such payout")])
  })

  live("is taken of those that it fits: the others are named, and the exit code is 4", function* () {
    const { stateOf, step } = yield* filled
    const unknown = yield* step("settle", "over-1", "nobody-1", "nobody-2", "--as", "settled", "--yes")
    expect([unknown.code, unknown.stdout]).toEqual([4, ""])
    for (const words of ["nobody-1", "nobody-2", "Nothing was changed."]) expect(unknown.stderr).toContain(words)
    expect(yield* stateOf("over-1")).toBe("parked")

    yield* step("settle", "over-1", "--as", "settled", "--yes")
    const some = yield* step("resume", "over-1", "over-2", "held", "over-2", "--yes")
    expect(some.code).toBe(4)
    expect(some.stderr).toContain("3 payouts, R$ 70,00 (7000 centavos)")
    expect(some.stderr).toMatch(/resume changed nothing: the payout over-1 is settled/)
    expect(
      lines(some.stdout)
        .slice(1)
        .map((line) => line.split(/ {2,}/)[3])
    ).toEqual(["over-2", "held"])
    expect([yield* stateOf("over-2"), yield* stateOf("held")]).toEqual(["accepted", "accepted"])
  })

  live(
    "parks all that were submitted before a time, also those that wait for another reason, and no newer one",
    function* () {
      const { client, step, stateOf } = yield* filled
      yield* step("resume", "over-1", "--yes")
      const older = SqlClient.SqlClient.use(
        (sql) => sql`UPDATE effect_pix_payouts SET submitted_at = submitted_at - 1000`
      )
      yield* Effect.orDie(Effect.provide(older, client))
      const submitted = Effect.flatMap(PayoutQueue, ({ submit }) =>
        submit({ reference: "new", amount: Money.centavos(1000) })
      )
      yield* Effect.orDie(Effect.provide(submitted, asking(client)))
      const before = DateTime.formatIso((yield* statusOf(client, "new")).submittedAt)
      for (const wrong of ["yesterday", "2026-11-21", "2026-11-21T10:00:00", "2026-99-99T10:00:00Z"]) {
        const { code, stderr } = yield* step("park", "--submitted-before", wrong, "--yes")
        expect([code, stderr]).toEqual([1, expect.stringContaining("2026-11-21T10:00:00Z")])
      }
      const parked = yield* step("park", "--submitted-before", before, "--yes")
      expect(parked.code).toBe(0)
      expect(parked.stderr).toContain("park: 3 payouts, R$ 90,00 (9000 centavos): It is parked already.")
      expect(parked.stderr).toContain("park: 1 payout, R$ 10,00 (1000 centavos): No worker sends it any more")
      expect(yield* stateOf("new")).toBe("accepted")
      const resumed = yield* step("resume", "--because", "OverMaxAmount", "--yes")
      expect(resumed.stderr).toContain("there is no such payout")
      expect(yield* stateOf("over-2")).toBe("parked")
      const both = yield* step("park", "new", "--submitted-before", before, "--yes")
      expect([both.code, both.stderr]).toEqual([1, expect.stringContaining("by their references, or give the flag")])
      expect((yield* step("retry", "--yes")).code).toBe(1)
    }
  )

  live(
    "says how many and how much before money moves, that nothing is sent in a pause, and sums what a limit hides",
    function* () {
      const { client, env } = yield* database
      yield* Effect.orDie(Effect.provide(fill, asking(client)))
      const step = (...args: ReadonlyArray<string>) => run(["payouts", ...args], env)
      const settled = yield* step("settle", "posted", "--as", "failed")
      expect(settled.code).toBe(2)
      expect(settled.stderr).toMatch(
        /1 payout, R\$ 30,00 \(3000 centavos\): .* MONEY MAY HAVE MOVED: the service recorded it as withdrawal 7/
      )
      const retried = yield* step("retry", "refused")
      expect(retried.stderr).toContain("retry: 1 payout, R$ 40,00 (4000 centavos): MONEY WILL MOVE: it is sent again")
      yield* step("pause", "--yes")
      const paused = yield* step("retry", "refused")
      expect(paused.stderr).not.toContain("it is sent again")
      expect(paused.stderr).toContain("The workers are paused: nothing is sent until `effect-pix payouts continue`.")
      const goOn = yield* step("continue")
      expect(goOn.code).toBe(2)
      expect(goOn.stderr).toContain("continue: MONEY WILL MOVE")
      expect(goOn.stderr).toContain("1 payout, R$ 10,00 (1000 centavos): never answered")
      expect(goOn.stderr).toContain("1 payout, R$ 50,00 (5000 centavos): in doubt")
      const listed = yield* step("list", "--limit", "1")
      expect(lines(listed.stdout)).toHaveLength(2)
      expect(lines(listed.stderr).slice(0, 4)).toEqual([
        "Shown are 1 of 3. The sums are of all:",
        "1 parked, R$ 20,00",
        "1 unknown, R$ 50,00",
        "1 accepted, R$ 10,00"
      ])
    }
  )
})

describe.each(databases.slice(0, runs(1, 2)))("the two people of a step in %s", (_, database) => {
  live(
    "are told apart by their names: the first one's step changes nothing and says so, and the second one's is done",
    function* () {
      const { client, env } = yield* database
      yield* Effect.orDie(Effect.provide(fill, asking(client)))
      const step = (by: string, ...words: ReadonlyArray<string>) => run(["payouts", ...words, "--yes", "--by", by], env)
      const set = yield* step("carla", "four-eyes", "15,00")
      expect([set.code, set.stdout]).toEqual([
        0,
        expect.stringMatching(/^Second person +above R\$ 15,00 \(1500 centavos\)$/m)
      ])
      const asked = yield* step("ana", "four-eyes", "none", "--json")
      expect([asked.code, JSON.parse(asked.stdout)]).toEqual([
        0,
        { account: "default", step: "Asked", paused: false, fourEyesAbove: 1500 }
      ])
      expect(asked.stderr).toContain("this is the step's first person. Nothing is changed until another person")
      const same = yield* step("ANA", "four-eyes", "none")
      expect([same.code, same.stderr]).toEqual([4, expect.stringContaining("another person has to take the same step")])
      expect((yield* run(["payouts", "list"], env)).stderr).toMatch(
        /ana asked for four-eyes .* ago: it waits for a second/
      )
      const failed = yield* step("ana", "settle", "posted", "--as", "failed")
      expect([failed.code, failed.stdout]).toEqual([
        0,
        expect.stringMatching(/^Asked +SettleFailed by ana: another person/m)
      ])
      expect(failed.stderr).toContain(
        "settle: this is the step's first person. Nothing is changed until another person runs"
      )
      expect((yield* statusOf(client, "posted")).state).toBe("posted")
      expect((yield* step("ana", "settle", "posted", "--as", "failed")).code).toBe(4)
      const done = yield* step("bia", "settle", "posted", "--as", "failed")
      expect([done.code, done.stderr.includes("first person")]).toEqual([0, false])
      expect((yield* statusOf(client, "posted")).state).toBe("failed")
      expect((yield* run(["payouts", "show", "posted"], env)).stdout).toMatch(
        /Asked SettleFailed \(posted\) by ana\n.*Settled \(failed\) by bia/
      )
      const none = yield* step("bia", "four-eyes", "none")
      expect(none.stdout).toMatch(/^Second person +for none$/m)
      const wrong = yield* step("bia", "four-eyes", "much")
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("an amount: 2500 is centavos")])
    }
  )
})

describe("a step that nobody takes", () => {
  live("is refused before anything is read, for every step of payouts and webhooks", function* () {
    const words = { settle: " --as settled", "change-sender": "", "four-eyes": "" } as Readonly<Record<string, string>>
    const steps = [
      ...payoutSteps.map(({ name }) => `payouts ${name} x${words[name] ?? ""}`),
      ...accountSteps.map(({ name }) => `payouts ${name}${name in words ? " 100" : ""}`),
      ...letterSteps.map(({ name }) => `webhooks ${name} x`)
    ]
    for (const step of steps) {
      // Without DATABASE_URL, which is the next thing that each needs.
      const nobody = yield* run([...step.split(" "), "--yes"])
      expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("Missing required flag: --by")])
    }
    for (const by of [" ", "x".repeat(101)]) {
      const blank = yield* run(["payouts", "pause", "--yes"], { EFFECT_PIX_BY: by })
      expect([blank.code, blank.stderr]).toEqual([1, expect.stringContaining("the name of who takes this step")])
    }
    const named = yield* run(["payouts", "pause", "--yes"], { EFFECT_PIX_BY: "ana" })
    expect(named.stderr).toContain("DATABASE_URL is not set")
  })
})

describe("the database of DATABASE_URL", () => {
  live("the error of a wrong database says what is wrong, without its password", function* () {
    const missing = join(yield* folder, "absent.sqlite")
    const text = join(yield* folder, "text.sqlite")
    writeFileSync(text, "This is no database. ".repeat(100))
    const cases = [
      [undefined, 1, "DATABASE_URL is not set"],
      ["mysql://root:hunter2@localhost/x", 1, "names no database that this command knows"],
      ["postgres://me:hunter2@127.0.0.1:1/x", 6, "nobody listens there"],
      ["postgres://me:hunter2@pix.invalid/x", 6, "the host name"],
      [missing, 1, "names a SQLite file that is not there"],
      [`file:${text}`, 1, "cannot be opened as a SQLite database"]
    ] as const
    for (const [url, code, words] of cases) {
      const ended = yield* run(["payouts", "list"], url === undefined ? {} : { DATABASE_URL: url })
      expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, "", expect.stringContaining(words)])
      expect(ended.stderr).not.toContain("hunter2")
    }
    expect(existsSync(missing)).toBe(false)
  })

  live("a limit of 0 is refused: no command says that nothing waits", function* () {
    for (const command of [["payouts", "list"], ["transactions"]]) {
      const { code, stderr } = yield* run([...command, "--limit", "0"])
      expect([code, stderr]).toEqual([1, expect.stringContaining("--limit")])
    }
  })

  live("the SQLite file of another program is not changed", function* () {
    const path = yield* folder
    const filename = join(path, "theirs.sqlite")
    const theirs = new DatabaseSync(filename)
    theirs.exec("CREATE TABLE customers (name TEXT)")
    theirs.close()
    const before = readFileSync(filename)
    for (const command of ["payouts list", "webhooks list"]) {
      const { code, stderr } = yield* run(command.split(" "), { DATABASE_URL: filename })
      expect([code, stderr]).toEqual([1, expect.stringContaining("names another SQLite file")])
    }
    expect(readFileSync(filename).equals(before)).toBe(true)
    expect(readdirSync(path)).toEqual(["theirs.sqlite"])
  })

  live("a SQLite file that a program has open is read, and every step on it is refused", function* () {
    const filename = join(yield* folder, "payments.sqlite")
    const env = { DATABASE_URL: filename, EFFECT_PIX_BY: "ops" }
    yield* Effect.gen(function* () {
      yield* Effect.orDie(fill)
      const queue = yield* PayoutQueue
      const before = readFileSync(filename)
      // The program goes on, and what it has written is read.
      yield* queue.park("accepted")
      const parked = yield* runProcess(["payouts", "list", "--json", "--state", "parked"], env)
      expect(lines(parked.stdout)).toHaveLength(2)
      const { code, stderr, stdout } = yield* runProcess(["payouts", "pause", "--yes"], env)
      expect([code, stdout]).toEqual([1, ""])
      expect(stderr).toContain("is open in another process")
      expect(stderr).toContain("Nothing was changed. For this step stop your program, run the command")
      expect(readFileSync(filename).equals(before)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(asking(NodeSqlite.layer({ filename }))))
    expect((yield* run(["payouts", "pause", "--yes"], env)).code).toBe(0)
  })

  live.skipIf(!hasPty)("the database is changed if a person says yes on a terminal (needs python3)", function* () {
    const filename = join(yield* folder, "payments.sqlite")
    const client = Layer.fresh(NodeSqlite.layer({ filename }))
    yield* Effect.orDie(Effect.provide(fill, asking(client)))
    const env = { DATABASE_URL: filename, EFFECT_PIX_BY: "ops" }
    const no = yield* runOnTerminal(["payouts", "park", "accepted"], [["park accepted?", "n"]], env)
    expect([no.code, no.stdout]).toEqual([2, expect.stringContaining("Nothing was changed.")])
    const yes = yield* runOnTerminal(["payouts", "park", "accepted"], [["park accepted?", "y"]], env)
    expect(yes.code).toBe(0)
    expect((yield* statusOf(client, "accepted")).state).toBe("parked")
  })
})
