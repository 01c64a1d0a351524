/** The first row of the dashboard answers at night: what ended wrongly, what may have, what waits, and what does not arrive. */
import { alerts, type Panel, tile } from "./panel.ts"
import { age, greatest, rise, share, summed } from "./queries.ts"

const calls = "effect_pix_call_duration_seconds_count"

export const now: readonly [title: string, panels: ReadonlyArray<Panel>] = [
  "Now",
  [
    alerts(
      "Alerts that fire",
      "Those of alerts.yml, each with its runbook. Grafana reads them from the Prometheus that evaluates them.",
      "on-call.md",
      []
    ),
    tile(
      "Money that ended wrongly, in 24 hours",
      "Payouts that were refused, that failed, or that came back.",
      "PayoutsNotPaid",
      [
        rise("effect_pix_payout_queue_ends_centavos_total", "state, result", {
          where: 'state=~"refused|failed|returned"',
          range: "24h"
        })
      ],
      { red: 0.01 }
    ),
    tile(
      "Money of calls that failed, in 24 hours",
      "Charges and payouts that were asked for and not executed, or whose outcome is not known. A payout of the queue is asked again.",
      "ChargesFailing",
      [rise("effect_pix_call_failed_centavos_total", "operation, outcome", { range: "24h" })],
      { red: 0.01 }
    ),
    tile(
      "Money that payers got back, in 24 hours",
      "Payments that were refunded, by you or by the payer's bank.",
      "RefundsRise",
      [
        rise("effect_pix_webhook_ends_centavos_total", "", {
          where: 'handler="onRefunded"',
          range: "24h",
          legend: "refunded"
        })
      ],
      { red: 0.01 }
    ),
    tile(
      "Money that your code did not take, in 24 hours",
      "Transactions whose handler failed at its first call. It is called again, for a day.",
      "HandlersFailing",
      [rise("effect_pix_webhook_failed_centavos_total", "handler", { range: "24h" })],
      { red: 0.01 }
    ),
    tile(
      "Money in doubt",
      "The sum of the payouts of which nobody knows whether they were paid. The queue asks again with the same key.",
      "PayoutsInDoubt",
      [summed("effect_pix_payout_queue_centavos", "", { where: 'state="unknown"', legend: "in doubt" })],
      { red: 0.01 }
    ),
    tile(
      "Money that waits for a person",
      "The sum of the parked payouts. Nothing sends them before a person decides.",
      "PayoutsParked",
      [summed("effect_pix_payout_queue_centavos", "", { where: 'state="parked"', legend: "parked" })],
      { red: 0.01 }
    ),
    tile(
      "Money to check",
      "The sum of the payouts whose end a person has to check: something is claimed or contradicted, or no lookup said how they ended.",
      "PayoutsContradicted",
      [summed("effect_pix_payout_queue_to_check_centavos", "", { legend: "to check" })],
      { red: 0.01 }
    ),
    tile(
      "Money that is not sent yet",
      "The sum of the payouts that are accepted and not sent. It was not paid, and is not lost.",
      "PayoutsNotSent",
      [summed("effect_pix_payout_queue_centavos", "", { where: 'state="accepted"', legend: "accepted" })]
    ),
    tile(
      "Paused accounts, now",
      "Accounts whose workers somebody stopped.",
      "PayoutQueuePaused",
      [summed("effect_pix_payout_queue_paused", "", { legend: "paused" })],
      { red: 1 }
    ),
    tile(
      "Charges that fail, in an hour",
      "The share of the charges that could not be made, whatever the cause.",
      "ChargesFailing",
      [share(calls, 'operation="createTransaction"', 'result!="Success"', "1h", "fail")],
      { red: 0.1 }
    ),
    tile(
      "Charges, and payments handed out, in an hour",
      "Charges that were made, and payments that onPaid took. Where the second is 0, webhooks do not arrive or are not confirmed.",
      "WebhooksWaiting",
      [
        rise(calls, "", {
          where: 'operation="createTransaction", outcome="Executed"',
          range: "1h",
          legend: "charges"
        }),
        rise("effect_pix_webhook_handlers_total", "", {
          where: 'handler="onPaid", result="Success"',
          range: "1h",
          legend: "handed out"
        })
      ]
    ),
    tile(
      "Since the last delivery",
      "How long ago the last delivery of a webhook was taken, the oldest.",
      "WebhooksMissing",
      [age("effect_pix_webhook_last_delivery_seconds", "webhook", "webhooks")]
    ),
    tile(
      "Oldest delivery that waits",
      "Since when the oldest delivery waits for a worker, for an answer of the gateway or for your code.",
      "WebhooksWaiting",
      [greatest("effect_pix_webhook_oldest_seconds", "", { where: 'reason=~"due|outage|failed"', legend: "oldest" })],
      { red: 600 }
    ),
    tile(
      "Dead letters",
      "What your code refused until its retries ended: deliveries of webhooks, and states of payouts.",
      "WebhookDeadLetters",
      [
        summed("effect_pix_webhook_dead_letters", "", { legend: "deliveries" }),
        summed("effect_pix_payout_queue_dead_letters", "", { legend: "states" })
      ],
      { red: 1 }
    ),
    tile(
      "Age of the figures",
      "How long ago the queue of payouts and the webhooks were measured, the oldest. While the database is away, the other panels have their last values.",
      "PayoutSignalsAbsent",
      [
        age("effect_pix_payout_queue_measured_seconds", "account", "payouts"),
        age("effect_pix_webhook_measured_seconds", "webhook", "webhooks")
      ],
      { red: 180 }
    )
  ]
]
