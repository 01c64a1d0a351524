/** `effect-pix sandbox`: runs a test gateway on this machine, with its panel. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Schema from "effect/Schema"
import * as Money from "../pix/Money.ts"
import { amountHelp, noAmount, parseAmount } from "./internal/amount.ts"
import { flag, lazily, optional, text } from "./internal/flags.ts"

const Port = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }, { expected: "a port from 0 to 65535" }))

export const sandbox = Command.make(
  "sandbox",
  {
    port: Flag.Int("port").pipe(
      Flag.withAlias("p"),
      Flag.withDescription("The port; 0 takes a free one. Default: 4010"),
      Flag.withSchema(Port),
      Flag.withDefault(4010)
    ),
    host: Flag.String("host").pipe(
      Flag.withDescription(
        "The address to listen on. Everybody who reaches it can steer the sandbox. Default: 127.0.0.1"
      ),
      Flag.withDefault("127.0.0.1")
    ),
    stateFile: text(
      "state",
      "file",
      "Store charges, payouts and settings in this file, for the next start. Default: nothing is stored"
    ),
    webhookUrl: Flag.String("webhook").pipe(
      Flag.withMetavar("url"),
      Flag.withDescription("Send webhooks to this loopback address; may be given again"),
      Flag.atLeast(0)
    ),
    allowHost: Flag.String("allow-host").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription(
        "A host name that requests may name and webhooks may be sent to, as between containers; may be given again"
      ),
      Flag.atLeast(0)
    ),
    webhookSecret: Flag.Redacted("webhook-secret").pipe(
      Flag.withMetavar("text"),
      Flag.withDescription(
        "Send webhooks with this made-up text in the header X-Webhook-Secret. Default: no such header"
      ),
      optional
    ),
    as: Flag.Literals("as", ["documented", "seen"]).pipe(
      Flag.withDescription("Answer as documented, or as the gateway was seen to answer. Default: documented"),
      optional
    ),
    strict: flag("lenient", "Take requests without Accept, Content-Type or currency").pipe(
      Flag.map((lenient) => !lenient)
    ),
    log: flag("log", "Print each request on stderr: method, path and status"),
    balance: Flag.String("balance").pipe(
      Flag.withMetavar("amount"),
      Flag.filterMap(parseAmount, () => noAmount),
      Flag.withDescription(`The balance to start with: ${amountHelp}. Default: 1.000,00`),
      Flag.withDefault(Money.centavos(100_000))
    ),
    json: flag("json", "Print one line of JSON instead of the banner")
  },
  lazily(async () => (await import("./internal/sandbox.ts")).run)
).pipe(
  Command.withDescription('Run the whole gateway on this machine, with a page to press "pay" on'),
  Command.withExamples([
    {
      command: "effect-pix sandbox --balance 50.000,00 --state sandbox.json --webhook http://127.0.0.1:3000/webhooks",
      description: "with a balance, a state file and an address for webhooks"
    }
  ])
)
