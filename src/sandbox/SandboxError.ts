/**
 * What steering a sandbox can fail with: a test that steers what is not there has a mistake in it.
 */
import * as Schema from "effect/Schema"
import { legible } from "../internal/legible.ts"

const Subject = Schema.Literals(["transaction", "withdrawal", "webhook"])

/** The sandbox holds no transaction, withdrawal or webhook of this id. */
export class SandboxNotFound extends legible(
  Schema.TaggedError<SandboxNotFound>()("SandboxNotFound", {
    subject: Subject,
    id: Schema.Union([Schema.String, Schema.Finite])
  })
) {
  override get message(): string {
    return `The sandbox holds no ${this.subject} ${this.id}.`
  }
}

/** The transaction or withdrawal is in a state from which it cannot be brought into the one asked for. */
export class SandboxConflict extends legible(
  Schema.TaggedError<SandboxConflict>()("SandboxConflict", {
    subject: Subject,
    id: Schema.Union([Schema.String, Schema.Finite]),
    /** What it is now. */
    status: Schema.String,
    /** What it was to become. */
    asked: Schema.String
  })
) {
  override get message(): string {
    return `The sandbox's ${this.subject} ${this.id} is ${this.status} and cannot become ${this.asked}.`
  }
}

/** The file that a sandbox keeps its state in cannot be read or written, or is no such file. */
export class SandboxStateError extends legible(
  Schema.TaggedError<SandboxStateError>()("SandboxStateError", {
    file: Schema.String,
    problem: Schema.String
  })
) {
  override get message(): string {
    return `The sandbox's state file ${this.file} ${this.problem}.`
  }
}
