/** Submits payouts by the statement of docs/sql/submit.sql, as a program in another language does. */
import { Effect } from "effect"
import { PixKey } from "effect-pix"
import type { PayoutItem } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"

const file = readFileSync(resolve(import.meta.dirname, "../../docs/sql/submit.sql"), "utf8")
const statement = file.replaceAll(/^--.*\n/gm, "").replace(/;\s*$/, "")

const digest = (kind: string, reference: string) =>
  `${kind}_${createHash("sha256").update(`${kind}\n${reference}`).digest("hex").slice(0, 40)}`

/** Returns how many rows were inserted. `seal` makes what is stored of the request; `keyOf` is the reference that the key is made of. */
export const insertPayout = Effect.fnUntraced(function* (
  item: PayoutItem & { readonly account?: string },
  seal: (request: string) => Effect.Effect<string> = Effect.succeed,
  keyOf = item.reference
) {
  const sql = yield* SqlClient.SqlClient
  const { account = "default", by, notBefore, pixKey, reference, ...rest } = item
  const request = { currency: "BRL", ...rest, ...(typeof pixKey === "object" ? PixKey.toPair(pixKey) : { pixKey }) }
  const values: Record<string, unknown> = {
    account,
    key: account === "default" ? digest("payout", keyOf) : digest("payout-account", `${account}/${keyOf}`),
    reference,
    amount: item.amount,
    request: yield* seal(JSON.stringify(request)),
    by: by ?? null,
    not_before: notBefore?.epochMilliseconds ?? null
  }
  const parameters: Array<unknown> = []
  const text = statement.replaceAll(/:(\w+)/g, (_, name: string) => {
    const count = parameters.push(values[name])
    return sql.onDialectOrElse({ pg: () => `$${count}`, orElse: () => "?" })
  })
  return (yield* sql.unsafe(`${text} RETURNING 1`, parameters)).length
})
