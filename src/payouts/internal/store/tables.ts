/**
 * The tables of the payout queue:
 *
 * - `effect_pix_payouts`: a row for each account and reference.
 * - `effect_pix_payout_history`: an entry for each change of a payout, in the order in which they were written; and under the
 *   key `account` one for each change of the account itself. Nothing of it is updated or deleted.
 * - `effect_pix_payout_accounts`: a row for each account, which all its workers share.
 * - `effect_pix_payout_judgements`: what a person said of a sentence of an account, which the client does not know.
 * - `effect_pix_payout_days`: the sum of an account and a day, for the cap of a day.
 * - `effect_pix_payout_states`: a row for each state that waits for `onState`, with the number of its entry of the history.
 *
 * A migration that was published is never edited.
 */
import { dueColumns } from "../../../durable/Due.ts"
import type { Tables } from "../../../durable/Tables.ts"
import { PayoutState } from "../../PayoutState.ts"
import { isLookedUp, isOpen, isToCheck } from "../machine/conditions.ts"

const states = PayoutState.literals.map((state) => `'${state}'`).join(", ")

/** The states in which nobody has anything to do, as SQL. */
export const ended = "state IN ('posted', 'paid', 'failed', 'returned', 'refused', 'cancelled')"

/** The last time that a `Date` has, in milliseconds: a row with a later one, as in nanoseconds, could not be read. */
export const lastTime = 8_640_000_000_000_000

interface Types {
  readonly now: string
  /** The time that a worker compares with its own: on SQLite that of the program, as `NodeSqlite` defines it. */
  readonly programNow: string
  readonly boolean: string
  readonly no: string
  /** The column `id` of the history, which is in the order of the inserts. */
  readonly id: string
}

const create = (types: Types) => [
  `CREATE TABLE effect_pix_payouts (
  account VARCHAR(32) NOT NULL DEFAULT 'default',
  idempotency_key VARCHAR(64) NOT NULL CHECK (LENGTH(idempotency_key) <= 64),
  reference TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount BETWEEN 1 AND ${Number.MAX_SAFE_INTEGER}),
  request TEXT,
  state VARCHAR(10) NOT NULL DEFAULT 'accepted' CHECK (state IN (${states})),
  ${dueColumns(types.now)},
  submitted_by VARCHAR(100),
  sends INTEGER NOT NULL DEFAULT 0,
  may_have_left_at BIGINT,
  fingerprint VARCHAR(40),
  marked_at BIGINT,
  under_way_until BIGINT,
  wanted_at BIGINT NOT NULL DEFAULT (${types.programNow}),
  because VARCHAR(20),
  waits_since BIGINT,
  counted_day VARCHAR(10),
  not_before BIGINT CHECK (not_before BETWEEN 0 AND ${lastTime}),
  withdrawal_id BIGINT,
  word VARCHAR(40),
  end_to_end_id VARCHAR(64),
  value VARCHAR(60),
  recorded_at BIGINT,
  ended_as VARCHAR(10),
  ended_by VARCHAR(10),
  ended_at BIGINT,
  contradicted ${types.boolean} NOT NULL DEFAULT ${types.no},
  lookups INTEGER,
  reason TEXT,
  payee TEXT,
  error TEXT,
  digest VARCHAR(64),
  submitted_at BIGINT NOT NULL DEFAULT (${types.now}) CHECK (submitted_at BETWEEN 0 AND ${lastTime}),
  updated_at BIGINT NOT NULL DEFAULT (${types.now}) CHECK (updated_at BETWEEN 0 AND ${lastTime}),
  version INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (account, idempotency_key)
)`,
  "CREATE INDEX effect_pix_payouts_submitted ON effect_pix_payouts (account, submitted_at, idempotency_key)",
  "CREATE INDEX effect_pix_payouts_state ON effect_pix_payouts (account, state, submitted_at, idempotency_key)",
  `CREATE INDEX effect_pix_payouts_open ON effect_pix_payouts (account, due_at) WHERE ${isOpen.sql}`,
  `CREATE INDEX effect_pix_payouts_lookups ON effect_pix_payouts (account, due_at) WHERE ${isLookedUp.sql}`,
  "CREATE INDEX effect_pix_payouts_digest ON effect_pix_payouts (account, digest) WHERE digest IS NOT NULL",
  // All that is counted of what is posted: a row leaves it when its end is known.
  "CREATE INDEX effect_pix_payouts_posted ON effect_pix_payouts (account, marked_at, amount) WHERE state = 'posted'",
  "CREATE INDEX effect_pix_payouts_withdrawal ON effect_pix_payouts (account, withdrawal_id) WHERE withdrawal_id IS NOT NULL",
  `CREATE INDEX effect_pix_payouts_check ON effect_pix_payouts (account, submitted_at, idempotency_key) WHERE ${isToCheck.sql}`,
  "CREATE INDEX effect_pix_payouts_amount ON effect_pix_payouts (account, amount, submitted_at)",
  `CREATE INDEX effect_pix_payouts_data ON effect_pix_payouts (account, updated_at) WHERE ${ended} AND request IS NOT NULL`,
  `CREATE TABLE effect_pix_payout_accounts (
  account VARCHAR(32) PRIMARY KEY,
  served_at BIGINT,
  fingerprint VARCHAR(40) UNIQUE,
  company_id BIGINT,
  horizon BIGINT,
  paused ${types.boolean} NOT NULL DEFAULT ${types.no},
  paused_at BIGINT,
  pause TEXT,
  ends_in_row INTEGER NOT NULL DEFAULT 0,
  next_at BIGINT,
  set_at BIGINT,
  held_at BIGINT,
  held_because VARCHAR(30),
  refusals INTEGER NOT NULL DEFAULT 0,
  suspects TEXT,
  unknowns TEXT,
  short_of BIGINT,
  lookup_at BIGINT,
  limited_at BIGINT,
  pace_most INTEGER,
  pace_per BIGINT,
  daily_cap BIGINT,
  max_amount BIGINT,
  window_from INTEGER,
  window_to INTEGER,
  identity VARCHAR(100),
  seen_at BIGINT,
  moved_at BIGINT,
  hands_out ${types.boolean} NOT NULL DEFAULT ${types.no}
)`,
  "INSERT INTO effect_pix_payout_accounts (account) VALUES ('default')",
  `CREATE TABLE effect_pix_payout_judgements (
  account VARCHAR(32) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  judgement TEXT NOT NULL,
  PRIMARY KEY (account, digest)
)`,
  `CREATE TABLE effect_pix_payout_days (
  account VARCHAR(32) NOT NULL,
  day VARCHAR(10) NOT NULL,
  spent BIGINT NOT NULL,
  PRIMARY KEY (account, day)
)`,
  `CREATE TABLE effect_pix_payout_history (
  id ${types.id} PRIMARY KEY,
  account VARCHAR(32) NOT NULL,
  idempotency_key VARCHAR(64) NOT NULL,
  entry TEXT NOT NULL
)`,
  "CREATE INDEX effect_pix_payout_history_key ON effect_pix_payout_history (account, idempotency_key, id)",
  `CREATE TABLE effect_pix_payout_states (
  id BIGINT PRIMARY KEY,
  account VARCHAR(32) NOT NULL,
  idempotency_key VARCHAR(64) NOT NULL,
  status TEXT NOT NULL,
  state VARCHAR(10) NOT NULL DEFAULT 'Open' CHECK (state IN ('Open', 'Dead')),
  failures INTEGER NOT NULL DEFAULT 0,
  written_at BIGINT NOT NULL,
  ${dueColumns(types.now)}
)`,
  "CREATE INDEX effect_pix_payout_states_key ON effect_pix_payout_states (account, idempotency_key, id)",
  "CREATE INDEX effect_pix_payout_states_open ON effect_pix_payout_states (account, due_at) WHERE state = 'Open'"
]

const nowOnPostgres = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

/** The time by which a worker compares, as SQL of each dialect. */
const programNow = {
  pg: nowOnPostgres,
  sqlite: "CAST(unixepoch(CURRENT_TIMESTAMP) * 1000 AS INTEGER)"
} as const

export const tables: Tables = {
  name: "effect_pix_payouts",
  migrations: {
    "0001_create": {
      pg: create({
        now: nowOnPostgres,
        programNow: programNow.pg,
        boolean: "BOOLEAN",
        no: "FALSE",
        id: "BIGINT GENERATED ALWAYS AS IDENTITY"
      }),
      sqlite: create({
        now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        programNow: programNow.sqlite,
        boolean: "INTEGER",
        no: "0",
        id: "INTEGER"
      })
    }
  }
}
