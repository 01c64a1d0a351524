/** `effect-pix withdraw`: what is sent, what is printed, and what the exit codes say. */
import { describe, expect } from "@effect/vitest"
import { IdempotencyKey } from "effect-pix"
import { Fault, Sandbox } from "effect-pix/sandbox"
import { leaksIn, person, secrets } from "../support/canary.ts"
import { run, runRows } from "../support/command.ts"
import { live } from "../support/effect.ts"
import { served, settings, settingsOf } from "../support/operator.ts"
import { answer, closedPort, json, serveRaw } from "../support/RawServer.ts"

const payout = "withdraw 10,00 --reference invoice-42 --yes"
const key = IdempotencyKey.fromReference("payout", "invoice-42")

describe("a payout of the command", () => {
  live(
    "a payout is sent once under the key of its reference, and another one with it is refused",
    served,
    function* () {
      const other = /with the same amount and data as then\. It shows[^]*a reference of its own[^]*ask the operator/
      yield* runRows(yield* settings, [
        [payout, 0, `Withdrawal 1: R$ 10,00 to the company's own PIX key, Awaiting\nIdempotency key ${key}\n`],
        ["withdraw 20,00 --reference invoice-42 --yes", 5, "", other],
        [`${payout} --json`, 0, /^{"id":1,"reais":"10\.00","status":"Awaiting","to":"the company's own PIX key",.*}\n$/]
      ])
      const { withdrawals } = yield* Sandbox
      expect((yield* withdrawals).map(({ idempotencyKey }) => idempotencyKey)).toEqual([key])
    }
  )

  live("a payout that nothing was sent of ends with 3, and wrong usage or settings with 1", function* () {
    const gateway = yield* serveRaw()
    yield* runRows(settingsOf(closedPort), [[payout, 3, "", /Nothing was sent/]])
    yield* runRows(settingsOf(gateway.url), [
      ["withdraw 999 --reference a --yes", 3, "", /10,00/],
      ["withdraw 10,00 --yes", 1, "", /--reference/],
      [`${payout} --pix-key 52998224725`, 1, "", /--pix-key-type/],
      [`${payout} --pix-key-type CPF`, 1, "", /no PIX key/],
      [`${payout} --pix-key 52998224724 --pix-key-type CPF`, 1, "", /./],
      ["withdraw 10,00 --reference=\u00a0x --yes", 1, "", /The reference cannot be used/]
    ])
    yield* runRows({}, [[payout, 1, "", /PAYMENTS_BASE_URL/]])
    expect(gateway.arrived).toEqual([])
  })

  live("a payout that the service refuses ends with 4, and with 5 if it was asked for before", served, function* () {
    const env = yield* settings
    const { fault, withdrawals } = yield* Sandbox
    yield* runRows(env, [["withdraw 1.000.000,00 --reference b --yes", 4, "", /The balance does not cover/]])
    yield* runRows({ ...env, PAYMENTS_API_KEY: "another" }, [[payout, 4, ""]])
    yield* fault("requestWithdrawal", Fault.refusal(422, "Saldo insuficiente"))
    yield* runRows(env, [
      [`${payout} --again`, 5, "", /^(?!.*--again).*If the answer stays the same, another one will not help/s]
    ])
    expect(yield* withdrawals).toEqual([])
  })

  live("a payout that may have been executed ends with 5, and the next run shows that it was", served, function* () {
    const { fault, withdrawals } = yield* Sandbox
    yield* fault("requestWithdrawal", Fault.resetAfter, { times: 3 })
    yield* runRows(yield* settings, [
      [payout, 5, "", /MONEY MAY HAVE MOVED[^]*with the same key, run:\n.* --again\n/],
      [payout, 0, /R\$ 10,00/]
    ])
    expect(yield* withdrawals).toHaveLength(1)
  })

  live(
    "a payout prints no secret, no data of a person, no escape code and no stack, whatever its result",
    function* () {
      const gateway = yield* serveRaw()
      const env = {
        ...settingsOf(gateway.url),
        PAYMENTS_CLIENT_ID: secrets.clientId,
        PAYMENTS_API_KEY: secrets.apiKey,
        PAYMENTS_PIX_KEY: person.email
      }
      const echo = `\u001b[2Jno ${person.email} ${person.cpf} ${secrets.apiKey}`
      const done = { id: 7, value: 10, enTransaction: "Awaiting", pixKey: person.email, pixKeyType: "EMAIL" }
      for (const [play, code] of [
        [json({ message: echo }, 400), 4],
        [json({ message: echo }, 500), 5],
        [answer(200, echo), 5],
        [answer(200, "<html>"), 5],
        [answer(307, "", { location: "http://127.0.0.1:1/" }), 4],
        [answer(502, "bad gateway"), 5],
        [json(done, 201), 0]
      ] as const) {
        gateway.script(play)
        const ended = yield* run(`${payout} --pix-key-type EMAIL`.split(" "), env)
        expect([ended.code, leaksIn(ended.stdout + ended.stderr)]).toEqual([code, []])
        expect(ended.stderr).not.toMatch(/\p{Cc}\[|^\s+at /mu)
      }
    }
  )
})
