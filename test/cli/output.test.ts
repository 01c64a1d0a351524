/** What a command writes, and how it ends where that cannot be written. */
import { describe, expect } from "@effect/vitest"
import { Effect } from "effect"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { main, runLine, start } from "../support/commandProcess.ts"
import { live } from "../support/effect.ts"
import { folder } from "../support/operated.ts"
import { created } from "../support/operations.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { closedPort, json, serveRaw } from "../support/RawServer.ts"

const command = `"${process.execPath}" ${main}`
const charge = ["charge", "25,00", "--name", "Maria", "--email", "maria@example.com", "--reference", "order-42"]

/** Makes so many charges, no two of them at one time. */
const chargeTimes = (count: number) =>
  Sandbox.use(({ advance, charge }) =>
    Effect.replicateEffect(Effect.andThen(charge(5), advance("1 second")), count, { discard: true })
  )

describe.skipIf(!existsSync("/dev/full"))("stdout on a disk that is full", () => {
  live("a full disk under stdout ends a command with 1 and a sentence", function* () {
    for (const words of ["doctor", "sandbox --port 0"]) {
      const { code, stderr } = yield* runLine(`${command} ${words} > /dev/full`, settingsOf(closedPort))
      expect([code, stderr]).toEqual([1, "stdout could not be written (ENOSPC): what it got is incomplete.\n"])
    }
  })

  live("a full disk under stdout ends a charge with 1, and stderr says that it was made", served, function* () {
    const { code, stderr } = yield* runLine(`${command} ${charge.join(" ")} > /dev/full`, yield* settings)
    const says = "stdout could not be written (ENOSPC): what it got is incomplete. It was done all the same:\nCharge "
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)])
    expect(yield* (yield* Sandbox).transactions).toHaveLength(1)
  })
})

describe("stdout that takes a part", () => {
  live.skipIf(process.platform === "win32")(
    "a disk that takes a part of stdout ends an export with 1, also if only its last piece is cut off",
    served,
    function* () {
      yield* chargeTimes(100)
      const file = join(yield* folder, "export.csv")
      // A file may have two blocks, and the export is one piece of more.
      const line = `unset NODE_COMPILE_CACHE; ulimit -f 2; ${command} transactions --csv > "${file}"`
      const { code, stderr } = yield* runLine(line, yield* settings)
      expect([code, stderr]).toEqual([1, "stdout could not be written (EFBIG): what it got is incomplete.\n"])
      expect(readFileSync(file, "utf8")).toMatch(/^\uFEFFid,created_at/)
    }
  )

  live("a charge whose stdout takes no more says on stderr at SIGTERM that it was made", function* () {
    const gateway = yield* serveRaw()
    // More than any pipe holds, so it is never written wholly.
    const { data } = created
    gateway.script(
      json({ ...created, data: { ...data, amount: 2500, pix: { ...data.pix, qrcode: "A".repeat(2_000_000) } } }, 200)
    )
    const stalled = yield* start(charge, settingsOf(gateway.url), { isStalled: true })
    yield* stalled.shown("Charge ")
    stalled.kill("SIGTERM")
    const { code, stderr } = yield* stalled.ended
    expect(code).toBe(130)
    expect(stderr).toContain("Ended before stdout was written. It was done all the same:\nCharge ")
    expect(gateway.arrived).toHaveLength(1)
  })
})

describe("a reader that has exited", () => {
  live("a reader of stdout that has exited does not change the exit code of a charge", served, function* () {
    const made = yield* start(charge, yield* settings, { unread: "stdout" })
    const { code, stderr } = yield* made.ended
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/EPIPE|ECONNRESET|stdout/)
  })

  live("a reader of stdout that has exited ends a list without a message, and ends its requests", served, function* () {
    yield* chargeTimes(3000)
    const line = `{ ${command} transactions --json; echo "code $?" >&2; } | head -n 1`
    const { stderr, stdout } = yield* runLine(line, yield* settings)
    expect([JSON.parse(stdout).id, stderr]).toEqual([3000, "code 0\n"])
    // What fits into the pipe, and a page that is refused.
    expect((yield* (yield* Sandbox).requests).length).toBeLessThan(20)
  })

  live("a reader of stderr that has exited does not change the exit code of a charge", served, function* () {
    const env = yield* settings
    const { fault, transactions } = yield* Sandbox
    yield* fault("createTransaction", Fault.html(200, { executed: true }))
    const unknown = yield* start(charge, env, { unread: "stderr" })
    expect(yield* unknown.ended).toMatchObject({ code: 5 })
    const again = yield* start([...charge, "--again"], env, { unread: "stderr" })
    expect(yield* again.ended).toMatchObject({ code: 0, stdout: expect.stringContaining(": R$ 25,00") })
    expect(yield* transactions).toHaveLength(1)
  })
})

describe("a slow reader", () => {
  live("a slow reader of stdout gets all the data, also if the command then fails", served, function* () {
    yield* chargeTimes(1100)
    const { fault } = yield* Sandbox
    // The rows of ten requests, each of which shows the last rows again.
    yield* fault("listTransactions", [...Array.from({ length: 10 }, () => Fault.none), Fault.refusal(401, "no")])
    const slow = `"${process.execPath}" -e "process.stdin.pipe(process.stdout)"`
    const line = `{ ${command} transactions --json --full; echo "code $?" >&2; } | ${slow}`
    const { stderr, stdout } = yield* runLine(line, yield* settings)
    expect(stderr).toContain("code 4")
    const ids = Array.from(stdout.matchAll(/^{"id":(\d+),.*}$/gm), ([, id]) => Number(id))
    expect(ids).toEqual(Array.from({ length: 900 }, (_, index) => 1100 - index))
  })
})
