/**
 * Dead letters: rows that the user's code refused until its tries ended. It is not called for one again by itself: a person retries it,
 * or discards it. Each table whose rows are handed out has them: their `state` is `Dead`, and their `due_at` is since when.
 */
import * as Effect from "effect/Effect"
import type * as Metric from "effect/Metric"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Operation } from "../contract/Endpoints.ts"
import { invalidRequest } from "../contract/Options.ts"
import type { InvalidRequest } from "../contract/PaymentsError.ts"
import { gauge, update } from "../internal/metrics.ts"
import { log } from "../internal/spans.ts"
import type { Database } from "./Database.ts"
import type { Due } from "./Due.ts"
import { issuesOfStep, type StepOptions } from "./Step.ts"

const deadLetters = gauge(
  "effect_pix_dead_letters",
  "{letter}",
  "Dead letters: what your code refused until its retries ended, by whose they are"
)

/** The dead letters of a table. */
export interface LettersOptions<Letter> {
  /** What calls the code, as a line begins. */
  readonly name: string
  /** The operation that an `InvalidRequest` names. */
  readonly operation: Operation
  /** What is read of a letter, and what else one has that is tried again, as SQL. */
  readonly columns: Fragment
  readonly revived: Fragment
  /** Ends a letter, as SQL without its condition. */
  readonly discard: Effect.Effect<Fragment>
  /** The attributes of a step in a log line. */
  readonly fields: (letter: Letter, by: string | undefined) => Readonly<Record<string, unknown>>
  /** Why a row waits that is no dead letter, and since when, as SQL. */
  readonly why: Fragment
  readonly since: Fragment
}

export const makeLetters = <Letter extends object>(
  { sql }: Database,
  { dueIn, key, rows, scope }: Pick<Due, "dueIn" | "key" | "rows" | "scope">,
  { columns, discard, fields, name, operation, revived, since, why }: LettersOptions<Letter>
) => {
  // The state is part of the statement's text, so that PostgreSQL finds the rows by the index.
  const isDead = sql`${scope} AND state = 'Dead'`
  const retry = Effect.map(dueIn(0), (isDue) => sql`UPDATE ${rows} SET state = 'Open', ${revived}, ${isDue}`)

  /** Takes a step with a dead letter, and wakes its worker. Returns whether there was such a letter. */
  const takeStep = (step: string, change: Effect.Effect<Fragment>) =>
    Effect.fnUntraced(function* (
      wake: Effect.Effect<void>,
      id: string | number,
      { by }: Pick<StepOptions, "by"> = {}
    ): Effect.fn.Return<boolean, InvalidRequest | SqlError> {
      const issues = issuesOfStep({ by })
      if (issues.length > 0) return yield* invalidRequest(operation, issues)
      const changed = yield* sql<Letter>`${yield* change} WHERE ${isDead} AND ${sql(key)} = ${id} RETURNING ${columns}`
      if (changed.length > 0) yield* sql.afterCommit(wake)
      for (const letter of changed) yield* log("Info", `${name}: ${step} of a dead letter`, fields(letter, by))
      return changed.length > 0
    })

  return {
    /** The dead letters, the oldest first. */
    dead: sql<Letter>`SELECT ${columns} FROM ${rows} WHERE ${isDead} ORDER BY due_at, ${sql(key)}`,
    /** One is tried again at once, with all its tries. */
    retry: takeStep("retry", retry),
    discard: takeStep("discard", discard),
    /** Sets the gauges of what waits, by why where there are reasons, and of the dead letters. Returns how many wait. */
    measure: Effect.fnUntraced(function* (
      gauges: { readonly waiting: Metric.Gauge<number>; readonly oldest: Metric.Gauge<number> },
      /** The attribute that names the webhook or the account. */
      [label, whose]: readonly [string, string],
      /** By the clock of the database. */
      now: number,
      reasons: ReadonlyArray<string | undefined> = [undefined]
    ) {
      const found = yield* sql<Readonly<Record<"why" | "count" | "oldest", string | number>>>`
        SELECT CASE WHEN state = 'Dead' THEN 'Dead' ELSE ${why} END AS "why", COUNT(*) AS "count", MIN(${since}) AS "oldest"
        FROM ${rows} WHERE ${scope} AND state IN ('Open', 'First', 'Dead') GROUP BY 1`
      const of = (word: string) => found.find((row) => row.why === word) ?? { count: 0, oldest: now }
      for (const reason of reasons) {
        const { count, oldest } = of(reason ?? "due")
        yield* update(gauges.waiting, Number(count), { [label]: whose, reason })
        yield* update(gauges.oldest, Math.max(0, now - Number(oldest)) / 1000, { [label]: whose, reason })
      }
      const dead = Number(of("Dead").count)
      yield* update(deadLetters, dead, { of: name, name: whose })
      return found.reduce((sum, { count }) => sum + Number(count), -dead)
    })
  }
}
