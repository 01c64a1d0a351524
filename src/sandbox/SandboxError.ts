/**
 * The errors of steering a sandbox. A test that gets one of the first two has a mistake in it.
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

/** The transaction or withdrawal cannot be brought from its state into the one asked for. */
export class SandboxConflict extends legible(
  Schema.TaggedError<SandboxConflict>()("SandboxConflict", {
    subject: Subject,
    id: Schema.Union([Schema.String, Schema.Finite]),
    /** The state that it is in. */
    status: Schema.String,
    /** The state that was asked for. */
    asked: Schema.String
  })
) {
  override get message(): string {
    return `The sandbox's ${this.subject} ${this.id} is ${this.status} and cannot become ${this.asked}.`
  }
}

/** The state file of a sandbox cannot be read or written, is of another kind, or is used by another sandbox. */
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

/** No sandbox of this version answers at an address: `Sandbox.layerRemote` cannot be built, or the server is gone. */
export class SandboxUnreachable extends legible(
  Schema.TaggedError<SandboxUnreachable>()("SandboxUnreachable", {
    url: Schema.String,
    problem: Schema.String
  })
) {
  override get message(): string {
    return `The sandbox at ${this.url} ${this.problem}. Is \`npx --no-install effect-pix sandbox\` running there?`
  }
}
