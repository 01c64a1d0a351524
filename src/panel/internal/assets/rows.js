/**
 * The lists of the page. Only the open row has its details.
 *
 * @import { SandboxTransaction } from "../../../sandbox/SandboxLedger.ts"
 * @import { SandboxWebhook } from "../../../sandbox/SandboxWebhook.ts"
 * @import { Html } from "./preact.js"
 * @import { About, Listed, Row, Rows } from "./state.js"
 * @import { Inputs, Step } from "./store.js"
 * @import { Word } from "./text.js"
 * @typedef {{ at: string, kind?: string, what: Html, status: Html, who: Html | string, label: Word, acts: ReadonlyArray<Html | false>, details: (about: About) => Html }} Line
 * @typedef {{ target: HTMLInputElement }} Typing
 * @typedef {{ at: string, text: Html | string }} Entry
 */
import { html } from "./preact.js"
import { link, numberOf, seen, state } from "./state.js"
import { act, change, go, pageSize, say } from "./store.js"
import { ago, centavosOf, count, curl, exact, money, nameOf, pretty, withoutPaths, word, wordOf } from "./text.js"

/** @type {Readonly<Record<string, RegExp>>} */
const tones = {
  warn: /^(?:Awaiting|Pending|Processing|4\d\d)$/,
  good: /^(?:Paid|Settled|Taken|[123]\d\d)$/,
  bad: /^(?:Failed|Rejected|GivenUp|0|5\d\d)$/,
  again: /^(?:Refunded|Returned)$/
}
/** @type {(status: string | number, tone?: string) => Html} */
const pill = (status, tone = Object.keys(tones).find((name) => tones[name]?.test(`${status}`))) =>
  html`<span class="pill ${tone ?? ""}">${wordOf(`${status}`)}</span>`

/**
 * A button that does a step. Its label also says about what.
 * @type {<N extends Step>(name: N, input: Inputs[N], label: Word, about?: string, kind?: string) => Html}
 */
export const button = (name, input, label, about = "", kind = "") =>
  html`<button type="button" class=${kind} aria-label="${word(label)}${about && `: ${about}`}"
    onClick=${() => act(name, input)}>${word(label)}</button>`

/** @type {(text: string, about: string, label?: Word) => Html} */
export const copy = (text, about, label = "copy") =>
  html`<button type="button" class="small" aria-label="${word(label)}: ${about}"
    onClick=${() => navigator.clipboard.writeText(text).then(() => say(word("copied")))}>${word(label)}</button>`

/**
 * A text of a block, such as a body.
 * @type {(name: string, text: string, beside?: Html) => Html}
 */
export const block = (name, text, beside) =>
  html`<h3>${name} ${beside}</h3><pre tabindex="0" aria-label=${name}>${pretty(withoutPaths(text))}</pre>`

/**
 * An amount that is typed, and beside it how it is read.
 * @type {(id: string, initial: string, label: string) => Html}
 */
export const amountField = (id, initial, label) => {
  const typed = state.typed[id] ?? initial
  const centavos = centavosOf(typed)
  return html`<label class="hidden" for=${id}>${label}</label>
    <input id=${id} name="amount" inputmode="decimal" autocomplete="off" value=${typed}
      onInput=${(/** @type {Typing} */ { target }) => change(() => (state.typed[id] = target.value))} />
    <output class="note" for=${id}>${centavos === undefined ? "?" : money(centavos)}</output>`
}
/**
 * Does a step with what a form says.
 * @type {<N extends Step>(name: N, fixed?: Partial<Inputs[N]>) => (event: SubmitEvent) => void}
 */
export const submit =
  (name, fixed = {}) =>
  (event) => {
    event.preventDefault()
    /** @type {Record<string, unknown>} */
    const input = { ...fixed }
    // A form has inputs, selects and buttons.
    const { elements } = /** @type {{ elements: Iterable<HTMLInputElement> }} */ (/** @type {unknown} */ (event.target))
    for (const { name, type, value } of elements) {
      if (name === "amount") input["amount"] = centavosOf(value)
      else if (name && value !== "") input[name] = type === "number" ? Number(value) : value
    }
    if ("amount" in input && input["amount"] === undefined) say(word("notMoney"))
    else void act(name, /** @type {any} */ (input)) // the sandbox checks it
  }

/** Names with their values, of which some are copied by a button. */
/** @typedef {readonly [name: string, value: Html | string | undefined, copied?: boolean]} Field */
/** @param {Field} field */
const fieldOf = ([name, value, copied]) =>
  html`<div><dt>${name}</dt><dd><span>${value}</span> ${copied && typeof value === "string" && copy(value, name)}</dd></div>`
/** @param {ReadonlyArray<Field>} all */
const fields = (...all) => html`<dl class="fields">${all.filter(([, value]) => value !== undefined).map(fieldOf)}</dl>`

/** @param {string} text */
const idOf = (text) => html`<span class="id">${text}</span>`
/** @type {(tab: Listed, open: number, text: string) => Html} */
const linkTo = (tab, open, text) => html`<a href=${link({ tab, open })}>${text}</a>`
/** @param {number} centavos */
const amountOf = (centavos) => html`<strong class="amount">${money(centavos)}</strong>`
/** @param {string} name */
const named = (name) => html`<strong class="name">${name}</strong>`

/**
 * The target of a webhook. The path of a charge's own may be a secret.
 * @param {Pick<SandboxWebhook, "isPostback" | "target">} webhook
 */
const targetOf = ({ isPostback, target }) => (isPostback ? `${new URL(target).origin}/…` : target)

/** The beginning of an answer. */
const answerOf = (given = "") => {
  // A line may break where a field ends.
  const answer = withoutPaths(given).replaceAll(',"', ', "')
  const shown = answer.length > 300 ? `${answer.slice(0, 300)}…` : answer
  return shown && html`<br /><code class="answer">${shown}</code>`
}

/**
 * The attempts to deliver a webhook, and the next one.
 * @type {(webhook: SandboxWebhook) => ReadonlyArray<Entry>}
 */
const deliveries = ({ attempts, id, nextAttemptAt, ...webhook }) => {
  const name = linkTo("webhooks", id, word("webhook", `#${id}`))
  const ended = attempts.map(({ answer, at, error, millis, status = 0 }) => ({
    at,
    text: html`${word("delivery", targetOf(webhook))}: ${name} ${pill(status)} ${error && `${wordOf(error)},`}${" "}
      ${Math.round(millis)} ms ${answerOf(answer)}`
  }))
  if (nextAttemptAt === undefined) return ended
  return [...ended, { at: nextAttemptAt, text: html`${word("next", ago(nextAttemptAt))}: ${name}` }]
}
/**
 * What happened to a charge or a payout: its requests, its states after it was awaited, and the deliveries of its webhooks.
 * @type {(row: { createdAt: string }, made: Word, states: ReadonlyArray<{ status: string, at: string }>, about: About) => ReadonlyArray<Entry>}
 */
const story = ({ createdAt }, made, states, { requests, webhooks }) => [
  ...requests.map(({ answer, arrivedAt, fault, id, idempotencyKey, operation = "", status = 0 }, index) => ({
    at: arrivedAt,
    // An answer that is the same as the one before is not shown again.
    text: html`${wordOf(operation)}: ${linkTo("requests", id, word("request", `#${id}`))} ${pill(status)}${" "}
      ${fault && pill(word("met", nameOf(fault)), "bad")} ${idempotencyKey && html`<br /><code>${idempotencyKey}</code>`}
      ${answer !== requests[index - 1]?.answer && answerOf(answer)}`
  })),
  { at: createdAt, text: word(made) },
  ...states.map(({ at, status }) => ({ at, text: pill(status) })),
  ...webhooks.flatMap(deliveries)
]
const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
/** @param {Entry} entry */
const entryOf = ({ at, text }) =>
  html`<li><time datetime=${at} title=${ago(at)}>${exact(at)}</time><span>${text}</span></li>`
/** @param {ReadonlyArray<Entry>} entries */
const timeline = (entries) =>
  html`<h3>${word("timeline")} <span class="note">${timeZone}</span></h3>
    <ol class="timeline">${entries.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at)).map(entryOf)}</ol>`

/**
 * The code of a charge, and the same one in the size of the screen.
 * @param {SandboxTransaction} charge
 */
const qrOf = ({ qrcode, rowId, transactionId }) => {
  if (qrcode === undefined) return undefined
  const src = `/_sandbox/qrcode.svg?${new URLSearchParams({ transactionId })}`
  const picture = html`<img src=${src} alt=${word("qrOf", rowId)} width="200" height="200" />`
  return html`<div class="qr">${picture}
    <button type="button" popovertarget="qr">${word("enlarge")}</button>
    <div id="qr" popover="auto" class="large">${picture}
      <button type="button" popovertarget="qr" popovertargetaction="hide">${word("close")}</button>
    </div>
  </div>`
}

/** @param {ReadonlyArray<Html | false>} buttons */
const steps = (...buttons) => buttons.some(Boolean) && html`<h3>${word("steps")}</h3><div class="acts">${buttons}</div>`

/**
 * The status that a charge had before its last one.
 * @type {Readonly<Record<string, string>>}
 */
const earlier = { Paid: "Awaiting", Cancelled: "Awaiting", Failed: "Awaiting", Refunded: "Paid" }
/**
 * What an earlier webhook of a charge said: in the words of the gateway that sent the last one.
 * @type {(charge: SandboxTransaction, last: SandboxWebhook | undefined) => Inputs["sendWebhook"]["json"]}
 */
const earlyOf = ({ amount, createdAt, status, transactionId }, last) =>
  last?.eventId !== undefined
    ? { ...Object(last.json), status: status === "Refunded" ? "successful" : "pending" }
    : { event: "transaction.updated", transactionId, amount, updatedAt: createdAt, status: earlier[status] ?? status }

/**
 * Faults of a rehearsal that a person can try: as buttons, for what the charge and its webhooks allow.
 * @type {(charge: SandboxTransaction, about: About) => Html}
 */
const tries = (charge, { webhooks }) => {
  const { rowId, status, transactionId } = charge
  const about = word("charge", rowId)
  const last = webhooks.at(-1)
  const hasTarget = seen().overview.targets.length > 0
  /** @type {<N extends Step>(name: N, input: Inputs[N], label: "payLate" | "deliverTwice" | "outOfOrder") => Html} */
  const tool = (name, input, label) =>
    html`<p>${button(name, input, label, about)} <span class="note">${word(`${label}Note`)}</span></p>`
  const payOther = html`<form class="inline" onSubmit=${submit("markPaid", { transactionId })}>
    ${amountField(`paid-${rowId}`, "1,00", word("otherAmount"))}
    <button aria-label="${word("payOther")}: ${about}">${word("payOther")}</button>
  </form>`
  return html`<h3>${word("tryFaults")}</h3>
    <div class="tries">
      ${/^(?:Awaiting|Cancelled)$/.test(status) && tool("markPaid", { transactionId, late: true }, "payLate")}
      ${status === "Awaiting" && payOther} ${last && tool("resendWebhook", { id: last.id }, "deliverTwice")}
      ${hasTarget && status !== "Awaiting" && tool("sendWebhook", { json: earlyOf(charge, last) }, "outOfOrder")}
      ${!hasTarget && html`<p><a href=${link({ tab: "webhooks" })}>${word("noTarget")}</a></p>`}
    </div>`
}

/**
 * The charge or the payout that a request or a webhook is about.
 * @param {About} about
 */
const aboutOf = ({ charge, payout }) => {
  if (charge !== undefined) return linkTo("transactions", charge, word("charge", `#${charge}`))
  return payout === undefined ? undefined : linkTo("withdrawals", payout, word("payout", `#${payout}`))
}

/**
 * What the line of a row says, by its section, and its details.
 * @type {{ [T in Listed]: (row: Rows[T]) => Line }}
 */
const lines = {
  transactions: (one) => {
    const { amount, customer, expiresAt, idempotencyKey, paid, qrcode, rowId, states, status, transactionId } = one
    const about = word("charge", rowId)
    const input = { transactionId }
    const isOpen = status === "Awaiting"
    return {
      at: one.createdAt,
      what: amountOf(paid ?? amount),
      status: pill(status),
      who: customer.name,
      label: "codeAndDetails",
      acts: [isOpen && button("markPaid", input, "pay", about, "main")],
      details: (related) => html`<div class="code">
          ${qrOf(one)}
          ${fields(
            [word("id"), transactionId, true],
            [word("pixText"), qrcode, true],
            [word("key"), idempotencyKey ?? word("none"), idempotencyKey !== undefined],
            [word("method"), one.paymentMethod],
            [word("paidAmount"), paid === undefined ? undefined : money(paid)],
            [word("email"), customer.email],
            [word("expires"), expiresAt && exact(expiresAt)]
          )}
        </div>
        ${steps(
          isOpen && button("cancel", input, "cancel", about),
          isOpen && button("fail", input, "fail", about),
          status === "Paid" && button("refund", input, "refund", about)
        )}
        ${tries(one, related)} ${timeline(story(one, "created", states, related))}`
    }
  },
  withdrawals: (one) => {
    const { amount, id, idempotencyKey, pixKey, pixKeyType = "PIX", status, updatedAt } = one
    const about = word("payout", id)
    const isOpen = status === "Awaiting" || status === "Processing"
    const states = one.states ?? (status === "Awaiting" ? [] : [{ status, at: updatedAt }])
    return {
      at: one.createdAt,
      what: amountOf(amount),
      status: pill(status),
      who: html`${word("to", pixKeyType)} ${idOf(pixKey)}`,
      label: "details",
      acts: [isOpen && button("settleWithdrawal", { id }, "complete", about, "main")],
      details: (related) => html`${fields(
        [word("id"), `${id}`, true],
        [pixKeyType, pixKey, true],
        [word("key"), idempotencyKey ?? word("none"), idempotencyKey !== undefined],
        [word("description"), one.description],
        [word("reason"), one.reason]
      )}
        ${steps(
          status === "Awaiting" && button("processWithdrawal", { id }, "process", about),
          isOpen && button("rejectWithdrawal", { id }, "reject", about),
          status === "Settled" && button("returnWithdrawal", { id }, "sendBack", about)
        )}
        ${timeline(story(one, "executed", states, related))}`
    }
  },
  requests: (one) => {
    const { answer, arrivedAt, body, fault, headers, id, idempotencyKey, method, operation, path, status = 0 } = one
    return {
      at: arrivedAt,
      kind: [operation ?? method, status, fault && nameOf(fault)].join(" "),
      what: named(operation ?? method),
      status: pill(status),
      who: html`${idOf(`${method} ${path}`)} ${fault && pill(word("met", nameOf(fault)), "bad")}`,
      label: "details",
      acts: [],
      details: (related) => html`<div class="acts">${copy(curl(one), word("request", id), "copyCurl")}</div>
        ${fields([word("about"), aboutOf(related)], [word("key"), idempotencyKey, true])}
        ${answer && block(word("answer"), answer)} ${body && block(word("body"), body)}
        <h3>${word("headers")}</h3>
        ${fields(...Object.entries(headers))}`
    }
  },
  webhooks: (one) => {
    const { attempts, createdAt, id, json, state } = one
    const { event, type } = Object(json)
    const kind = `${event ?? type}`
    return {
      at: createdAt,
      what: named(/^[\w.]{1,60}$/.test(kind) ? kind : "webhook"),
      status: pill(state),
      who: idOf(targetOf(one)),
      label: "details",
      acts: [
        attempts.length > 0 && attempts.at(-1)?.status === undefined && pill(0),
        button("resendWebhook", { id }, "again", word("webhook", id))
      ],
      details: (related) => html`${fields([word("about"), aboutOf(related)])} ${timeline(deliveries(one))}
        ${block(word("body"), JSON.stringify(json))}`
    }
  }
}
/** @type {Readonly<Record<Listed, ReadonlyArray<Word>>>} */
const headings = {
  transactions: ["amount", "status", "payer"],
  withdrawals: ["amount", "status", "pixKey"],
  requests: ["operation", "answer", "path"],
  webhooks: ["event", "status", "target"]
}

/**
 * A click anywhere on the line goes where its link goes, but not one on a button, nor the end of a selection.
 * @type {(address: string) => (event: { target: Element }) => void}
 */
const toggle = (address) => (event) => {
  if (event.target.closest("a, button") || getSelection()?.type === "Range") return
  void go(address)
}
/** @param {Line & { number: number, page: number | undefined }} line */
const rowOf = ({ acts, at, details, label, number, page, status, what, who }) => {
  const { list, view } = seen()
  const isOpen = view.open === number
  const address = link(isOpen ? { open: undefined, page } : { open: number, page })
  return html`<li key=${number} id="row-${number}" class="row ${state.changed.has(number) ? "changed" : ""}">
    <div class="line" onClick=${toggle(address)}>
      <a class="number" href=${address} aria-expanded=${`${isOpen}`}
        ><span class="hidden">${word(label)} </span>#${number}</a>
      <time datetime=${at} title=${exact(at)}>${ago(at)}</time>
      ${what}${status}<span class="who">${who}</span><span class="acts">${acts}</span>
    </div>
    ${list.about && isOpen && html`<div class="details">${details(list.about)}</div>`}
  </li>`
}

const narrow = matchMedia("(max-width: 620px)")
/**
 * The rows. Where the screen is narrow, those of one kind are folded behind the newest of them.
 * @type {(tab: Listed, items: ReadonlyArray<Row>, page: number | undefined) => ReadonlyArray<Html>}
 */
const rowsOf = (tab, items, page) => {
  // The items are rows of this section.
  const lineOf = /** @type {(row: Row) => Line} */ (lines[tab])
  const rows = items.map((row) => ({ ...lineOf(row), number: numberOf(row), page }))
  const { open } = seen().view
  /** @type {(row: (typeof rows)[number], other?: (typeof rows)[number]) => boolean} */
  const isAlike = (row, other) =>
    other?.kind !== undefined && row.number !== open && other.number !== open && row.kind === other.kind
  /** @type {Array<typeof rows>} */
  const groups = []
  for (const row of rows) {
    if (isAlike(row, groups.at(-1)?.at(-1))) groups.at(-1)?.push(row)
    else groups.push([row])
  }
  return groups.flatMap((group) => {
    const last = group.at(-1)?.number ?? 0
    const rest = html`<li key="alike-${last}" class="alike">
      <button type="button" aria-expanded="false" onClick=${() => change(() => state.unfolded.add(last))}>
        ${word("alike", count(group.length - 1))}
      </button>
    </li>`
    const isFolded = narrow.matches && group.length > 2 && !state.unfolded.has(last)
    return isFolded ? group.slice(0, 1).map(rowOf).concat(rest) : group.map(rowOf)
  })
}

/** @param {Readonly<Record<string, number>>} counts */
const filters = (counts) => {
  const { status: chosen } = state.view
  /** @type {(status: string | undefined, text: string) => Html} */
  const filter = (status, text) =>
    html`<button type="button" aria-pressed=${`${chosen === status}`}
      onClick=${() => go(link({ status, page: undefined, open: undefined }))}>${text}</button>`
  const all = Object.entries({ ...(chosen && { [chosen]: 0 }), ...counts })
  return html`<div class="statuses" role="group" aria-label=${word("byStatus")}>
    ${filter(undefined, `${word("all")} ${count(Object.values(counts).reduce((sum, one) => sum + one, 0))}`)}
    ${all.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([status, one]) => filter(status, `${wordOf(status)} ${count(one)}`))}
  </div>`
}

/** @type {(page: number, label: Word) => Html} */
const toPage = (page, label) => html`<a href=${link({ page, open: undefined })}>${word(label)}</a>`
/** @param {Word} name */
const heading = (name) => html`<span class=${name === "amount" ? "ends" : ""}>${word(name)}</span>`

/**
 * The filters, the rows and the pages of a section.
 * @param {Listed} tab
 */
export const list = (tab) => {
  const { list, view } = seen()
  const { counts, items, offset, total } = list
  const page = offset / pageSize + 1
  const range = total <= pageSize ? count(items.length) : `${count(offset + 1)}–${count(offset + items.length)}`
  const of = html`<span class="note">${total > 0 && word("of", range, count(total))}</span>`
  const isFiltered = view.search !== "" || view.status !== undefined
  const empty = html`<p class="empty">${word(isFiltered ? "nothing" : `empty_${tab}`)}</p>`
  const rows = html`<ul class="rows" data-rows=${tab}>
    <li class="line head" aria-hidden="true"><span>#</span>${heading("when")}${headings[tab].map(heading)}</li>
    ${rowsOf(tab, items, page > 1 ? page : undefined)}
  </ul>`
  const pages = html`<nav class="pages" aria-label=${word("pages")}>
    ${offset > 0 ? toPage(page - 1, "newer") : html`<span></span>`} ${of}
    ${offset + items.length < total ? toPage(page + 1, "older") : html`<span></span>`}
  </nav>`
  return html`<h2 class="hidden">${word(tab)}</h2>
    <div class="filters">${filters(counts)} ${of}</div>
    ${items.length === 0 ? empty : rows} ${total > pageSize && pages}`
}
