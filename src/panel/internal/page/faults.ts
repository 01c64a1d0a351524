/** The section of the faults: a form that plans one, those that are planned, and what concerns the whole sandbox. */
import * as Schema from "effect/Schema"
import { Operation } from "../../../contract/Endpoints.ts"
import type * as Fault from "../../../sandbox/Fault.ts"
import { names, offered } from "./faultForm.ts"
import { type Html, html } from "./html.ts"
import { fromStart } from "./view.ts"
import type { Writer } from "./write.ts"

/** What the form sends. */
export const FaultOrder = Schema.Struct({
  operation: Schema.Union([Operation, Schema.Literal("any")]),
  fault: Schema.Literals(names),
  times: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
  seconds: Schema.optional(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 86_400 }))),
  status: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))),
  message: Schema.optional(Schema.String)
})

/** The fault that the form asks for. */
export const faultOf = (order: typeof FaultOrder.Type): Fault.Fault =>
  offered(order.fault).make({ ...order, seconds: order.seconds ?? 5 })

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

/** A field that is shown for the faults that use it. */
const field = ({ word }: Writer, name: "seconds" | "status" | "message", input: Html) =>
  html`<div data-field="${name}" hidden>
    <label for="${name}">${word(`fault_${name}`)}</label>
    ${input}
  </div>`

/** The page's script shows the fields of the chosen fault alone, and what the client sees. */
const form = (writer: Writer) => {
  const { text, word } = writer
  const option = (name: (typeof names)[number]) => {
    const { fields = {}, label, sees } = offered(name)
    return html`<option value="${name}" data-sees="${text(sees)}" data-fields="${JSON.stringify(fields)}">
      ${name} · ${text(label)}
    </option>`
  }
  return html`<form id="plan" class="card stack" data-send="/panel/fault" data-keep>
    <h2>${word("planFault")}</h2>
    <label for="operation">${word("operation")}</label>
    <select id="operation" name="operation" autocomplete="off">
      ${["any", ...Operation.literals].map((name) => html`<option>${name}</option>`)}
    </select>
    <label for="fault">${word("fault")}</label>
    <select id="fault" name="fault" autocomplete="off">
      ${names.map(option)}
    </select>
    <output id="sees" class="note" for="fault">${text(offered(names[0] ?? "resetAfter").sees)}</output>
    <div class="pair">
      <div>
        <label for="times">${word("times")}</label>
        <input id="times" name="times" type="number" min="1" max="1000000" value="1" required />
      </div>
      ${field(writer, "seconds", html`<input id="seconds" name="seconds" type="number" min="0" max="86400" disabled />`)}
      ${field(writer, "status", html`<input id="status" name="status" type="number" min="200" max="599" disabled />`)}
      ${field(writer, "message", html`<input id="message" name="message" autocomplete="off" disabled />`)}
    </div>
    <button class="main">${word("plan")}</button>
  </form>`
}

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
