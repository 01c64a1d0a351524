/**
 * The five operations print no secret and no personal data, whatever the gateway answers. LeakPrograms.test.ts tests
 * the other effects.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { Credentials, IdempotencyKeyGen, Payments, PaymentsPolicy } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { leaks, printedBy } from "../support/canary.ts"
import { inspect } from "node:util"
import { type Answer, echoes, spelled, unhelpful } from "../support/echoes.ts"
import { charge, withPassingTime, marked, type MarkedCall, memory, on, options } from "../support/marked.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"
import { effect, live } from "../support/effect.ts"

const check = Effect.fnUntraced(function* (call: MarkedCall, [how, fault]: Answer, extent?: "whole" | "part") {
  const sandbox = yield* Sandbox
  yield* sandbox.clearFaults
  yield* sandbox.fault(call.operation, fault, { times: Infinity })
  const printed = yield* withPassingTime(printedBy(call.run))
  assert.deepStrictEqual(leaks(printed, extent), [], `${call.operation}, ${how}`)
  return printed
})

const first = marked.filter((call, at) => marked.findIndex(({ operation }) => operation === call.operation) === at)

describe("what an operation prints", () => {
  for (const [turn, call] of marked.entries()) {
    const subject = `${call.operation} (marked call ${turn})`

    effect(`${subject} prints nothing of its request when it succeeds`, memory, function* () {
      const payments = yield* Payments
      const created = yield* payments.createTransaction({ ...charge, paymentMethod: "PIX" })
      const found = { ...call, run: on((service) => service.getTransaction(created.id)) }
      const printed = yield* check(call.operation === "getTransaction" ? found : call, ["success", Fault.none])
      assert.isTrue(Exit.isSuccess(printed.exit))
      assert.strictEqual(printed.spans, 3)
    })

    it.effect(`${subject} prints nothing of its request when the service echoes it`, () =>
      Effect.forEach(echoes(call, turn), (answer) => check(call, answer), { discard: true }).pipe(
        Effect.provide(memory)
      )
    )
  }

  for (const call of first) {
    effect(`${call.operation} prints nothing of its request when it fails`, memory, function* () {
      for (const answer of unhelpful) {
        const printed = yield* check(call, answer)
        // The searched texts are not empty: the error was logged and traced.
        assert.isAtLeast(printed.lines, Exit.isFailure(printed.exit) ? 1 : 0, answer[0])
        assert.isAtLeast(printed.spans, 3, answer[0])
      }
    })
  }

  it.effect("no operation prints a value or a part of one that the service echoes, however it is spelled", () =>
    Effect.forEach(spelled(marked), ([call, answer]) => check(call, answer, "part"), { discard: true }).pipe(
      Effect.provide([memory, PaymentsPolicy.layer(PaymentsPolicy.once)])
    )
  )

  effect(
    "a card charge prints no security code, no last digits and no short name that the service echoes",
    memory,
    function* () {
      const sandbox = yield* Sandbox
      const extra = { card: { number: "5031433215406351", cvv: 987, holder: "ANA LI" } }
      const customer = { name: "Ana Li", email: "ana@example.com" }
      const pay = on((payments) =>
        payments.createTransaction({ amount: charge.amount, paymentMethod: "CREDIT_CARD", customer, extra })
      )
      for (const [message, code] of [
        ["Código 987 inválido", "CVV_987"],
        ["O cartão de final 6351 foi recusado", "987"],
        ["Titular: Ana Li, Li, ANA", "ANA"]
      ]) {
        yield* sandbox.clearFaults
        yield* sandbox.fault("createTransaction", Fault.answer(422, { body: JSON.stringify({ message, code }) }))
        const { exit, texts } = yield* printedBy(pay)
        assert.isTrue(Exit.isFailure(exit))
        assert.include(texts["message"], "[redacted]")
        assert.notMatch(`${texts["message"]}\n${texts["stored"]}`, /987|6351|\bana\b|\bli\b/i, message)
      }
    }
  )
})

describe("what an operation prints beside the words of the service", () => {
  const pay = Effect.flatMap(Payments, (payments) =>
    payments.createTransaction({
      ...charge,
      paymentMethod: "PIX",
      customer: { name: "Ana Boaventura", email: "ana.b@example.com", document: { number: "52998224725", type: "CPF" } }
    })
  )
  const answered = (status: number, body: unknown, headers?: Record<string, string>) =>
    Effect.flip(pay).pipe(
      Effect.provide(paymentsOn(scripted(respond(status, body, headers)).layer)),
      Effect.provideService(PaymentsPolicy, PaymentsPolicy.once),
      Effect.map((error) => inspect(error, { depth: 9 }))
    )

  effect("an operation prints no name of a customer that is in the name of a member of the answer", function* () {
    for (const data of [{ errorBoaventura: "x" }, { fail_boaventura: 1 }, { rejectedANABOAVENTURA: true }]) {
      const printed = yield* answered(200, { data: { id: "7", amount: charge.amount, status: "x", ...data } })
      assert.include(printed, "is missing from the charge")
      assert.notMatch(printed, /boaventura/i)
    }
  })

  effect(
    "an operation prints no id and no status of an answer in which a value of the request is encoded",
    function* () {
      for (const value of ["52998224725", "Ana Boaventura"]) {
        for (const coded of [
          Buffer.from(value).toString("base64url"),
          Buffer.from(value).toString("hex"),
          `id_${Array.from(value).toReversed().join("-")}`
        ]) {
          const printed = yield* answered(200, { data: { id: coded, amount: 1, status: coded } })
          assert.include(printed, "NotAsAsked")
          assert.notInclude(printed, coded)
        }
      }
      assert.notMatch(yield* answered(200, { data: { id: "7", amount: 1, status: "Ana" } }), /\bAna\b/)
    }
  )

  effect("an operation prints no document that the service echoes as the time to wait", function* () {
    for (const status of [429, 503]) {
      assert.notInclude(yield* answered(status, "", { "retry-after": "52998224725" }), "52998224725")
    }
  })
})

const transports: Record<string, Layer.Layer<HttpClient.HttpClient>> = {
  fetch: FetchHttpClient.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp
}

describe("what an operation prints over a real transport", () => {
  const slow = new Set(["silence", "headersThenSilence", "drip", "latency"])
  for (const [transport, layer] of Object.entries(transports)) {
    live(
      `an operation over ${transport} prints nothing of its request`,
      Layer.provide(Sandbox.layerServer, options),
      function* () {
        const sandbox = yield* Sandbox
        const client = Payments.layer({ baseUrl: sandbox.baseUrl, companyId: 1 }).pipe(
          Layer.provide([layer, Credentials.layer(yield* sandbox.credentials), IdempotencyKeyGen.layerSequential])
        )
        const policy = PaymentsPolicy.make({ ...PaymentsPolicy.once, attemptTimeout: "1 hour" })
        yield* Effect.gen(function* () {
          for (const [turn, call] of [marked[0], marked[2], marked[5]].entries()) {
            assert(call)
            for (const [how, fault] of [
              ...unhelpful.filter(([how]) => !slow.has(how)),
              ...echoes(call, turn).slice(0, 12)
            ]) {
              yield* sandbox.clearFaults
              yield* sandbox.fault(call.operation, fault)
              assert.deepStrictEqual(leaks(yield* printedBy(call.run)), [], `${call.operation}, ${how}`)
            }
          }
        }).pipe(Effect.provide(client), Effect.provideService(PaymentsPolicy, policy))
      }
    )
  }
})
