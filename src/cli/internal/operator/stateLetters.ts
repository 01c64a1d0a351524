/** Runs `effect-pix payouts dead-letters`, and finds the dead letters of its steps. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { PayoutLetter } from "../../../payouts/OnState.ts"
import { PayoutQueue } from "../../../payouts/PayoutQueue.ts"
import { inBoth } from "../amount.ts"
import { notRead } from "../database.ts"
import { codes, type Failed, failed } from "../exit.ts"
import { type Columns, type Format, printList } from "../list.ts"
import { hasReader, note } from "../output.ts"
import { ageOf, plain } from "../text.ts"
import { layerReading } from "./queue.ts"

const letters = Effect.flatMap(PayoutQueue, ({ deadLetters }) => Effect.mapError(deadLetters, notRead))

export const noStateLetter = (): Failed =>
  failed("No dead letter of this account has this number. Nothing was changed.", codes.Rejected)

/** The dead letter of a number. */
export const findStateLetter = (id: string) =>
  Effect.flatMap(letters, (found) => {
    const letter = found.find((one) => `${one.id}` === id)
    return letter === undefined ? Effect.fail(noStateLetter()) : Effect.succeed(letter)
  })

/** A dead letter in a line. */
export const lineOf = ({ failures, held, id, status }: PayoutLetter): string => {
  const of = status === undefined ? "" : ` of ${plain(status.reference)} (${inBoth(status.amount)}, ${status.state})`
  return `Dead letter ${id}${of}: onState failed ${failures} times, and ${held} later states of the payout wait for it`
}

const columnsAt = (now: number): Columns<PayoutLetter> => ({
  noun: "dead letters",
  table: {
    ID: [-10, ({ id }) => `${id}`],
    STATE: [10, ({ status }) => status?.state ?? "?"],
    ATTEMPTS: [-8, ({ failures }) => `${failures}`],
    HELD: [-5, ({ held }) => `${held}`],
    "DEAD FOR": [-11, ({ at }) => ageOf(at, now)],
    REFERENCE: [0, ({ status }) => status?.reference ?? "?"]
  },
  csv: {
    id: ({ id }) => id,
    reference: ({ status }) => status?.reference ?? "",
    state: ({ status }) => status?.state ?? "",
    attempts: ({ failures }) => failures,
    held: ({ held }) => held,
    dead_since: ({ at }) => at
  },
  json: ({ status, ...letter }) => ({ ...letter, reference: status?.reference, state: status?.state })
})

export const list = Effect.fnUntraced(function* (format: Format) {
  const found = Stream.unwrap(Effect.map(letters, (all) => Stream.fromIterable(all)))
  const count = yield* printList(found, columnsAt(yield* Clock.currentTimeMillis), format)
  if (hasReader()) yield* note(`${count} dead letter(s)`)
}, Effect.provide(layerReading))
