/**
 * The sender of an account: the base URL, the client id and the company under which its payouts are sent. The first worker
 * stores it. A worker of another sender does not start, and sends nothing where its credentials change while it runs.
 */
import * as Effect from "effect/Effect"
import { isLoopback } from "../../../internal/loopback.ts"
import { log } from "../../../internal/spans.ts"
import type { Sender } from "../../../internal/sender.ts"
import type { PaymentsClient } from "../../../client/PaymentsClient.ts"
import { settingError } from "../../../contract/ConfigurationError.ts"
import type { Seal } from "../../Seal.ts"
import type { Account } from "../machine/account.ts"
import type { Settings } from "../../PayoutQueueOptions.ts"
import type { Store } from "../store/store.ts"

/** Whether a request under a fingerprint was sent by this sender. Without a fingerprint nothing is compared. */
export const isOf = (sender: Sender, { companyId }: Account, fingerprint: string | null | undefined): boolean =>
  fingerprint === null ||
  fingerprint === undefined ||
  fingerprint === sender.fingerprint(companyId ?? undefined) ||
  // Before the company was known, the secret was a part of it.
  fingerprint === sender.fingerprint()

/** The id of the key of the examples. */
const docsKeyId = "3eb1bd43"

const isSandbox = (baseUrl: string) => {
  const { hostname } = new URL(baseUrl)
  // Nobody has a host under `.example`: in memory a sandbox has one.
  return isLoopback(hostname) || hostname.endsWith(".example")
}

/** Fails where a seal has the key of the documentation, and the worker's client is of no sandbox. */
export const refuseDocsKey = Effect.fnUntraced(function* ({ keyIds = [] }: Seal, client: PaymentsClient["Service"]) {
  if (!keyIds.includes(docsKeyId) || isSandbox((yield* client.sender).baseUrl)) return
  return yield* settingError(
    "seal",
    `has the key ${docsKeyId} of the documentation, which everybody knows: make your own with openssl rand -base64 32`
  )
})

const checkSender = Effect.fnUntraced(function* (
  { accounts }: Store,
  account: string,
  client: PaymentsClient["Service"]
) {
  const sender = yield* client.sender
  const { companyId, fingerprint: stored } = yield* accounts.get
  const fingerprint = sender.fingerprint(companyId ?? undefined)
  if (stored === null) {
    const other = yield* accounts.otherOf(fingerprint)
    if (other !== undefined) {
      return yield* settingError(
        "account",
        `is ${account}, but the worker's credentials are those of the account ${other}: two accounts have two client ids or companies`
      )
    }
    yield* accounts.bind(fingerprint, sender.companyId ?? null)
  }
  const known = stored ?? (yield* accounts.get).fingerprint
  if (known !== fingerprint) {
    // The company of the account may not be that of the changed sender.
    const changed = sender.fingerprint()
    return yield* settingError(
      "account",
      `is ${account}, whose payouts are sent under another client id, base URL or company (fingerprint ${known}) than those of this worker (${changed}). ` +
        "This worker sends nothing. Correct its credentials or the database; or, if the change is meant and no payout is unknown, " +
        `say so once: effect-pix payouts change-sender ${changed} --account ${account}`
    )
  }
})

/** Stores the company of the first recorded withdrawal: then another secret of the same client id changes nothing. */
export const learnCompany = Effect.fnUntraced(function* (
  { accounts }: Store,
  account: string,
  from: string,
  to: string,
  companyId: number
) {
  const learned = yield* accounts.learnCompany(from, to, companyId)
  const other = learned ? undefined : yield* accounts.otherOf(to)
  if (other !== undefined) {
    yield* log("Error", `The accounts ${account} and ${other} are paid by one company.`, {
      "payments.account": account
    })
  }
})

/** Begins to serve an account. Fails with `ConfigurationError`, and has not served, where the account is of another sender. */
export const serve = Effect.fnUntraced(function* (
  store: Store,
  { account, horizon }: Settings,
  client: PaymentsClient["Service"],
  handsOut: boolean
) {
  yield* checkSender(store, account, client)
  yield* store.accounts.serve(horizon, handsOut)
})
