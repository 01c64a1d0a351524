/**
 * A mistake that teams make in payment programs, and the same program without it.
 */
import type { Effect } from "effect"
import type { RehearsalReport, RuleName } from "effect-pix/sandbox"

export interface Mistake {
  /** What the program does wrong. */
  readonly name: string
  /** The rule that names it. */
  readonly rule: RuleName
  readonly mistaken: Effect.Effect<RehearsalReport>
  readonly mended: Effect.Effect<RehearsalReport>
}
