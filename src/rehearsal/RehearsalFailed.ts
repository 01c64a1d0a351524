/**
 * The error of a test that `Rehearsal.test` made. Its message is the report as text.
 */

import * as Data from "effect/Data"
import { formatReport } from "./internal/format.ts"
import type { RehearsalReport } from "./RehearsalReport.ts"

/** The rehearsal found something, could not decide a schedule, or did not check what it has to. */
export class RehearsalFailed extends Data.TaggedError("RehearsalFailed")<{
  readonly report: RehearsalReport
  /** The rules that have to be checked, and were not. */
  readonly missing: ReadonlyArray<string>
}> {
  override get message(): string {
    return formatReport(this.report, this.missing)
  }
}
