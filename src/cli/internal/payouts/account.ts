/** The account of `--account`, for every command of the queue. */
import * as Flag from "effect/cli/Flag"
import * as Context from "effect/Context"
import { badAccountName, defaultAccount, isAccountName } from "../../../payouts/PayoutQueueOptions.ts"

export const GivenAccount = Context.Reference<string>("effect-pix/GivenAccount", { defaultValue: () => defaultAccount })

export const account = Flag.String("account").pipe(
  Flag.withMetavar("name"),
  Flag.filter(
    (name) => isAccountName(name),
    (name) => `The account ${name} ${badAccountName}`
  ),
  Flag.withDescription("Whose payouts, as the option `account` of your program. Default: default"),
  Flag.withDefault(defaultAccount)
)
