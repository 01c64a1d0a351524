/** The declarations of a program under rehearsal, and its deaths at facts and at steps of its database. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Detail, Rehearsal } from "../../internal/rehearsal.ts"
import type { RehearsalDebt, RehearsalFact } from "../RehearsalWorld.ts"
import { CurrentWebhook } from "./outside.ts"
import type { Stage } from "./disturber.ts"
import type { Life } from "./time.ts"

/** The details of a declaration in words. A charge and a payout are named as in the rest of the story. */
const wordsOf = (detail: Detail): string => {
  const words = Object.entries(detail).map(([name, value]) => {
    if (name === "transactionId" && Predicate.isString(value)) return `charge ${value}`
    return name === "reference" ? JSON.stringify(value) : `${name} ${JSON.stringify(value)}`
  })
  return words.length === 0 ? "" : `: ${words.join(", ")}`
}

export const makeDeclarations = ({ disturber, now, story }: Stage) => {
  const facts: Array<RehearsalFact> = []
  const notes: Array<RehearsalFact> = []
  const owed: Array<RehearsalDebt> = []
  let declared = 0
  const steps = { step: 0, "inner step": 0 }
  return {
    facts,
    notes,
    owed,

    /** The declarations of a process. */
    of: (process: number, die: (why: string) => Effect.Effect<never>): Omit<Rehearsal, "receive"> => ({
      // What it declares is an action outside of the program, which is a wait before and after it.
      fact: Effect.fnUntraced(function* (name, detail) {
        yield* Effect.yieldNow
        const number = ++declared
        disturber.add({ kind: "fact", number, name, webhook: yield* CurrentWebhook })
        const death = disturber.at("Death", "fact", number)
        if (death?.isAfter === false) return yield* die(`before fact ${number}`)
        facts.push({ name, detail, at: now(), process })
        story.addOf(process, `fact ${name}${wordsOf(detail)}`, {})
        if (death !== undefined) return yield* die(`after fact ${number}`)
        yield* Effect.yieldNow
      }),
      note: (name, detail) => {
        notes.push({ name, detail, at: now(), process })
        story.addOf(process, `note ${name}${wordsOf(detail)}`)
      },
      owes: (reference, amount) => {
        if (owed.some((debt) => debt.reference === reference)) return
        owed.push({ reference, amount, at: now() })
        story.addOf(process, `owed: ${amount} centavos for ${JSON.stringify(reference)}`)
      }
    }),

    /** The steps of a process's database; the answer is whether it died there. */
    onStep:
      (life: Life, die: (why: string) => unknown) =>
      (kind: "step" | "inner step", name: string, context: Context.Context<never>) => {
        if (life.isDead) return true
        const number = ++steps[kind]
        disturber.add({ kind, number, name, webhook: Context.get(context, CurrentWebhook) })
        if (disturber.at("Death", kind, number) !== undefined) die(name)
        return life.isDead
      }
  }
}
