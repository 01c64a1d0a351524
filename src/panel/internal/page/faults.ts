/** The section of the faults: a form that plans one, those that are planned, and what concerns the whole sandbox. */
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { Operation } from "../../../contract/Endpoints.ts"
import * as Fault from "../../../sandbox/Fault.ts"
import { html } from "./html.ts"
import { fromStart } from "./view.ts"
import type { Writer } from "./write.ts"

interface Options {
  readonly seconds: number
  readonly status?: number | undefined
  readonly message?: string | undefined
}

/** The faults of the form, by the names of `Fault`. */
const faults = {
  resetAfter: () => Fault.resetAfter,
  resetBefore: () => Fault.resetBefore,
  silence: () => Fault.silence(),
  truncated: () => Fault.truncated,
  latency: ({ seconds }: Options) => Fault.latency(`${seconds} seconds`),
  refusal: ({ message = "Serviço indisponível.", status = 503 }: Options) => Fault.refusal(status, message),
  answer: ({ message, status = 200 }: Options) => Fault.answer(status, { body: message }),
  html: ({ status }: Options) => Fault.html(status),
  empty: ({ status }: Options) => Fault.empty(status),
  retryAfter: ({ seconds, status }: Options) => Fault.retryAfter(`${seconds} seconds`, { status }),
  tooSoon: () => Fault.tooSoon,
  dailyLimit: () => Fault.dailyLimit,
  nightLimit: () => Fault.nightLimit,
  keyLimit: () => Fault.keyLimit,
  blocked: () => Fault.blocked,
  redirect: ({ status }: Options) => Fault.redirect("https://elsewhere.example/", status),
  forgetKey: () => Fault.forgetKey,
  failure: ({ message }: Options) => Fault.failure(message),
  brcode: () => Fault.brcode,
  qrcode: () => Fault.qrcode,
  localTimes: () => Fault.localTimes,
  falseZ: () => Fault.falseZ
}
const names = Record.keys(faults)

/** What the form sends. */
export const FaultOrder = Schema.Struct({
  operation: Schema.Union([Operation, Schema.Literal("any")]),
  fault: Schema.Literals(names),
  times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
  seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })),
  status: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  message: Schema.optional(Schema.String)
})

/** The fault that the form asks for. */
export const faultOf = (order: typeof FaultOrder.Type): Fault.Fault => faults[order.fault](order)

/** The name of a fault. */
export const nameOf = (fault: Fault.Fault): string => {
  const { answer, code, ending, executed, failure, forgetsKey = false, times, wait } = fault
  if (answer !== undefined) return `answer ${answer.status}`
  if (ending === "Reset") return executed ? "resetAfter" : "resetBefore"
  if (ending !== undefined) return { Refused: "refuse", Silence: "silence", Truncated: "truncated" }[ending]
  if (forgetsKey) return "forgetKey"
  if (failure !== undefined) return "failure"
  if (code !== undefined) return code
  if (times !== undefined) return times === "Local" ? "localTimes" : "falseZ"
  return wait === undefined ? "none" : "latency"
}

/** How many more requests meet faults. */
export const leftOf = ({ count, word }: Writer, left: number): string =>
  left === 1 ? word("oneLeft") : word("left", count(left))

const form = ({ word }: Writer) =>
  html`<form id="plan" class="card stack" data-send="/panel/fault">
    <h2>${word("planFault")}</h2>
    <label for="operation">${word("operation")}</label>
    <select id="operation" name="operation">
      ${["any", ...Operation.literals].map((name) => html`<option>${name}</option>`)}
    </select>
    <label for="fault">${word("fault")}</label>
    <select id="fault" name="fault">
      ${names.map((name) => html`<option value="${name}">${name} · ${word(`fault_${name}`)}</option>`)}
    </select>
    <div class="pair">
      <div>
        <label for="times">${word("times")}</label>
        <input id="times" name="times" type="number" min="1" max="1000000" value="1" required />
      </div>
      <div>
        <label for="seconds">${word("seconds")}</label>
        <input id="seconds" name="seconds" type="number" min="0" max="86400" value="5" required />
      </div>
      <div>
        <label for="status">${word("faultStatus")}</label>
        <input id="status" name="status" type="number" min="200" max="599" />
      </div>
      <div>
        <label for="message">${word("faultMessage")}</label>
        <input id="message" name="message" autocomplete="off" />
      </div>
    </div>
    <button class="main">${word("plan")}</button>
  </form>`

/** The section. */
export const faultsPage = (writer: Writer, planned: ReadonlyArray<Fault.PlannedFault>, isOffline: boolean) => {
  const { act, link, word } = writer
  const row = (one: Fault.PlannedFault) => {
    const search = one.operation === "any" ? "" : one.operation
    return html`<li>
      <span><strong>${nameOf(one.fault)}</strong> · ${one.operation}</span>
      <a href="${link({ ...fromStart, tab: "requests", search })}">${leftOf(writer, one.left)}</a>
    </li>`
  }
  return html`<div class="columns">
    ${form(writer)}
    <div class="card stack">
      <h2>${word("planned")}</h2>
      <ul class="plain">
        ${planned.length > 0 ? planned.map(row) : html`<li class="note">${word("noFaults")}</li>`}
      </ul>
      ${act({ name: "clearFaults" }, "clearFaults")}
      <button
        type="button"
        role="switch"
        aria-checked="${String(isOffline)}"
        data-send="/_sandbox/setOffline"
        data-body="${JSON.stringify({ offline: !isOffline })}"
      >
        ${word("offline")}
      </button>
      <p class="note">${word("offlineNote")}</p>
      <h2>${word("startOver")}</h2>
      <div class="acts">
        ${act({ name: "forgetKeys" }, "forgetKeys")}
        <button type="button" class="danger" data-send="/_sandbox/reset" data-confirm="${word("sure")}">
          ${word("reset")}
        </button>
      </div>
    </div>
  </div>`
}
