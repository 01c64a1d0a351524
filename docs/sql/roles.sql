-- Three roles with the least rights each, for PostgreSQL. Run it as the owner of the tables, after postgresql.sql, and again after
-- a new version: docs/payout-accounts.md#roles-of-the-database says what it does, and what no role can promise.
--
-- A login is a member of what it does: a process with PayoutQueue.layer of the application and the worker, a process with
-- layerClient of the application, the command of the operator. For example:
--   CREATE ROLE shop LOGIN PASSWORD '...' IN ROLE effect_pix_application, effect_pix_worker;

DO $$
DECLARE
  name TEXT;
BEGIN
  FOREACH name IN ARRAY ARRAY['effect_pix_application', 'effect_pix_worker', 'effect_pix_operator'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name) THEN EXECUTE format('CREATE ROLE %I', name); END IF;
  END LOOP;
END $$;

-- A database has the tables of the queue, of the webhook, or both: each part is for the tables that are there.
DO $$
DECLARE
  name TEXT;
BEGIN
  IF to_regclass('effect_pix_payouts') IS NULL AND to_regclass('effect_pix_webhooks') IS NULL THEN
    RAISE undefined_table USING MESSAGE = 'no schema of the search_path has tables of effect-pix: run postgresql.sql first';
  END IF;
  -- All of them read. What an earlier version of this file gave is taken back, within this statement.
  FOREACH name IN ARRAY ARRAY['effect_pix_payouts', 'effect_pix_payout_accounts', 'effect_pix_payout_days',
    'effect_pix_payout_judgements', 'effect_pix_payout_history', 'effect_pix_payout_states', 'effect_pix_payouts_migrations', 'effect_pix_webhooks', 'effect_pix_webhooks_migrations'] LOOP
    IF to_regclass(name) IS NOT NULL THEN
      EXECUTE format('REVOKE ALL ON %I FROM effect_pix_application, effect_pix_worker, effect_pix_operator', name);
      EXECUTE format('GRANT SELECT ON %I TO effect_pix_application, effect_pix_worker, effect_pix_operator', name);
    END IF;
  END LOOP;
  IF to_regclass('effect_pix_webhooks') IS NOT NULL THEN
    -- Deliveries: the application stores them, the worker looks them up, the operator deals with dead letters.
    GRANT INSERT, UPDATE, DELETE ON effect_pix_webhooks TO effect_pix_application, effect_pix_worker;
    GRANT UPDATE, DELETE ON effect_pix_webhooks TO effect_pix_operator;
  END IF;
  IF to_regclass('effect_pix_payouts') IS NULL THEN RETURN; END IF;
  -- All of them add to the history, and none changes it. A trigger below says what each may add.
  GRANT INSERT (account, idempotency_key, entry) ON effect_pix_payout_history
    TO effect_pix_application, effect_pix_worker, effect_pix_operator;
  -- With an entry goes the state that onState is called with. The worker hands it out, and the operator deals with dead letters.
  GRANT INSERT (id, account, idempotency_key, status, written_at) ON effect_pix_payout_states
    TO effect_pix_application, effect_pix_worker, effect_pix_operator;
  GRANT UPDATE, DELETE ON effect_pix_payout_states TO effect_pix_worker, effect_pix_operator;
  -- The application submits, also by submit.sql, and runs sheets. It changes nothing that was submitted: it stores what a
  -- webhook claims. What it inserts was never sent: see the trigger below.
  GRANT INSERT (account, idempotency_key, reference, amount, request, state, submitted_by,
    sends, because, not_before, due_at, wanted_at, waits_since,
    contradicted, may_have_left_at, fingerprint, error, submitted_at, updated_at, version)
    ON effect_pix_payouts TO effect_pix_application;
  GRANT UPDATE (ended_as, lookups, due_at, taken_by, tries, updated_at, version)
    ON effect_pix_payouts TO effect_pix_application;
  -- The worker sends, and deletes what is to be forgotten. The trigger below bounds what it may write.
  GRANT UPDATE ON effect_pix_payouts TO effect_pix_worker;
  GRANT INSERT, UPDATE ON effect_pix_payout_days TO effect_pix_worker;
  GRANT INSERT (account) ON effect_pix_payout_accounts TO effect_pix_worker, effect_pix_operator;
  GRANT UPDATE (served_at, fingerprint, company_id, horizon, paused, paused_at, pause, ends_in_row, next_at,
    set_at, held_at, held_because, refusals, suspects, unknowns, short_of, limited_at,
    daily_cap, max_amount,
    identity, seen_at, lookup_at, moved_at, hands_out)
    ON effect_pix_payout_accounts TO effect_pix_worker;
  -- The operator takes the steps of the command: it alone settles, judges what is parked or refused, and sets limits. It submits nothing.
  GRANT UPDATE (state, due_at, taken_by, tries,
    may_have_left_at, fingerprint, wanted_at, not_before, because, waits_since, counted_day,
    error, digest, request, payee, reason, lookups, ended_as, ended_by, ended_at, contradicted,
    updated_at, version) ON effect_pix_payouts TO effect_pix_operator;
  GRANT UPDATE (spent) ON effect_pix_payout_days TO effect_pix_operator;
  GRANT INSERT, UPDATE ON effect_pix_payout_judgements TO effect_pix_operator;
  GRANT UPDATE (fingerprint, company_id, paused, paused_at, pause, ends_in_row, next_at,
    pace_most, pace_per, window_from, window_to, daily_cap, max_amount) ON effect_pix_payout_accounts TO effect_pix_operator;
END $$;

-- The functions find nothing by the search_path of a login, whose temporary tables would come first: they name the schema of the
-- table that is written. They bind the owner of the tables too, until the owner drops them.

-- What is accepted was never sent, and stays as it is until it is forgotten; and the steps of a person are the operator's.
CREATE OR REPLACE FUNCTION effect_pix_payouts_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state IN ('accepted', 'unknown', 'parked') AND NEW.sends = 0 AND NOT NEW.contradicted THEN RETURN NEW; END IF;
    RAISE insufficient_privilege USING MESSAGE = 'a payout is submitted, and not inserted as sent';
  END IF;
  IF (NEW.account, NEW.idempotency_key) <> (OLD.account, OLD.idempotency_key)
    OR (NEW.amount, NEW.reference) <> (OLD.amount, OLD.reference)
    OR NEW.request IS NOT NULL AND NEW.request IS DISTINCT FROM OLD.request
    OR NEW.submitted_by IS NOT NULL AND NEW.submitted_by IS DISTINCT FROM OLD.submitted_by
  THEN
    RAISE insufficient_privilege USING MESSAGE = 'what was accepted of a payout is not changed';
  END IF;
  IF (NEW.state IN ('accepted', 'unknown') AND OLD.state NOT IN ('accepted', 'unknown')
    OR NEW.state = 'cancelled' AND OLD.state <> 'cancelled'
    OR NEW.state = 'refused' AND OLD.state = 'parked'
    OR NEW.ended_by = 'person' AND (OLD.ended_by IS DISTINCT FROM 'person' OR NEW.state <> OLD.state))
    AND NOT pg_has_role(current_user, 'effect_pix_operator', 'USAGE')
  THEN
    RAISE insufficient_privilege USING MESSAGE = 'only an operator resumes, retries, cancels, judges or settles a payout';
  END IF;
  RETURN NEW;
END $$;

-- The worker stops an account, and stores the first value of its caps. Only the operator starts it again, and changes a cap.
CREATE OR REPLACE FUNCTION effect_pix_payout_accounts_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF OLD.paused AND NOT NEW.paused AND NOT pg_has_role(current_user, 'effect_pix_operator', 'USAGE') THEN
    RAISE insufficient_privilege USING MESSAGE = 'only an operator ends a pause';
  END IF;
  IF (OLD.daily_cap IS NOT NULL AND NEW.daily_cap IS DISTINCT FROM OLD.daily_cap
    OR OLD.max_amount IS NOT NULL AND NEW.max_amount IS DISTINCT FROM OLD.max_amount)
    AND NOT pg_has_role(current_user, 'effect_pix_operator', 'USAGE')
  THEN
    RAISE insufficient_privilege USING MESSAGE = 'only an operator changes a cap';
  END IF;
  RETURN NEW;
END $$;

-- The history is added to: the steps of a person by the operator, what was sent and answered by the worker.
CREATE OR REPLACE FUNCTION effect_pix_payout_history_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  tag TEXT;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF pg_has_role(current_user, 'effect_pix_operator', 'USAGE') THEN RETURN NEW; END IF;
    tag := NEW.entry::jsonb ->> '_tag';
    IF tag = 'Parked' AND NEW.entry::jsonb ->> 'because' <> 'Operator'
        AND (NEW.entry::jsonb -> 'by') IS NULL AND (NEW.entry::jsonb -> 'note') IS NULL
      OR tag IS NULL AND NEW.idempotency_key = 'account' AND pg_has_role(current_user, 'effect_pix_worker', 'USAGE')
        AND (NEW.entry::jsonb -> 'by') IS NULL AND (NEW.entry::jsonb -> 'note') IS NULL AND (NEW.entry::jsonb -> 'fingerprint') IS NULL
      OR tag IN ('Marked', 'Answered', 'LookedUp', 'Contradicted', 'Doubted') AND pg_has_role(current_user, 'effect_pix_worker', 'USAGE')
    THEN
      RETURN NEW;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = 'the entry is not one of this role';
  END IF;
  RAISE insufficient_privilege USING MESSAGE = 'the history is added to, and not changed';
END $$;

DO $$
BEGIN
  IF to_regclass('effect_pix_payouts') IS NULL THEN RETURN; END IF;
  CREATE OR REPLACE TRIGGER effect_pix_payouts_guard BEFORE INSERT OR UPDATE ON effect_pix_payouts
    FOR EACH ROW EXECUTE FUNCTION effect_pix_payouts_guard();
  CREATE OR REPLACE TRIGGER effect_pix_payout_accounts_guard BEFORE UPDATE ON effect_pix_payout_accounts
    FOR EACH ROW EXECUTE FUNCTION effect_pix_payout_accounts_guard();
  CREATE OR REPLACE TRIGGER effect_pix_payout_history_guard BEFORE INSERT OR UPDATE OR DELETE ON effect_pix_payout_history
    FOR EACH ROW EXECUTE FUNCTION effect_pix_payout_history_guard();
END $$;
