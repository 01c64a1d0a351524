-- Made by `npm run sql`. What the layers of effect-pix do on an empty database, for postgresql.

CREATE TABLE "effect_pix_payouts_migrations" (
  migration_id integer primary key,
  created_at timestamp with time zone not null default now(),
  name text not null
);

INSERT INTO "effect_pix_payouts_migrations" ("migration_id","name") VALUES (1,'create');

CREATE TABLE effect_pix_payouts (
  account VARCHAR(32) NOT NULL DEFAULT 'default',
  idempotency_key VARCHAR(64) NOT NULL CHECK (LENGTH(idempotency_key) <= 64),
  reference TEXT NOT NULL,
  amount BIGINT NOT NULL CHECK (amount BETWEEN 1 AND 9007199254740991),
  request TEXT,
  state VARCHAR(10) NOT NULL DEFAULT 'accepted' CHECK (state IN ('accepted', 'posted', 'paid', 'failed', 'returned', 'refused', 'unknown', 'parked', 'cancelled')),
  due_at BIGINT NOT NULL DEFAULT (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)),
  taken_by VARCHAR(36),
  tries INTEGER NOT NULL DEFAULT 0,
  submitted_by VARCHAR(100),
  sends INTEGER NOT NULL DEFAULT 0,
  may_have_left_at BIGINT,
  fingerprint VARCHAR(40),
  marked_at BIGINT,
  under_way_until BIGINT,
  wanted_at BIGINT NOT NULL DEFAULT (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)),
  because VARCHAR(20),
  waits_since BIGINT,
  counted_day VARCHAR(10),
  not_before BIGINT CHECK (not_before BETWEEN 0 AND 8640000000000000),
  withdrawal_id BIGINT,
  word VARCHAR(40),
  end_to_end_id VARCHAR(64),
  value VARCHAR(60),
  recorded_at BIGINT,
  ended_as VARCHAR(10),
  ended_by VARCHAR(10),
  ended_at BIGINT,
  contradicted BOOLEAN NOT NULL DEFAULT FALSE,
  lookups INTEGER,
  reason TEXT,
  payee TEXT,
  error TEXT,
  digest VARCHAR(64),
  submitted_at BIGINT NOT NULL DEFAULT (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)) CHECK (submitted_at BETWEEN 0 AND 8640000000000000),
  updated_at BIGINT NOT NULL DEFAULT (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)) CHECK (updated_at BETWEEN 0 AND 8640000000000000),
  version INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (account, idempotency_key)
);

CREATE INDEX effect_pix_payouts_submitted ON effect_pix_payouts (account, submitted_at, idempotency_key);

CREATE INDEX effect_pix_payouts_state ON effect_pix_payouts (account, state, submitted_at, idempotency_key);

CREATE INDEX effect_pix_payouts_open ON effect_pix_payouts (account, due_at) WHERE state IN ('accepted', 'unknown');

CREATE INDEX effect_pix_payouts_lookups ON effect_pix_payouts (account, due_at) WHERE lookups IS NOT NULL;

CREATE INDEX effect_pix_payouts_digest ON effect_pix_payouts (account, digest) WHERE digest IS NOT NULL;

CREATE INDEX effect_pix_payouts_posted ON effect_pix_payouts (account, marked_at, amount) WHERE state = 'posted';

CREATE INDEX effect_pix_payouts_withdrawal ON effect_pix_payouts (account, withdrawal_id) WHERE withdrawal_id IS NOT NULL;

CREATE INDEX effect_pix_payouts_check ON effect_pix_payouts (account, submitted_at, idempotency_key) WHERE ((contradicted OR (ended_as IS NOT NULL AND NOT ended_as IS NOT DISTINCT FROM state)) OR (state IN ('posted') AND lookups IS NULL));

CREATE INDEX effect_pix_payouts_amount ON effect_pix_payouts (account, amount, submitted_at);

CREATE INDEX effect_pix_payouts_data ON effect_pix_payouts (account, updated_at) WHERE state IN ('posted', 'paid', 'failed', 'returned', 'refused', 'cancelled') AND request IS NOT NULL;

CREATE TABLE effect_pix_payout_accounts (
  account VARCHAR(32) PRIMARY KEY,
  served_at BIGINT,
  fingerprint VARCHAR(40) UNIQUE,
  company_id BIGINT,
  horizon BIGINT,
  paused BOOLEAN NOT NULL DEFAULT FALSE,
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
  hands_out BOOLEAN NOT NULL DEFAULT FALSE
);

INSERT INTO effect_pix_payout_accounts (account) VALUES ('default');

CREATE TABLE effect_pix_payout_judgements (
  account VARCHAR(32) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  judgement TEXT NOT NULL,
  PRIMARY KEY (account, digest)
);

CREATE TABLE effect_pix_payout_days (
  account VARCHAR(32) NOT NULL,
  day VARCHAR(10) NOT NULL,
  spent BIGINT NOT NULL,
  PRIMARY KEY (account, day)
);

CREATE TABLE effect_pix_payout_history (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account VARCHAR(32) NOT NULL,
  idempotency_key VARCHAR(64) NOT NULL,
  entry TEXT NOT NULL
);

CREATE INDEX effect_pix_payout_history_key ON effect_pix_payout_history (account, idempotency_key, id);

CREATE TABLE effect_pix_payout_states (
  id BIGINT PRIMARY KEY,
  account VARCHAR(32) NOT NULL,
  idempotency_key VARCHAR(64) NOT NULL,
  status TEXT NOT NULL,
  state VARCHAR(10) NOT NULL DEFAULT 'Open' CHECK (state IN ('Open', 'Dead')),
  failures INTEGER NOT NULL DEFAULT 0,
  written_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL DEFAULT (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)),
  taken_by VARCHAR(36),
  tries INTEGER NOT NULL DEFAULT 0
);

CREATE INDEX effect_pix_payout_states_key ON effect_pix_payout_states (account, idempotency_key, id);

CREATE INDEX effect_pix_payout_states_open ON effect_pix_payout_states (account, due_at) WHERE state = 'Open';

CREATE TABLE "effect_pix_webhooks_migrations" (
  migration_id integer primary key,
  created_at timestamp with time zone not null default now(),
  name text not null
);

INSERT INTO "effect_pix_webhooks_migrations" ("migration_id","name") VALUES (1,'create');

CREATE TABLE effect_pix_webhooks (
  webhook VARCHAR(64) NOT NULL,
  name VARCHAR(80) NOT NULL,
  state VARCHAR(10) NOT NULL,
  value TEXT NOT NULL,
  due_at BIGINT NOT NULL DEFAULT (CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)),
  taken_by VARCHAR(36),
  tries INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (webhook, name)
);

CREATE INDEX effect_pix_webhooks_state ON effect_pix_webhooks (webhook, state, due_at);
