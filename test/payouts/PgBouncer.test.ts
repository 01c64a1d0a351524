/**
 * A real PgBouncer with transaction pooling, on a socket in its own folder. It is the program of the machine, else the one that
 * `debian.ts` unpacked.
 */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Sandbox } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { clientOf, postgres } from "../support/database.ts"
import { libraries, unpacked } from "../support/debian.ts"
import { live } from "../support/effect.ts"
import { missing } from "../support/missing.ts"
import { gatewayOnce, payout, payouts, startWorker } from "../support/payoutQueue.ts"
import { noPostgres } from "../support/postgres.ts"

const root = unpacked("pgbouncer")
const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", ...(root ? [`${root}/usr/sbin`] : [])]
const binary = folders.map((folder) => join(folder, "pgbouncer")).find((file) => existsSync(file))

/** The reason why a test of PgBouncer cannot run here; `undefined` if it can. */
const noPgBouncer = (): string | undefined => (binary === undefined ? missing("PgBouncer") : undefined)

/** The URL of a pooler of a PostgreSQL, for as long as the scope lasts. */
const pgBouncer = Effect.fnUntraced(function* (postgresUrl: string) {
  if (binary === undefined) return yield* Effect.die(noPgBouncer())
  const [, folder = "", name = ""] = /@([^/]+)\/(\w+)$/.exec(postgresUrl) ?? []
  const isRoot = process.getuid?.() === 0
  const dir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-pgbouncer-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const settings = [
    "[databases]",
    `postgres = host=${decodeURIComponent(folder)} dbname=${name} user=postgres`,
    "[pgbouncer]",
    // The name of the socket ends with the port. The default port of clients is 5432.
    "listen_port = 5432",
    `unix_socket_dir = ${dir}`,
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 4"
  ]
  writeFileSync(join(dir, "pgbouncer.ini"), settings.join("\n"))
  chmodSync(dir, 0o755)
  // PgBouncer refuses root. Any other user works.
  if (isRoot) chownSync(dir, 65_534, 65_534)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(binary, [join(dir, "pgbouncer.ini")], {
        cwd: dir,
        stdio: ["ignore", "ignore", "pipe"],
        env: { PATH: process.env["PATH"], ...(root && { LD_LIBRARY_PATH: libraries(root) }) },
        ...(isRoot && { uid: 65_534, gid: 65_534 })
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGQUIT")
      })
  )
  yield* Effect.callback<void>((resume) => {
    child.stderr.on("data", (lines) => String(lines).includes("process up") && resume(Effect.void))
    child.once("exit", () => resume(Effect.die(new Error("PgBouncer ended before it was ready"))))
  })
  return `postgres://postgres@${encodeURIComponent(dir)}/postgres`
})

live.skipIf((noPostgres() ?? noPgBouncer()) !== undefined)(
  "workers behind PgBouncer pay each payout once where the client prepares no statements",
  gatewayOnce,
  function* () {
    const { url } = yield* postgres
    const pooled = yield* pgBouncer(url)
    const options = { poll: "20 millis", dailyCap: 1_000_000 } as const
    yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [queue] = yield* Effect.replicateEffect(startWorker(options), 2)
      if (queue === undefined) return
      yield* sql.withTransaction(Effect.andThen(queue.submit(payout("undone")), Effect.fail("no"))).pipe(Effect.flip)
      yield* sql.withTransaction(queue.submitMany(payouts(60)))
      yield* Effect.forEach(payouts(60), ({ reference }) => queue.await(reference), { concurrency: "unbounded" })
      assert.strictEqual(yield* Stream.runCount(queue.list({ state: "posted" })), 60)
      assert.lengthOf(yield* (yield* Sandbox).withdrawals, 60)
    }).pipe(Effect.scoped, Effect.provide(clientOf(pooled, { prepare: false })))
  }
)
