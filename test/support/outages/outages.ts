/** Outages of a shop, and by which alert each has to be named. */
import { DateTime, Effect } from "effect"
import { Money, PixKey } from "effect-pix"
import { Fault } from "effect-pix/sandbox"
import { WebhookVerifier } from "effect-pix/webhook"
import { minutes, type Setting, type World } from "./world.ts"

export interface Outage {
  readonly what: string
  readonly setting?: Setting
  readonly begin: (world: World) => Effect.Effect<unknown, unknown>
  /** The alerts that name it rightly; none: it is meant, and nobody is paged. */
  readonly named: ReadonlyArray<string>
  /** What fires too, since it is true as well. Any other alert is a false one. */
  readonly also?: ReadonlyArray<string>
  /** Why no metric has the money of it. */
  readonly unsaid?: string
}

const json = { "content-type": "application/json" }
const refuse = (status: number, message: string) => () =>
  new Response(JSON.stringify({ message, status }), { status, headers: json })
const always = { times: Infinity }

/** A sheet of payouts that are due now. */
const sheet = ({ queue }: World) =>
  Effect.forEach(
    Array.from({ length: 1000 }, (_, n) => n),
    (n) =>
      queue?.submit({
        reference: `sheet/${n}`,
        amount: Money.centavos(1000 + n),
        pixKey: PixKey.email("maria@example.com")
      }) ?? Effect.void,
    { discard: true }
  )

/** Refuses more than so many requests in any minute. */
const limit = (most: number) => {
  let taken: ReadonlyArray<number> = []
  const tooMany = refuse(429, "Too Many Requests")
  return (_request: unknown, now: number) => {
    taken = taken.filter((at) => now - at < minutes(1))
    if (taken.length >= most) return tooMany()
    taken = [...taken, now]
    return undefined
  }
}

const page = (status: number) => () =>
  new Response("<html><body>Service being deployed</body></html>", { status, headers: { "content-type": "text/html" } })

/** What the gateway answers in a deploy of a minute. */
const deploy = (status: number) => (world: World) =>
  Effect.gen(function* () {
    world.gateway = page(status)
    yield* Effect.sleep("1 minute")
    world.gateway = () => undefined
  })

const sync = (change: (world: World) => void) => (world: World) => Effect.sync(() => change(world))
/** What else fires where answers are in doubt. */
const alsoInDoubt = [
  "ChargesFailing",
  "PayoutsDelayed",
  "PayoutsInDoubt",
  "PayoutsNotSent",
  "RetryBudgetSpent",
  "WebhooksWaiting"
]

const late = (world: World) => world.sandbox.fault("any", Fault.latency("20 seconds", { executed: true }), always)

export const outages: Readonly<Record<string, Outage>> = {
  slow20: {
    what: "The gateway answers after 20 s",
    begin: late,
    named: ["GatewaySlow"],
    unsaid: "none: all are paid and handed out, late"
  },
  slow20lim: {
    what: "The gateway answers after 20 s, and an attempt may take 15 s",
    setting: { policy: { attemptTimeout: "15 seconds" } },
    begin: late,
    named: ["CallsEndUnknown", "GatewayFailing", "GatewaySlow"],
    also: alsoInDoubt
  },
  failure201: {
    what: "Each payout is recorded as failed, with 201",
    begin: ({ sandbox }) => sandbox.fault("requestWithdrawal", Fault.failure(), always),
    named: ["PayoutsNotPaid"],
    also: ["PayoutsFailed"]
  },
  rate429: {
    what: "The gateway takes 6 requests a minute",
    begin: sync((world) => {
      world.gateway = limit(6)
    }),
    named: ["RateLimited", "ChargesFailing"],
    also: ["PayoutsDelayed", "PayoutsNotSent", "RetryBudgetSpent", "WebhooksWaiting"]
  },
  daily422: {
    what: "The gateway's limit of the day for payouts",
    begin: ({ sandbox }) => sandbox.fault("requestWithdrawal", Fault.dailyLimit, always),
    named: ["PayoutsDelayed"],
    also: ["PayoutsNotSent"]
  },
  charges422: {
    what: "Each charge is refused",
    begin: ({ sandbox }) =>
      sandbox.fault("createTransaction", Fault.refusal(422, "Conta bloqueada para recebimento."), always),
    named: ["ChargesFailing"]
  },
  nohooks: {
    what: "No webhook arrives",
    begin: sync((world) => {
      world.delivers = false
    }),
    named: ["WebhooksMissing"],
    unsaid: "nobody knows who has paid, until a check asks"
  },
  med: {
    what: "25 paid charges are taken back within two minutes",
    begin: (world) =>
      Effect.forEach(world.paid.slice(0, 25), (id) =>
        Effect.andThen(
          Effect.andThen(world.sandbox.refund(id), world.deliver(id, "Refunded")),
          Effect.sleep("4 seconds")
        )
      ),
    named: ["RefundsRise"]
  },
  revoked: {
    what: "The key of one merchant of five is revoked",
    setting: { merchants: ["m1", "m2", "m3", "m4", "m5"] },
    begin: sync((world) => {
      const unauthorised = refuse(401, "Unauthorized")
      world.gateway = ({ headers }) => (headers["x-client-id"] === "client-of-m3" ? unauthorised() : undefined)
    }),
    named: ["CredentialsRefused"],
    also: ["ChargesFailing", "PayoutsDelayed", "PayoutsNotSent"]
  },
  pool: {
    what: "Other code of the program holds the connections of the database",
    begin: ({ sql }) => sql.withTransaction(Effect.sleep("30 minutes")),
    named: ["DatabaseFailing"],
    also: ["PayoutSignalsAbsent", "WebhookSignalsAbsent", "WebhooksRefused"],
    unsaid: "`submit` fails in your code, which has the amounts"
  },
  clockslow: {
    what: "The clock of the process is 10 minutes slow",
    begin: sync((world) => {
      world.ahead = -minutes(10)
    }),
    named: ["ClockOff"],
    unsaid: "none"
  },
  clockfast: {
    what: "The clock of the process is 10 minutes fast",
    begin: sync((world) => {
      world.ahead = minutes(10)
    }),
    named: ["ClockOff"],
    unsaid: "none"
  },
  diskfull: {
    what: "The disk of the database is full",
    begin: ({ sql }) => sql`PRAGMA max_page_count = 1`,
    named: ["DatabaseFailing"],
    also: ["PayoutsNotSent", "WebhooksRefused"],
    unsaid: "of refused submits: your code has the amounts"
  },
  loop: {
    what: "A process is killed every two minutes",
    begin: ({ restart }) => Effect.forever(Effect.andThen(restart, Effect.sleep("2 minutes"))),
    named: ["ProcessesRestart"],
    unsaid: "none: payouts and deliveries survive"
  },
  paused: {
    what: "A person pauses the payouts",
    begin: ({ queue }) => queue?.setPaused(true, { by: "ana", note: "audit" }) ?? Effect.void,
    named: [],
    also: ["PayoutQueuePaused"]
  },
  cap: {
    what: "The cap of the day is reached",
    setting: { queue: { dailyCap: 60_000, maxAmount: 60_000 } },
    begin: () => Effect.void,
    named: []
  },
  down: {
    what: "The gateway is down",
    begin: ({ sandbox }) => sandbox.fault("any", Fault.refuse, always),
    named: ["GatewayFailing"],
    also: ["ChargesFailing", "PayoutsDelayed", "PayoutsNotSent", "RetryBudgetSpent", "WebhooksWaiting"]
  },
  returned: {
    what: "Payouts come back",
    begin: sync((world) => {
      world.ends = "come back"
    }),
    named: ["PayoutsNotPaid"],
    also: ["PayoutsFailed"]
  },
  deadcode: {
    what: "The code of the shop refuses each payment",
    begin: sync((world) => {
      world.onPaid = Effect.fail("the table orders is gone")
    }),
    named: ["HandlersFailing"],
    also: ["WebhooksWaiting"]
  },
  balance: {
    what: "The balance does not cover the payouts",
    begin: ({ sandbox }) => sandbox.fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"), always),
    named: ["PayoutsDelayed"],
    also: ["PayoutsNotSent"]
  },
  trigger: {
    what: "A trigger refuses the row of one payout",
    begin: ({ sql }) =>
      sql`CREATE TRIGGER refuses BEFORE UPDATE ON effect_pix_payouts WHEN NEW.reference = 'invoice-30' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    named: ["DatabaseRefuses"],
    also: ["PayoutsDelayed", "PayoutsNotSent"]
  },
  unstored: {
    what: "A trigger refuses each answer to a payout",
    begin: ({ sql }) =>
      sql`CREATE TRIGGER refuses BEFORE UPDATE ON effect_pix_payouts WHEN NEW.state = 'posted' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    named: ["DatabaseRefuses"],
    also: ["PayoutsDelayed", "PayoutsInDoubt", "PayoutsNotSent"]
  },
  pages404: {
    what: "The gateway's address answers pages, with 404",
    begin: sync((world) => {
      world.gateway = page(404)
    }),
    named: ["PayoutsDelayed", "ChargesFailing"],
    also: ["PayoutsNotSent", "WebhooksWaiting"]
  },
  words: {
    what: "Each lookup of a charge has a word that nobody listed",
    begin: sync((world) => {
      world.word = "Liquidada"
    }),
    named: ["WebhooksUnconfirmed"],
    unsaid: "the charges that were paid meanwhile: no lookup says so"
  },
  hooks401: {
    what: "Each webhook is refused, since the secret changed on one side",
    begin: sync((world) => {
      world.verifier = Effect.fail(new WebhookVerifier.WebhookRefused({ by: "sharedSecret", reason: "Mismatch" }))
    }),
    named: ["WebhooksRefused"],
    unsaid: "nobody knows who has paid, until a check asks"
  },
  sealkey: {
    what: "The workers have another key of the seal than those who submit",
    begin: sync((world) => {
      world.sealKey = "second"
    }),
    named: ["PayoutsDelayed"],
    also: ["PayoutsNotSent"]
  },
  deploy502: {
    what: "A deploy of the gateway: a minute of 502",
    begin: deploy(502),
    named: [],
    unsaid: "none: all are asked again under their keys"
  },
  deploy404: {
    what: "A deploy of the gateway: a minute of pages with 404",
    begin: deploy(404),
    named: [],
    unsaid: "none: all wait, and are sent then"
  },
  balance201: {
    what: "Each payout is recorded as failed, with 201 and the words of a short balance",
    begin: ({ sandbox }) => sandbox.fault("requestWithdrawal", Fault.failure("Saldo insuficiente"), always),
    named: ["PayoutsDelayed", "PayoutsNotPaid"],
    also: ["PayoutsFailed", "PayoutsNotSent"]
  },
  cuttake: {
    what: "The database cuts each take of payouts",
    begin: ({ sql }) =>
      sql`CREATE TRIGGER cuts BEFORE UPDATE ON effect_pix_payouts WHEN NEW.tries > OLD.tries BEGIN SELECT RAISE(ABORT, 'too slow'); END`,
    named: ["DatabaseRefuses"],
    also: ["PayoutsDelayed", "PayoutsNotSent"]
  },
  backlog: {
    what: "The gateway is down, and 1,000 payouts are due",
    begin: (world) => Effect.andThen(world.sandbox.fault("any", Fault.refuse, always), sheet(world)),
    named: ["GatewayFailing"],
    also: ["ChargesFailing", "PayoutsDelayed", "PayoutsNotSent", "RetryBudgetSpent", "WebhooksWaiting"]
  },
  backlogCut: {
    what: "Each answer is lost, and 1,000 payouts are due",
    begin: (world) => Effect.andThen(world.sandbox.fault("any", Fault.resetAfter, always), sheet(world)),
    named: ["GatewayFailing", "CallsEndUnknown"],
    also: alsoInDoubt
  },
  backlogSealed: {
    what: "The workers have another key of the seal, and 1,000 payouts are due",
    begin: (world) =>
      Effect.suspend(() => {
        world.sealKey = "second"
        return sheet(world)
      }),
    named: ["PayoutsDelayed"],
    also: ["PayoutsNotSent"]
  },
  firewall: {
    what: "A firewall answers each request with a page and 403",
    begin: sync((world) => {
      world.gateway = page(403)
    }),
    named: ["CredentialsRefused", "PayoutsDelayed", "ChargesFailing"],
    also: ["PayoutsNotSent", "WebhooksWaiting"]
  },
  redirect: {
    what: "The gateway's address moves, and answers with 301",
    begin: sync((world) => {
      world.gateway = () => new Response(null, { status: 301, headers: { location: "https://new.example" } })
    }),
    named: ["PayoutsDelayed", "ChargesFailing"],
    also: ["PayoutsNotSent", "WebhooksWaiting", "GatewayFailing"]
  },
  page200: {
    what: "Each request is answered with a page and 200",
    begin: sync((world) => {
      world.gateway = page(200)
    }),
    named: ["CallsEndUnknown", "ChargesFailing", "GatewayFailing"],
    also: ["PayoutsInDoubt", "PayoutsDelayed", "PayoutsNotSent", "RetryBudgetSpent", "WebhooksWaiting"]
  },
  sentence: {
    what: "The gateway refuses each payout with a sentence that nobody knows",
    begin: ({ sandbox }) =>
      sandbox.fault("requestWithdrawal", Fault.refusal(422, "Operação em homologação assistida."), always),
    named: ["PayoutsParked"],
    also: ["PayoutsDelayed", "PayoutsNotSent"]
  },
  books: {
    what: "The books of the shop refuse each state of a payout",
    setting: { books: true },
    begin: sync((world) => {
      world.onState = Effect.fail("the table ledger is gone")
    }),
    named: ["PayoutStatesFailing"],
    also: ["PayoutStatesWaiting"],
    unsaid: "none: sends go on"
  },
  pace: {
    what: "The pace of the account is a payout a minute",
    begin: ({ queue }) => queue?.setLimits({ pace: { most: 1, per: "1 minute" } }, { by: "ana" }) ?? Effect.void,
    named: []
  },
  window: {
    what: "The window of the account closes",
    begin: ({ queue }) => queue?.setLimits({ window: { from: "08:00", to: "20:00" } }, { by: "ana" }) ?? Effect.void,
    named: []
  },
  notbefore: {
    what: "Payouts are to be sent in six hours",
    begin: (world) =>
      Effect.map(DateTime.now, (now) => {
        world.notBefore = DateTime.add(now, { hours: 6 })
      }),
    named: []
  }
}
