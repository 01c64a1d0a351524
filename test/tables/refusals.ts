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

const duplication = ["Idempotency-Key already used"]
const timeOut = ["Tempo esgotado no PSP"]
const before = ["Saque já solicitado"]
const poor = "InsufficientBalance"
const none = { past: "None", policy: "BelowMinimum" } as const
const given = { past: "given" } as const

export const lines: ReadonlyArray<Line> = [
  {
    says: "may have been executed before",
    refusals: [{ isInDoubt: true }, { past: "Unknown" }],
    error: "OutcomeUnknown"
  },
  { says: 'says `"Unknown"`', refusals: [{ policy: "Unknown" }], error: "OutcomeUnknown" },
  { says: "401", refusals: [{ status: 401 }], error: "AuthError" },
  { says: "301, 307 or 308", refusals: [301, 307, 308].map((status) => ({ status })), error: "RequestRejected" },
  {
    says: 'after `earlier: "None"`',
    refusals: [
      { ...none, status: 409 },
      { ...none, texts: duplication },
      { ...none, texts: timeOut }
    ],
    error: "that cause"
  },
  {
    says: "409; or its words are about idempotency",
    refusals: [{ status: 409 }, { texts: duplication }],
    error: "IdempotencyConflict"
  },
  { says: "time ran out behind the service", refusals: [{ texts: timeOut }], error: "OutcomeUnknown" },
  { says: "429", refusals: [{ status: 429 }], error: "RateLimited" },
  { says: "your policy names a cause", refusals: [{ policy: "BelowMinimum" }], error: "that cause" },
  {
    says: "the request was made before",
    refusals: [
      { ...given, texts: before },
      { ...given, status: 422, body: "" }
    ],
    error: "IdempotencyConflict"
  },
  {
    says: "whose body could not be read",
    refusals: [400, 402, 403, 404, 406, 412, 422].map((status) => ({ ...given, status, body: `{"message":"cut` })),
    error: "OutcomeUnknown"
  },
  { says: "403", refusals: [{ status: 403 }], error: "AuthError" },
  {
    says: "a sentence about a cause of a withdrawal",
    refusals: [{ texts: ["Saldo insuficiente"] }, { status: 400, body: "" }, { status: 404, body: "{}" }],
    error: "that cause"
  },
  { says: "any other 4xx", refusals: [{ status: 410 }, { texts: ["Conta bloqueada"] }, {}], error: "RequestRejected" }
]

/** The cause that a refusal names. */
export const causeOf = ({ policy, texts = [] }: Refusal): string =>
  policy ?? (texts.includes("Saldo insuficiente") ? poor : "NoPixKey")
