/**
 * What the dashboard of docs/operations shows, a line for each panel: its title, what it says, where to read what to do (an alert, whose
 * heading the runbook has, or a heading of the page for on-call) and its queries. `main.ts` makes Grafana's files of it, and
 * `portuguese.ts` has the words of the second one.
 */
import { now } from "./now.ts"
import { areas, bars, lines, type Panel } from "./panel.ts"
import {
  attempts,
  clocks,
  deliveries,
  greatest,
  not,
  rise,
  shareOfAttempts,
  starts,
  summed,
  timeOfAttempts,
  timeOfCalls
} from "./queries.ts"

const calls = "effect_pix_call_duration_seconds_count"

/** The rows of the dashboard. */
export const rows: ReadonlyArray<readonly [title: string, panels: ReadonlyArray<Panel>]> = [
  now,
  [
    "Payouts",
    [
      areas(
        "Money that waits, by state",
        "accepted: no request left. unknown: in doubt. parked: a person decides. posted: its end is not known.",
        "on-call.md#how-much",
        [summed("effect_pix_payout_queue_centavos", "state")]
      ),
      areas(
        "Money that cannot be sent, by cause",
        "No request of the queue moved it. A pause (Paused), a time to be sent at (NotBefore) and the cap of a day (DailyCap) are meant.",
        "PayoutsDelayed",
        [summed("effect_pix_payout_queue_delayed_centavos", "cause")]
      ),
      lines(
        "Payouts that wait, by state",
        "How many they are.",
        "PayoutsNotSent",
        [summed("effect_pix_payout_queue_waiting", "state")],
        { width: 8 }
      ),
      lines(
        "Payouts that cannot be sent, by cause",
        "How many they are.",
        "PayoutsDelayed",
        [summed("effect_pix_payout_queue_delayed", "cause")],
        { width: 8 }
      ),
      lines(
        "Oldest payout that waits, by state",
        "In doubt it pages after 15 minutes, accepted after 10.",
        "PayoutsInDoubt",
        [greatest("effect_pix_payout_queue_oldest_seconds", "state")],
        { width: 8 }
      ),
      bars(
        "Outcomes of payouts",
        "How many payouts came into a state, in each step of the chart. posted: the service recorded it.",
        "PayoutsFailed",
        [rise("effect_pix_payout_queue_changes_total", "state")]
      ),
      bars(
        "Refused and parked payouts, by cause",
        "The last failure of the payouts that were refused or parked. A refusal is final.",
        "PayoutsRefused",
        [
          rise("effect_pix_payout_queue_changes_total", "state, result, error_type", {
            where: 'state=~"refused|parked"'
          })
        ]
      ),
      bars(
        "Ends of payouts, by who said so",
        "Payouts that ended, by their state and who said so: an answer, a lookup or a person.",
        "PayoutsUnconfirmed",
        [rise("effect_pix_payout_queue_ends_total", "state, by, result")]
      ),
      bars("Money of the ends, by who said so", "The sum of these payouts.", "PayoutsFailed", [
        rise("effect_pix_payout_queue_ends_centavos_total", "state, by, result")
      ]),
      lines(
        "Payouts to check, by cause",
        "Payouts whose end a person has to check: a webhook claims that they failed or came back, the gateway contradicts itself, or lookups did not say for as long as confirm looks.",
        "PayoutsClaimedFailed",
        [summed("effect_pix_payout_queue_to_check", "cause")],
        { width: 8 }
      ),
      areas(
        "Money to check, by cause",
        "The sum of these payouts.",
        "PayoutsContradicted",
        [summed("effect_pix_payout_queue_to_check_centavos", "cause")],
        { width: 8 }
      ),
      lines(
        "Accounts whose payouts are not looked up",
        "1: confirming stopped, since the gateway knows none of their numbers.",
        "PayoutsConfirmingStopped",
        [greatest("effect_pix_payout_queue_confirming_stopped", "account")],
        { red: 1, width: 8 }
      ),
      lines(
        "States that wait for onState",
        "States that wait, also behind a dead letter, and dead letters.",
        "PayoutDeadLetters",
        [
          greatest("effect_pix_payout_queue_states", "account"),
          greatest("effect_pix_payout_queue_dead_letters", "account", { legend: "dead letters of {{account}}" })
        ],
        { width: 8 }
      ),
      lines(
        "Oldest state that waits for onState",
        "It is a ticket after half an hour.",
        "PayoutStatesWaiting",
        [greatest("effect_pix_payout_queue_states_oldest_seconds", "account")],
        { red: 1800, width: 8 }
      ),
      bars(
        "Calls of onState, by result",
        "Dead: it is not repeated. Failure: it is.",
        "PayoutStatesWaiting",
        [rise("effect_pix_payout_queue_handlers_total", "account, result, error_type")],
        { width: 8 }
      ),
      lines(
        "Paused accounts",
        "1 while somebody stops the workers of an account.",
        "PayoutQueuePaused",
        [greatest("effect_pix_payout_queue_paused", "account")],
        { red: 1 }
      ),
      lines(
        "Accounts without a worker",
        "1 where no worker ever served an account: is its name right?",
        "PayoutsNotSent",
        [not(greatest("effect_pix_payout_queue_served", "account"))],
        { red: 1 }
      )
    ]
  ],
  [
    "Calls and attempts",
    [
      bars(
        "Outcomes of calls",
        "How many calls ended, by whether money may have moved. Unknown: it may.",
        "CallsEndUnknown",
        [rise(calls, "operation, outcome")]
      ),
      bars(
        "Failed calls, by cause",
        "The error of a call, and the status or reason of its last attempt.",
        "GatewayFailing",
        [rise(calls, "operation, result, error_type", { where: 'result!="Success"' })]
      ),
      lines(
        "Attempts, by answer",
        "Requests a second. An attempt without an error_type was answered with 2xx; the others are named by their status, or by why there was none.",
        "RateLimited",
        [attempts("server_address, error_type")],
        { width: 8 }
      ),
      lines(
        "Share of attempts that fail",
        "Answers 5xx and attempts without an answer, of all.",
        "GatewayFailing",
        [
          shareOfAttempts(
            "server_address",
            'error_type!="", error_type!="Interrupted", error_type!="Refused", error_type!~"4.."'
          )
        ],
        { red: 0.05, width: 8 }
      ),
      lines(
        "Time of an attempt",
        "The median of all requests. Over 10 seconds for 5 minutes it pages.",
        "GatewaySlow",
        [timeOfAttempts("0.5")],
        { red: 10, width: 8 }
      ),
      bars(
        "Money of failed writes, by cause",
        "Charges and payouts whose call did not succeed, in each step of the chart.",
        "ChargesFailing",
        [rise("effect_pix_call_failed_centavos_total", "operation, outcome, error_type")],
        { width: 8 }
      ),
      lines(
        "Clock of the program",
        "How far the clocks of the processes are ahead of the gateway's and of the database's: the most and the least.",
        "ClockOff",
        clocks,
        { width: 8 }
      ),
      lines(
        "Time of a call",
        "With its attempts and waits: the median, and what 99 of 100 calls take at most.",
        "GatewayFailing",
        [timeOfCalls("0.5", "{{operation}} p50"), timeOfCalls("0.99", "{{operation}} p99")],
        { width: 8 }
      ),
      bars(
        "Refused retries",
        "Retries that the budget refused, since too many attempts failed.",
        "RetryBudgetSpent",
        [rise("effect_pix_retries_refused_total", "operation")],
        { width: 8 }
      ),
      bars(
        "Loads of credentials",
        "New, Same or Failed.",
        "CredentialsRefused",
        [rise("effect_pix_credential_loads_total", "result, error_type")],
        { width: 8 }
      ),
      bars(
        "Answers that do not fit the contract",
        "The field that was left out.",
        "AnswersMisfit",
        [rise("effect_pix_misfits_total", "operation, field")],
        { width: 8 }
      )
    ]
  ],
  [
    "Webhooks",
    [
      lines(
        "Deliveries, by answer",
        "Deliveries a second. Busy and NotFinished are normal where a webhook works inside requests.",
        "WebhooksRefused",
        [deliveries("webhook, http_response_status_code, error_type")]
      ),
      bars(
        "Calls of handlers, by result",
        "Dead: it is not repeated. Failure: it is. A word for paid that you have not listed is not handed to onPaid.",
        "WebhookDeadLetters",
        [
          rise("effect_pix_webhook_handlers_total", "handler, result, error_type"),
          rise("effect_pix_webhook_untold_total", "webhook", { legend: "no webhook told of it" }),
          rise("effect_pix_webhook_unlisted_total", "payments_status", {
            legend: "onPaid was not called for {{payments_status}}"
          })
        ]
      ),
      bars(
        "Payments, by how they ended",
        "Paid, refunded or closed, as a lookup said, in each step of the chart.",
        "RefundsRise",
        [rise("effect_pix_webhook_ends_total", "handler")]
      ),
      bars("Money of payments, by how they ended", "The sum of these payments.", "RefundsRise", [
        rise("effect_pix_webhook_ends_centavos_total", "handler")
      ]),
      lines(
        "Deliveries that wait, by reason",
        "due: for a worker. first: for the first lookup. early: for the service's books. outage: for an answer of the service. failed: for your code.",
        "WebhookFlooded",
        [summed("effect_pix_webhook_waiting", "webhook, reason")],
        { width: 8 }
      ),
      lines(
        "Oldest delivery that waits, by reason",
        "The same reasons.",
        "WebhooksWaiting",
        [greatest("effect_pix_webhook_oldest_seconds", "webhook, reason")],
        { red: 1800, width: 8 }
      ),
      lines(
        "Dead letters, by webhook",
        "Deliveries that wait for a person.",
        "WebhookDeadLetters",
        [summed("effect_pix_webhook_dead_letters", "webhook")],
        { width: 8 }
      )
    ]
  ],
  [
    "Database and processes",
    [
      bars(
        "Failures of the database",
        "Operations of the queue and of webhooks that failed, by cause.",
        "DatabaseFailing",
        [rise("effect_pix_database_failures_total", "error_type")]
      ),
      lines(
        "Starts of processes, in half an hour",
        "How often each process started. A deployment starts each once more.",
        "ProcessesRestart",
        [starts]
      )
    ]
  ]
]
