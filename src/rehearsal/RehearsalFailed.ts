/**
 * The error of a test that `Rehearsal.test` made. Its message is the report as text.
 */

import * as Data from "effect/Data"
import { formatReport } from "./internal/format.ts"
import type { RehearsalReport } from "./RehearsalReport.ts"

/** The rehearsal found something, or could not decide a schedule. */
export class RehearsalFailed extends Data.TaggedError("RehearsalFailed")<{ readonly report: RehearsalReport }> {
  override get message(): string {
    return formatReport(this.report)
  }
}
