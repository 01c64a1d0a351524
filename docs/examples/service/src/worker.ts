/** `npm run worker`: sends payouts, and looks up what became of them. Start as many as you need. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Money } from "effect-pix"
import { PayoutQueue } from "effect-pix/payouts"
import { live, seal } from "./live.ts"

const worker = Layer.unwrap(
  Effect.map(seal, (seal) =>
    PayoutQueue.layerWorker({
      seal,
      maxAmount: Money.fromReais("10000.00"),
      dailyCap: Money.fromReais("100000.00"),
      confirm: true,
      // A line of the ledger for each state, in the transaction that hands it out.
      onState: ({ amount, reference, state }, { id }) =>
        SqlClient.SqlClient.use((sql) => sql`INSERT INTO ledger ${sql.insert({ entry: id, reference, state, amount })}`)
    })
  )
)

// On SIGTERM the requests under way are awaited, for ten seconds; what is left is another worker's.
NodeRuntime.runMain(Layer.launch(Layer.provide(worker, live("shop-worker"))))
