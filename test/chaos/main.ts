/**
 * `npm run chaos` runs payouts and webhooks while processes are killed, at full size. It exits with 1 if a check
 * failed. EFFECT_PIX_SEED chooses the faults and the times.
 */
import { noPostgres } from "../support/postgres.ts"
import { seed } from "../support/seed.ts"
import { killAtRandom, lease, outage, rollBack, speed, takeOver } from "./postgres.ts"
import type { Ledger } from "./processes.ts"
import { restore } from "./restore.ts"
import { killOnSqlite } from "./sqlite.ts"
import { webhooksAtFullSize } from "./webhooks.ts"

let broken = 0
const check = (isSound: boolean, claim: string) => {
  console.log(`  ${isSound ? "ok  " : "FAIL"} ${claim}`)
  if (!isSound) broken += 1
}
const seconds = (millis: number) => `${(millis / 1000).toFixed(1)} s`

const reportViolations = (found: { readonly violations: ReadonlyArray<string>; readonly ledger: Ledger }) => {
  check(
    found.violations.length === 0,
    `each reference is answered, paid at most once, and none refused that was executed (${found.ledger.requests} requests, ${found.ledger.keys.length} payouts)`
  )
  for (const violation of found.violations.slice(0, 10)) console.log(`       ${violation}`)
}

console.log(`seed ${seed}\n\nSQLite: 500 payouts, 15 times kill -9, lost replies, 500s, 429s and refusals between`)
const sqlite = await killOnSqlite({ payouts: 500, kills: 15, faults: 600, seed, life: 3000 })
reportViolations(sqlite)
console.log(`       all done ${seconds(sqlite.took)} after the last start`)

const restoring = async (on: "SQLite" | "PostgreSQL") => {
  console.log(
    `\n${on}: a backup of 500 payouts is restored after they were paid, and the gateway has forgotten its keys`
  )
  const { keys, paidTwice } = await restore({ on, payouts: 500, fresh: 20, isRunbookFollowed: true })
  check(
    paidTwice === 0 && keys.length === 520,
    `nobody is paid twice by the steps of the runbook (${keys.length} payouts)`
  )
}
await restoring("SQLite")

const absent = noPostgres()
if (absent === undefined) {
  console.log("\nPostgreSQL: a transaction that its caller rolls back")
  const undone = await rollBack()
  check(undone.stored + undone.requests === 0, "nothing is stored or sent")

  console.log("\nPostgreSQL: three workers, one killed, one stopped for longer than its lease and continued")
  const taken = await takeOver()
  reportViolations(taken)
  check(
    taken.took <= (lease + 2) * 1000,
    `the third had done all after ${seconds(taken.took)} (lease ${lease} s, at most 2 s more)`
  )

  console.log("\nPostgreSQL: the database away for longer than a lease")
  const away = await outage()
  reportViolations(away)
  console.log(`       all done ${seconds(away.took)} after it was back`)

  console.log("\nPostgreSQL: 500 payouts, three workers, 15 times kill -9, the same faults")
  const killed = await killAtRandom({ payouts: 500, kills: 15, seed })
  reportViolations(killed)
  console.log(`       all done ${seconds(killed.took)} after the last kill`)

  await restoring("PostgreSQL")

  console.log("\nPostgreSQL: one worker, 2000 payouts")
  const fast = await speed(2000)
  reportViolations(fast)
  check(fast.perSecond >= 150, `${fast.perSecond} payouts a second`)
} else console.log(`\nPostgreSQL: skipped, ${absent}`)

console.log("\nWebhooks: 500 orders, 15 times kill -9, lookups that fail, come late and hang up")
if (!(await webhooksAtFullSize())) broken += 1

process.exitCode = broken === 0 ? 0 : 1
