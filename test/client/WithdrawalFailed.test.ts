/** What becomes of a withdrawal whose record has a word that was seen in the field, and when a record that says `Failure` is proof. */
import { assert, describe } from "@effect/vitest"
import { type GatewayFacts, Money, PixKey } from "effect-pix"
import { Result } from "effect"
import seenFailure from "../fixtures/field/withdrawal-201-failure.json" with { type: "json" }
import seenPending from "../fixtures/field/withdrawal-201-pending.json" with { type: "json" }
import seenProcessing from "../fixtures/field/withdrawal-201-processing.json" with { type: "json" }
import seenSuccessful from "../fixtures/field/withdrawal-201-successful.json" with { type: "json" }
import seenLookup from "../fixtures/field/withdrawal-lookup.json" with { type: "json" }
import { call } from "../support/calls.ts"
import { effect } from "../support/effect.ts"
import { optionsOf, type Past } from "../support/failing.ts"
import { lostConnection, type Reply, respond } from "../support/Wire.ts"

/** The request that the seen records are about. */
const seenRequest = { amount: Money.centavos(2500), pixKey: PixKey.cpf("529.982.247-25") }
const ofSeen = { ...seenFailure, idempotencyKey: "wd_1" }
const failedWith = (change: object) => ({ ...ofSeen, ...change })
const reversed = (body: object) => Object.fromEntries(Object.entries(body).toReversed())
const lookedUp = { ...seenLookup, idempotencyKey: "wd_1" }
const every: ReadonlyArray<Past> = ["made", "None"]

/** What becomes of a call that gets these answers. */
const asking = (
  replies: Reply | readonly [Reply, ...ReadonlyArray<Reply>],
  past: Past,
  refusals: GatewayFacts["refusals"] = [],
  change: object = {}
) =>
  call(
    (payments) => payments.requestWithdrawal({ ...seenRequest, ...change }, optionsOf("requestWithdrawal", past)),
    replies,
    { facts: { refusals }, companyId: seenFailure.companyId }
  )

describe("a record of a withdrawal as it was seen", () => {
  effect.each([seenPending, seenProcessing, seenSuccessful])("with $enTransaction is a success", function* (body) {
    for (const enTransaction of [body.enTransaction, body.enTransaction.toUpperCase()]) {
      const answer = reversed({ ...body, idempotencyKey: "wd_1", enTransaction })
      const { lines, misfits, result } = yield* asking(respond(201, answer), "None")
      assert.deepInclude(Result.getOrThrow(result), { id: 7184, enTransaction })
      assert.deepStrictEqual([misfits, lines], [{}, []])
    }
  })

  const reason = "Invalid Pix Entry"
  effect.each<readonly [what: string, body: object, error?: object]>([
    ["as it was seen", ofSeen],
    ["in another case, order and id", reversed(failedWith({ enTransaction: "FAILURE", id: 41 }))],
    ["with the smallest members", { id: 1, idempotencyKey: "wd_1", value: 25, enTransaction: "failure" }],
    ["with the members of the lookup", lookedUp, { serviceMessage: reason }],
    ["with its reason as a message", failedWith({ message: reason }), { serviceMessage: reason }],
    [
      "with a reason and a code in Portuguese",
      failedWith({ motivoFalha: "Chave inexistente", codigo: "AC03" }),
      { serviceMessage: "Chave inexistente", serviceCode: "AC03" }
    ],
    [
      "whose reason repeats key and document",
      failedWith({ providerErrorDescription: "Chave inexistente 52998224725 de wd_1" }),
      { serviceMessage: "Chave inexistente [redacted] de [redacted]" }
    ],
    ["that names its payee in part", failedWith({ pixKey: "529.***.***-25" })],
    ["that repeats what was sent", failedWith({ description: "Pagamento duplicado", metadata: "estorno" })]
  ])("%s is WithdrawalFailed for a key without a doubt, and is not sent again", function* ([, body, said = {}]) {
    for (const past of every) {
      const { misfits, result, sent } = yield* asking(respond(201, body), past, undefined, {
        description: "Pagamento duplicado",
        metadata: { note: "estorno" }
      })
      const error = Result.getOrThrow(Result.flip(result))
      const { serviceCode, serviceMessage }: { serviceCode?: string; serviceMessage?: string } = said
      assert(error._tag === "WithdrawalFailed", error.message)
      assert.deepInclude(error, { operation: "requestWithdrawal", outcome: "Rejected", status: 201, attempts: 1 })
      assert.deepInclude(body, { id: error.withdrawalId, enTransaction: error.withdrawalStatus })
      assert.deepStrictEqual(
        [error.idempotencyKey, error.serviceMessage, error.serviceCode],
        ["wd_1", serviceMessage, serviceCode]
      )
      assert.deepStrictEqual([sent.length, misfits], [1, {}])
    }
  })

  interface Doubt {
    readonly pasts?: ReadonlyArray<Past>
    readonly refusals?: GatewayFacts["refusals"]
    readonly reason?: string
    readonly seen?: object
    readonly isLost?: boolean
  }
  const own = [{ cause: "Unknown", phrases: [reason], statuses: [201] }] as const
  const unknown = { reason: "RefusalUnknown" }
  const words = (providerErrorDescription: string) => failedWith({ providerErrorDescription })
  effect.each<readonly [what: string, body: object, doubt?: Doubt]>([
    ["after a lost answer", ofSeen, { isLost: true }],
    ["after an earlier call in doubt", ofSeen, { pasts: ["Unknown"] }],
    ["without its key", failedWith({ idempotencyKey: null })],
    ["of another key", failedWith({ idempotencyKey: "wd_2" }), { reason: "KeyMismatch" }],
    ["of less than the amount", failedWith({ value: 24.99 }), { seen: { value: "24.99" } }],
    ["of more than the amount", failedWith({ value: 25.01 }), { seen: { value: "25.01" } }],
    ["of another payee", failedWith({ pixKey: "11144477735" })],
    ["of another company", failedWith({ companyId: 69 })],
    ["with a reason that nobody knows", words("Saque duplicado"), unknown],
    ["with a mark of a replay", failedWith({ idempotentReplay: true }), unknown],
    ["with words about time that ran out", words("Tempo esgotado no PSP"), unknown],
    ["with such words in another member", failedWith({ detail: "timeout" }), unknown],
    ["with words in a member that is not read", failedWith({ observacao: "Saque duplicado" }), unknown],
    ["with such words as a description that was not sent", failedWith({ description: "Saque duplicado" }), unknown],
    [
      "with the seen reason, of which the user says that it proves nothing",
      words(reason),
      { ...unknown, refusals: own }
    ],
    ["with Failed", failedWith({ enTransaction: "Failed" }), { seen: { status: "Failed" } }],
    ["with Cancelled", failedWith({ enTransaction: "Cancelled" }), { seen: { status: "Cancelled" } }],
    ["with NÃO_REALIZADO", failedWith({ enTransaction: "NÃO_REALIZADO" }), { seen: { status: "NÃO_REALIZADO" } }],
    ["with refunded", failedWith({ enTransaction: "refunded" }), { seen: { status: "refunded" } }]
  ])("%s is OutcomeUnknown with id and word", function* ([, body, doubt = {}]) {
    const { isLost = false, pasts = every, reason = "NotAsAsked", refusals, seen } = doubt
    for (const past of pasts) {
      const answer = respond(201, body)
      const { result, sent } = yield* asking(isLost ? [lostConnection, answer] : answer, past, refusals)
      const error = Result.getOrThrow(Result.flip(result))
      assert(error._tag === "OutcomeUnknown", error.message)
      assert.deepStrictEqual([error.reason, sent.length], [reason, isLost ? 2 : 1])
      assert.deepStrictEqual({ ...error.seen }, { id: "7184", value: "25", status: "Failure", ...seen })
      assert.notMatch(JSON.stringify(error), /52998224725|11144477735/)
    }
  })

  effect.each([
    ["Invalid Pix Entry", [], undefined, "Request"],
    ["Saldo insuficiente", [], "InsufficientBalance", "Balance"],
    ["Conta bloqueada", [], "LimitReached", "Balance"],
    ["Convênio vencido", [{ cause: "RequestRejected", phrases: ["convenio vencido"] }], undefined, "Request"],
    ["Convênio vencido", [{ cause: "LimitReached", phrases: ["convenio vencido"] }], "LimitReached", "Balance"]
  ] as const)("with the reason %s is WithdrawalFailed, of the account where that is known", function* (row) {
    const [said, refusals, cause, concerns] = row
    const { result } = yield* asking(respond(201, words(said)), "None", refusals)
    const error = Result.getOrThrow(Result.flip(result))
    assert(error._tag === "WithdrawalFailed", error.message)
    assert.deepStrictEqual([error.cause, error.concerns], [cause, concerns])
  })

  effect("with a reason that nobody knows has a digest, and none of a key in doubt", function* () {
    for (const past of ["None", "Unknown"] as const) {
      const error = Result.getOrThrow(Result.flip((yield* asking(respond(201, words("Convênio 7")), past)).result))
      assert(error._tag === "OutcomeUnknown")
      assert.strictEqual(error.digest === undefined, past === "Unknown")
    }
  })

  effect.each([
    ["a short text", "a1", true],
    ["26 hexadecimal characters", "3fa94c1b7e2d4c8f9a6b5d0e1c", true],
    ["a UUID", "0d3b6a4e-5b6f-4a3c-8a51-6f1f0f6f9b21", true],
    ["64 characters", "a".repeat(64), true],
    ["65 characters", "a".repeat(65), false],
    ["nine digits", "123456789", true],
    ["a document", "11144477735", false],
    ["a document with hyphens", "111-444-777-35", false],
    ["an e-mail", "joao@example.com", false]
  ] as const)("that cannot be read shows an id of %s (%s): %s", function* ([, id, isShown]) {
    const { result } = yield* asking(respond(201, failedWith({ id, value: null })), "None")
    const error = Result.getOrThrow(Result.flip(result))
    assert(error._tag === "OutcomeUnknown")
    assert.strictEqual(error.seen?.id, isShown ? id : undefined)
  })
  effect(
    "that cannot be read shows no status that could be a person's, and nothing that the request holds",
    function* () {
      const held = ["ord-12", "José Ávila", "wxyz", "awaiting rain", "CLIENTE_SECRETVALUE"]
      for (const [id, status] of [
        ["52998224725", "maria@example.com"],
        ["x-ORD12-y", "Jose avila"],
        ["a-wxyz-1", "Awaiting"],
        ["SECRETVA", "x-secretva-y"],
        ["x".repeat(65), "x".repeat(65)]
      ] as const) {
        const body = failedWith({ id, value: null, enTransaction: status })
        const { result } = yield* asking(respond(201, body), "None", [], { metadata: { held } })
        const error = Result.getOrThrow(Result.flip(result))
        assert(error._tag === "OutcomeUnknown")
        assert.isUndefined(error.seen, id)
      }
    }
  )
})
