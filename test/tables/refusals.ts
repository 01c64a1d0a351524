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
  readonly past?: "None" | "Unknown"
  /** Its words name a limit: they count only where nothing speaks of a withdrawal that exists, as `isAboutOne` does. */
  readonly isLimit?: true
  readonly isAboutOne?: true
  /** An attempt of this call may have been executed. */
  readonly isInDoubt?: true
  /** What `GatewayFacts.refusal` says. */
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

const duplication = { texts: ["Idempotency-Key already used"], isAboutOne: true } as const
const limit = { texts: ["Limite diário excedido"], isLimit: true } as const
const timeOut = { texts: ["Tempo esgotado no PSP"] }
const broken = { texts: ["Falha na comunicação com o banco"] }
const own = { status: 422, policy: "BelowMinimum" } as const
const unread = { body: `{"message":"cut` } as const

export const lines: ReadonlyArray<Line> = [
  line("may have been executed before", "OutcomeUnknown", { isInDoubt: true }, { past: "Unknown" }),
  line('says `"Unknown"`', "OutcomeUnknown", { policy: "Unknown" }),
  line("401", "AuthError", { status: 401 }),
  line("301, 307, 308 or 407", "RequestRejected", ...[301, 307, 308, 407].map((status) => ({ status }))),
  line(
    "your policy names a cause",
    "that cause",
    { ...own, status: 409 },
    { ...own, ...limit },
    { ...own, ...limit, status: 429 },
    { ...own, ...duplication },
    { ...own, ...timeOut },
    { ...own, ...broken },
    { ...own, ...unread },
    { ...own, policy: "LimitReached" },
    { ...own, policy: "IdempotencyConflict", isAboutOne: true },
    { ...own, policy: "RequestRejected" }
  ),
  line("409", "IdempotencyConflict", { status: 409 }),
  line("a limit of the account", "LimitReached", limit, { ...limit, status: 429 }),
  line("about idempotency or duplication", "IdempotencyConflict", duplication),
  line("a call behind the service broke", "OutcomeUnknown", timeOut, broken),
  line(
    "could not be read to its end",
    "OutcomeUnknown",
    ...[400, 402, 403, 404, 406, 410, 412, 422].map((status) => ({ ...unread, status }))
  ),
  line("429", "RateLimited", { status: 429 }),
  line("403", "AuthError", { status: 403 }),
  line(
    "a sentence about a cause of a withdrawal",
    "that cause",
    { texts: ["Saldo insuficiente"] },
    { status: 400, body: "" },
    { status: 404, body: "{}" }
  ),
  line("any other 4xx", "RequestRejected", { status: 410 }, { texts: ["Conta encerrada"] }, {})
]

/** The cause that a refusal names. */
export const causeOf = ({ policy, texts = [] }: Refusal): string =>
  policy ?? (texts.includes("Saldo insuficiente") ? "InsufficientBalance" : "NoPixKey")
