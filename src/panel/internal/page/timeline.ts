/** What happened to a charge or a payout, in order: its requests, its states, and the deliveries of its webhooks. */
import type { SandboxRequest } from "../../../sandbox/SandboxRequest.ts"
import type { SandboxWebhook } from "../../../sandbox/SandboxWebhook.ts"
import { nameOf } from "./faults.ts"
import { type Html, html } from "./html.ts"
import { withoutPaths, type Writer } from "./write.ts"
import { isWord } from "./words.ts"

/** The requests and the webhooks of a charge or a payout, oldest first. */
export interface Happened {
  readonly requests: ReadonlyArray<SandboxRequest>
  readonly webhooks: ReadonlyArray<SandboxWebhook>
}

interface Entry {
  readonly at: string
  readonly text: Html
}

const longest = 300

/** The beginning of an answer. */
const answerOf = (given: string | undefined) => {
  // A line may break where a field ends.
  const answer = withoutPaths(given ?? "").replaceAll(',"', ', "')
  return (
    answer !== "" &&
    html`<code class="answer">${answer.length > longest ? `${answer.slice(0, longest)}…` : answer}</code>`
  )
}

/** The target of a webhook. The path of a charge's own may be a secret. */
export const targetOf = ({ isPostback = false, target }: SandboxWebhook): string =>
  isPostback ? `${new URL(target).origin}/…` : target

/** An answer that is the same as the one before is not shown again. */
const requestEntry = (
  { linkTo, pill, word, wordOf }: Writer,
  request: SandboxRequest,
  before: SandboxRequest | undefined
): Entry => {
  const { answer, arrivedAt, fault, id, idempotencyKey, operation = "", status } = request
  return {
    at: arrivedAt,
    text: html`${isWord(operation) ? wordOf(operation) : operation}:
    ${linkTo("requests", id, word("request", `#${id}`))} ${pill(status ?? 0, toneOf(status))}
    ${fault !== undefined && pill(word("met", nameOf(fault)), "bad")}
    ${idempotencyKey !== undefined && html`<code>${idempotencyKey}</code>`}
    ${answer !== before?.answer && answerOf(answer)}`
  }
}

/** The attempts to deliver a webhook, and the next one. */
export const deliveries = (
  { ago, linkTo, pill, word, wordOf }: Writer,
  webhook: SandboxWebhook
): ReadonlyArray<Entry> => {
  const { attempts, id, nextAttemptAt } = webhook
  const name = linkTo("webhooks", id, word("webhook", `#${id}`))
  const next = nextAttemptAt && { at: nextAttemptAt, text: html`${word("next")}, ${ago(nextAttemptAt)}: ${name}` }
  return [
    ...attempts.map(({ answer, at, error, millis, status }) => ({
      at,
      text: html`${word("delivery", targetOf(webhook))}: ${name} ${pill(status ?? 0, toneOf(status))}
      ${error && `${wordOf(error)},`} ${Math.round(millis)} ms ${answerOf(answer)}`
    })),
    ...(next ? [next] : [])
  ]
}

/** The tone of a status of HTTP, or of no answer. */
export const toneOf = (status = 0): string => (status === 0 || status >= 500 ? "bad" : status >= 400 ? "warn" : "good")

/** The history of a charge or a payout, with its states after it was awaited. `created` says what its creation is called. */
export const story = (
  writer: Writer,
  createdAt: string,
  states: ReadonlyArray<{ readonly status: string; readonly at: string }>,
  created: "created" | "asked",
  { requests, webhooks }: Happened
): ReadonlyArray<Entry> => [
  ...requests.map((request, index) => requestEntry(writer, request, requests[index - 1])),
  { at: createdAt, text: html`${writer.word(created)}` },
  ...states.map(({ at, status }) => ({ at, text: writer.pill(status) })),
  ...webhooks.flatMap((webhook) => deliveries(writer, webhook))
]

/** What happened, in its order. */
export const timeline = ({ ago, exact, view, word }: Writer, entries: ReadonlyArray<Entry>): Html =>
  html`<h3>${word("timeline")} <span class="note">${view.timeZone}</span></h3>
    <ol class="timeline">
      ${entries
        .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
        .map(
          ({ at, text }) =>
            html`<li><time datetime="${at}" title="${ago(at)}">${exact(at)}</time><span>${text}</span></li>`
        )}
    </ol>`
