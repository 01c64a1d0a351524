-- Submits a payout from any language and library, in the transaction of your own rows, on PostgreSQL and SQLite. Write each :name as
-- your library writes a parameter: $1, ?, %s. A worker finds the row within its `poll` interval.
--
-- :account     'default', or the option `account` of the workers.
-- :key         'payout_' and the first 40 hexadecimal digits of the SHA-256 of 'payout', a line feed (\n) and the reference, as UTF-8.
--              In another account 'payout-account_' and those of 'payout-account', a line feed, the account, '/' and the reference.
-- :reference   Your name of this payout, for ever: composed Unicode (NFC), no space around it, no characters that nobody can see.
-- :amount      In centavos, at least 1000.
-- :request     What the gateway gets, as JSON:
--              {"amount":2500,"currency":"BRL","pixKey":"maria@example.com","pixKeyType":"EMAIL"}, and `description` or `metadata`.
--              Where the workers have a seal, the text that its `seal` makes of it.
-- :by          Who submits it, at most 100 characters, or NULL.
-- :not_before  Milliseconds since 1970 (UTC) before which it is not sent, or NULL.
--
-- If it inserts no row, the table has the reference, perhaps for another payout: compare amount and request. What is not as this page
-- says is not sent: it is parked as Unreadable, or refused as InvalidRequest or BelowMinimum.
INSERT INTO effect_pix_payouts (account, idempotency_key, reference, amount, request, submitted_by, not_before)
VALUES (:account, :key, :reference, :amount, :request, :by, :not_before)
ON CONFLICT DO NOTHING;
