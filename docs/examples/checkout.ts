import { Context, DateTime, Effect, Layer, Result, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { BrCode, Money, OrderCharge, Payments, PaymentsPolicy, QrCode } from "effect-pix"

interface Order {
  readonly id: string
  readonly total: Money.Centavos
  readonly customer: { readonly name: string; readonly email: string }
  /** The last charge. Its ids stay in it: an old charge may be paid late. */
  charge?: OrderCharge.Stored
  /** What was paid, in centavos. It is not the total if the cart changed after that charge was made. */
  paid?: Money.Centavos
}

/** Stands for your table of orders. The lookup does not give the code back: store it with the order. */
export class Orders extends Context.Service<Orders, ReadonlyMap<string, Order>>()("Orders") {
  static readonly layer = Layer.sync(Orders, () => {
    const customer = { name: "Maria Silva", email: "maria@example.com" }
    return new Map([["42", { id: "42", total: Money.centavos(2500), customer }]])
  })
}

/** Whether a code is undamaged and asks for this amount. One with a URL may leave the amount to it. */
export const mayBeShown = (payload: string, asked: Money.Centavos) => {
  const code = Result.getOrUndefined(BrCode.parse(payload))
  if (code === undefined || code.problems.length > 0) return false
  const amount = BrCode.checkAmount(code, asked)
  return amount === "same" || (amount === "not stated" && code.url !== undefined)
}

/** A person waits: an answer within ten seconds. */
const interactive = PaymentsPolicy.make({
  attemptTimeout: "6 seconds",
  deadline: "10 seconds",
  maxRetryAfter: "2 seconds"
})

/** Charges for an order, or finds that it is paid. Pressing the button twice is one charge, and a changed cart another one. */
const chargeFor = Effect.fn("chargeFor")(function* (order: Order) {
  const last = order.charge
  const answer = yield* OrderCharge.get({
    reference: order.id,
    request: { amount: order.total, paymentMethod: "PIX", customer: order.customer, pix: { expiresInDays: 1 } },
    last
  }).pipe(Effect.provideService(PaymentsPolicy, interactive))
  if (answer._tag === "Paid") {
    order.paid = answer.detail.value
    return
  }
  // The charge exists. But no code is shown that is damaged or for another amount.
  if (!mayBeShown(answer.charge.pix.qrcode, order.total)) return yield* Effect.fail("The code is not sound")
  // In your database: UPDATE ... WHERE the charge is still `last`. Else another tab has stored one: show that.
  if (order.charge === last) order.charge = answer.charge
})

/** Until when the code can be paid, if the service said so. */
const until = ({ pix: { expirationDate } }: OrderCharge.Stored) =>
  expirationDate === undefined
    ? ""
    : `Pay by ${DateTime.format(expirationDate, {
        locale: "pt-BR",
        timeZone: "America/Sao_Paulo",
        dateStyle: "short",
        timeStyle: "short"
      })}, Brasília time.`

/** Everything that goes into HTML as text: the code comes from outside. */
const escape = (text: string) => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const html = (body: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Pay with PIX</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 22rem; margin: 2rem auto; padding: 0 1rem; text-align: center }
  textarea, button { width: 100%; box-sizing: border-box; font: inherit; margin: 0.5rem 0; padding: 0.5rem }
</style>
${body}
</html>`

const startPage = (order: Order) =>
  html(`<h1>${Money.format(order.total)}</h1>
<form method="post"><button>Pay with PIX</button></form>`)

const paidPage = (order: Order, paid: Money.Centavos) =>
  html(`<h1>${Money.format(order.total)}</h1>
<p>${paid === order.total ? "Paid." : `You have paid ${Money.format(paid)}. We will write to you.`} Thank you!</p>`)

const payPage = (order: Order, charge: OrderCharge.Stored) =>
  html(`<h1>${Money.format(order.total)}</h1>
<div id="pay">
  <p>Open your bank's app and scan this:</p>
  <img alt="PIX QR code" width="320" height="320" src="${QrCode.dataUrl(charge.pix.qrcode, { size: 320 })}">
  <p>On this phone? Copy the code, and paste it into your bank's app under <em>PIX copia e cola</em>:</p>
  <textarea id="code" rows="4" readonly>${escape(charge.pix.qrcode)}</textarea>
  <button id="copy">Copy the code</button>
  <p>${until(charge)}</p>
</div>
<p id="status" role="status">Waiting for your payment...</p>
<form method="post" id="again"><button>The code does not work? Look again</button></form>
<script>
  const byId = (id) => document.getElementById(id)
  byId("copy").onclick = async () => {
    await navigator.clipboard.writeText(byId("code").value)
    byId("copy").textContent = "Copied"
  }
  const end = (words) => {
    byId("pay").remove()
    byId("status").textContent = words
  }
  const ask = async () => {
    const status = await fetch(location.pathname + "/status").then((answer) => answer.json()).catch(() => undefined)
    if (status === "Paid") {
      end("Paid. Thank you!")
      byId("again").remove()
    } else if (status === "Cancelled" || status === "Failed") end("This code can no longer be paid.")
    else setTimeout(ask, 3000)
  }
  ask()
</script>`)

const find = Effect.gen(function* () {
  const orders = yield* Orders
  const { id } = yield* HttpRouter.schemaPathParams(Schema.Struct({ id: Schema.String }))
  // Yours to check here: that the order belongs to whoever asks.
  return yield* Effect.fromNullishOr(orders.get(id))
})

const notFound = HttpServerResponse.empty({ status: 404 })

/** The page of an order: a button, or the QR code once there is a charge of its total. */
const show = Effect.map(find, (order) => {
  const { charge, paid, total } = order
  if (paid !== undefined) return HttpServerResponse.html(paidPage(order, paid))
  return HttpServerResponse.html(charge?.amount === total ? payPage(order, charge) : startPage(order))
}).pipe(Effect.orElseSucceed(() => notFound))

const noAnswer = HttpServerResponse.setStatus(
  HttpServerResponse.html(
    html("<p>PIX does not answer. If you have paid, wait a minute; if not, go back and try again.</p>")
  ),
  503
)

/** Both buttons. Whatever went wrong, pressing one again is safe: the key is the same. */
const pay = Effect.matchEffect(find, {
  onFailure: () => Effect.succeed(notFound),
  onSuccess: (order) =>
    chargeFor(order).pipe(
      Effect.as(HttpServerResponse.redirect(`/orders/${encodeURIComponent(order.id)}`, { status: 303 })),
      Effect.tapError((error) => Effect.logError("No charge", error)),
      Effect.orElseSucceed(() => noAnswer)
    )
})

/** What the page asks every three seconds: the service's own word, as `"Awaiting"` or `"Paid"`. */
const status = Effect.gen(function* () {
  const order = yield* find
  const { transactionId } = yield* Effect.fromNullishOr(order.charge)
  const payments = yield* Payments
  const detail = yield* payments.getTransaction(transactionId)
  return HttpServerResponse.jsonUnsafe(detail.enStatusTransaction)
}).pipe(
  Effect.provideService(PaymentsPolicy, interactive),
  // The page goes on asking.
  Effect.orElseSucceed(() => HttpServerResponse.empty({ status: 503 }))
)

/** The routes of the checkout. They need `Payments` and `Orders`. */
export const checkout = HttpRouter.addAll([
  HttpRouter.route("GET", "/orders/:id", show),
  HttpRouter.route("POST", "/orders/:id", pay),
  HttpRouter.route("GET", "/orders/:id/status", status)
])
