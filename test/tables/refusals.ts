/**
 * The lines by which the refusal of a write is read, in the order of the table in `docs/errors.md`: the first one that fits
 * decides. Each line has refusals that fit it and no line above it.
 */
import type { RefusalCause } from "effect-pix"

export interface Refusal {
  readonly status?: number
  /** The texts of the answer, each a member of its own. */
  readonly texts?: ReadonlyArray<string>
  /** The body, where it has no words that can be read. */
  readonly body?: "" | "{}" | `{"message":"cut`
  readonly past?: "given" | "None" | "Unknown"
  /** An attempt of this call may have been executed. */
  readonly isInDoubt?: true
  /** What `PaymentsPolicy.refusal` says. */
  readonly policy?: RefusalCause | "Unknown"
}

interface Line {
  /** What the row of the page says of it. */
  readonly says: string
  readonly refusals: ReadonlyArray<Refusal>
  /** The error that the page names. */
  readonly error: string
}
const line = (says: string, error: string, ...refusals: ReadonlyArray<Refusal>): Line => ({ says, error, refusals })

const duplication = { texts: ["Idempotency-Key already used"] }
const timeOut = { texts: ["Tempo esgotado no PSP"] }
const none = { past: "None", policy: "BelowMinimum" } as const
const given = { past: "given" } as const
const unread = { ...given, body: `{"message":"cut` } as const

export const lines: ReadonlyArray<Line> = [
  line("may have been executed before", "OutcomeUnknown", { isInDoubt: true }, { past: "Unknown" }),
  line('says `"Unknown"`', "OutcomeUnknown", { policy: "Unknown" }),
  line("401", "AuthError", { status: 401 }),
  line("301, 307 or 308", "RequestRejected", { status: 301 }, { status: 307 }, { status: 308 }),
  line(
    'after `earlier: "None"`',
    "that cause",
    { ...none, status: 409 },
    { ...none, ...duplication },
    { ...none, ...timeOut }
  ),
  line("409; or its words are about idempotency", "IdempotencyConflict", { status: 409 }, duplication),
  line("time ran out behind the service", "OutcomeUnknown", timeOut),
  line("429", "RateLimited", { status: 429 }),
  line(
    "your policy names a cause",
    "that cause",
    { policy: "BelowMinimum" },
    { policy: "IdempotencyConflict" },
    { policy: "RequestRejected" }
  ),
  line(
    "the request was made before",
    "IdempotencyConflict",
    { ...given, texts: ["Saque já solicitado"] },
    { ...given, status: 422, body: "" }
  ),
  line(
    "whose body could not be read",
    "OutcomeUnknown",
    ...[400, 402, 403, 404, 406, 412, 422].map((status) => ({ ...unread, status }))
  ),
  line("403", "AuthError", { status: 403 }),
  line(
    "a sentence about a cause of a withdrawal",
    "that cause",
    { texts: ["Saldo insuficiente"] },
    { status: 400, body: "" },
    { status: 404, body: "{}" }
  ),
  line("any other 4xx", "RequestRejected", { status: 410 }, { texts: ["Conta bloqueada"] }, {})
]

/** The cause that a refusal names. */
export const causeOf = ({ policy, texts = [] }: Refusal): string =>
  policy ?? (texts.includes("Saldo insuficiente") ? "InsufficientBalance" : "NoPixKey")
