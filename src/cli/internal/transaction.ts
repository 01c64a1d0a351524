/** What `effect-pix transaction` does. */
import * as Effect from "effect/Effect"
import { Payments } from "../../client/Payments.ts"
import { detailJson, detailText } from "./detail.ts"
import { writeJson, writeLine } from "./output.ts"
import { untilPaid } from "./wait.ts"

interface Input {
  readonly id: string
  readonly wait: boolean
  readonly full: boolean
  readonly json: boolean
}

export const run = Effect.fnUntraced(function* ({ full, id, json, wait }: Input) {
  if (wait) return yield* untilPaid(id, { json, full })
  const detail = yield* Effect.flatMap(Payments, (payments) => payments.getTransaction(id))
  yield* json ? writeJson(detailJson(detail, full)) : writeLine(detailText(detail, full))
}, Effect.provide(Payments.layerFetch))
