/** The tables of the service, and what the roles of its processes may do with them. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const createShop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE orders (
    id TEXT PRIMARY KEY,
    total BIGINT NOT NULL,
    share BIGINT NOT NULL,
    customer TEXT NOT NULL,
    seller TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open',
    held TEXT,
    charge TEXT,
    charges INTEGER NOT NULL DEFAULT 0
  )`
  // Each charge that an order has had: an old one may be paid late.
  yield* sql`CREATE TABLE charges (
    id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES orders,
    amount BIGINT NOT NULL,
    status TEXT NOT NULL DEFAULT 'Awaiting',
    sweep_until TEXT NOT NULL
  )`
  yield* sql`CREATE TABLE ledger (entry BIGINT PRIMARY KEY, reference TEXT NOT NULL, state TEXT NOT NULL, amount BIGINT NOT NULL)`
  yield* sql`CREATE TABLE jobs (name TEXT PRIMARY KEY)`
})

/** Roles without a login. Yours are made once: `CREATE ROLE web LOGIN PASSWORD '...' IN ROLE shop_web`. */
export const grants = [
  `DO $$ BEGIN CREATE ROLE shop_web IN ROLE effect_pix_application; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
  `DO $$ BEGIN CREATE ROLE shop_worker IN ROLE effect_pix_worker; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
  "GRANT SELECT, INSERT, UPDATE ON orders, charges, jobs TO shop_web",
  "GRANT SELECT ON ledger TO shop_web",
  "GRANT INSERT ON ledger TO shop_worker"
]
