import { assert, describe, it } from "@effect/vitest"
import {
  FailureReason,
  Payments,
  type PaymentsError,
  type PaymentsPolicy,
  type ServiceRefusal,
  type WriteOptions
} from "effect-pix"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { charge, withdrawal } from "../support/operations.ts"
import { reusedClient } from "../support/failing.ts"
import { lostConnection, respond, type Script } from "../support/Wire.ts"
import { effect } from "../support/effect.ts"
import { phrases } from "../support/phrases.ts"
import { causeOf, lines, type Refusal as Case } from "../tables/refusals.ts"

type Refusal = PaymentsPolicy["refusal"]

let policy: Refusal = () => undefined
const { client, wire } = reusedClient({ refusal: (refusal) => policy(refusal) })

/** The error of a withdrawal that gets these answers. */
const refused = Effect.fnUntraced(function* (
  replies: Script,
  { options, refusal = () => undefined }: { readonly options?: WriteOptions; readonly refusal?: Refusal } = {}
) {
  wire.script(...replies)
  policy = refusal
  const payments = yield* Payments
  return yield* Effect.flip<unknown, PaymentsError, never>(payments.requestWithdrawal(withdrawal, options))
})

const given: WriteOptions = { idempotencyKey: "payout_1" }
const tagOf = (status: number, body: unknown, more?: Parameters<typeof refused>[1]) =>
  Effect.map(refused([respond(status, body)], more), ({ _tag }) => _tag)

/** The phrases that are read as this error, of a key whose past was not declared. */
const readAs = (tag: PaymentsError["_tag"], name: string) =>
  Effect.filter(phrases(name), (message) =>
    Effect.map(tagOf(422, { message }, { options: given }), (found) => found === tag)
  )

const poor = "InsufficientBalance"

describe("the words of a refusal", () => {
  effect("at least 90 % of the ways to say that a request was made before are recognised", client, function* () {
    const all = phrases("askedBefore")
    const found = yield* readAs("IdempotencyConflict", "askedBefore")
    assert.isAtLeast(found.length / all.length, 0.9, `missed: ${all.filter((one) => !found.includes(one)).join("; ")}`)
  })

  effect("at most 5 % of the other refusals are read as an earlier request", client, function* () {
    for (const name of ["ordinary", "deadlines", "insufficientBalance", "noPixKey", "belowMinimum"]) {
      const wrong = yield* readAs("IdempotencyConflict", name)
      assert.isAtMost(wrong.length / phrases(name).length, 0.05, wrong.join("; "))
    }
  })

  effect.each([
    ["InsufficientBalance", "insufficientBalance"],
    ["NoPixKey", "noPixKey"],
    ["BelowMinimum", "belowMinimum"]
  ] as const)("the words name %s in at least 90 %% of the ways to say it", client, function* ([tag, name]) {
    const found = yield* readAs(tag, name)
    assert.isAtLeast(found.length / phrases(name).length, 0.9)
  })

  effect("the words name no cause if a sentence is about something else too", client, function* () {
    for (const name of ["noCause", "ordinary", "deadlines"]) {
      for (const message of phrases(name)) {
        assert.strictEqual(yield* tagOf(422, { message }), "RequestRejected", message)
      }
    }
  })

  effect(
    "the words that name a cause are found in a text of their own, whatever other texts say",
    client,
    function* () {
      assert.strictEqual(yield* tagOf(422, { message: "Saque recusado", code: "INSUFFICIENT_FUNDS" }), poor)
      assert.strictEqual(yield* tagOf(422, { message: "Conta 12 da agência 4: erro", info: "Sem saldo" }), poor)
      assert.strictEqual(yield* tagOf(422, { message: "Limite excedido.\nSaldo insuficiente" }), "RequestRejected")
    }
  )

  effect(
    "the words that say that time ran out behind the service leave the outcome of a write unknown",
    client,
    function* () {
      const all = phrases("timeOut")
      for (const [at, message] of all.entries()) {
        const status = [400, 403, 404, 422, 429][at % 5] ?? 400
        const error = yield* refused([respond(status, { message })])
        assert.strictEqual(error.outcome, "Unknown", message)
        assert.deepStrictEqual([error._tag, error.attempts], ["OutcomeUnknown", 1])
        assert(error._tag === "OutcomeUnknown")
        assert.deepStrictEqual([error.reason, error.status], ["UnderWay", status])
      }
    }
  )

  effect("the words about a deadline, a schedule or a token that expired are those of a refusal", client, function* () {
    for (const message of phrases("deadlines")) {
      assert.strictEqual((yield* refused([respond(400, { message })])).outcome, "Rejected", message)
    }
  })

  effect(
    "words about other documents, accounts and limits mean neither an earlier request nor a cause of a withdrawal",
    client,
    function* () {
      for (const message of [
        "CPF already registered to another customer",
        "E-mail já cadastrado",
        "O documento informado já está vinculado a outra conta",
        "Cash-outs are not allowed for legal entities",
        "The Name must have at least 2 words",
        "Idempotency-Key header is required",
        "The request was denied due to a risk rule"
      ]) {
        for (const status of [400, 404, 422]) {
          assert.strictEqual(yield* tagOf(status, { message }, { options: given }), "RequestRejected", message)
        }
      }
    }
  )

  effect(
    "the words about an idempotency key say that it is missing or malformed, or that it was used before",
    client,
    function* () {
      const none: WriteOptions = { ...given, earlier: "None" }
      for (const options of [{}, none]) {
        for (const message of [
          "Idempotency key must be unique",
          "A chave de idempotência deve ser única",
          "A chave de idempotência informada já foi utilizada",
          "Invalid Idempotency-Key, it was already used",
          "The idempotency key must not be reused"
        ]) {
          assert.strictEqual(yield* tagOf(422, { message }, { options }), "IdempotencyConflict", message)
        }
        for (const message of [
          "Idempotency-Key must be a UUID",
          "Chave de idempotência inválida",
          "Missing Idempotency-Key header",
          "O cabeçalho Idempotency-Key deve ser informado"
        ]) {
          assert.strictEqual(yield* tagOf(422, { message }, { options }), "RequestRejected", message)
        }
      }
    }
  )

  effect("words about a minimum mean BelowMinimum only if they are about an amount", client, function* () {
    for (const message of ["must be at least 1000", "at least 10 reais", "Mínimo de R$ 10,00", "at least 1.000,00"]) {
      assert.strictEqual(yield* tagOf(422, { message }), "BelowMinimum", message)
    }
    assert.strictEqual(yield* tagOf(422, { message: "at least 12 characters" }), "RequestRejected")
  })

  effect("the words of a hostile refusal of any length are read to their end", client, function* () {
    const units = ["pix", "pix ", "idempot", "ja nao ", "em de ", "error while ", "saldo de ", "conta is ", "valor "]
    for (const unit of [...units, "request a ", "same a ", "key a ", "aA", "é ", "<a", "&amp;", "{"]) {
      const body = unit.repeat(32_768 / unit.length)
      assert.include(["IdempotencyConflict", "RequestRejected"], (yield* refused([respond(422, body)]))._tag)
    }
  })
})

/** Two refusals in one, if they do not contradict each other. */
const merged = (one: Case, other: Case): Case | undefined => {
  const isEither = (name: "status" | "past" | "policy" | "body") =>
    one[name] === undefined || other[name] === undefined || one[name] === other[name]
  const texts = [...(one.texts ?? []), ...(other.texts ?? [])]
  const isSilent = one.body !== undefined || other.body !== undefined
  if (!(["status", "past", "policy", "body"] as const).every(isEither) || (isSilent && texts.length > 0))
    return undefined
  return { ...one, ...other, ...(texts.length > 0 && { texts }) }
}

/** The error of a withdrawal to the registered key that gets this refusal. */
const errorOf = ({ body, isInDoubt, past, policy, status = 422, texts = ["Recusado"] }: Case) => {
  const reply = respond(status, body ?? Object.fromEntries(texts.map((text, at) => [["message", "info"][at], text])))
  const options = { ...(past !== undefined && given), ...(past !== undefined && past !== "given" && { earlier: past }) }
  return refused(isInDoubt === true ? [lostConnection, reply] : [reply], { options, refusal: () => policy })
}

describe("the refusal of a write", () => {
  for (const [at, { error, refusals, says }] of lines.entries()) {
    const below = lines.slice(at).flatMap((line) => line.refusals)
    effect(`the line "${says}" decides before those below it, by ${error}`, client, function* () {
      for (const own of refusals) {
        for (const other of [own, ...below]) {
          const both = own === other ? own : merged(own, other)
          if (both === undefined) continue
          const found = yield* errorOf(both)
          const tag = error === "that cause" ? causeOf(own) : error
          const outcome = tag === "OutcomeUnknown" || tag === "IdempotencyConflict" ? "Unknown" : "Rejected"
          assert.deepStrictEqual([found._tag, found.outcome], [tag, outcome], JSON.stringify(both))
        }
      }
    })
  }

  it("the lines of docs/errors.md are those of the table, in this order", () => {
    const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
    const section = page.split("### How a refusal of a write is read")[1]?.split("###")[0] ?? ""
    const rows = section
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .slice(2)
    assert.strictEqual(rows.length, lines.length)
    for (const [at, { error, says }] of lines.entries()) {
      const [, words, named = "", outcome = ""] = (rows[at] ?? "").split("|").map((cell) => cell.trim())
      assert.include(words, says)
      assert.strictEqual(named.replaceAll("`", ""), error)
      const isUnknown = error === "OutcomeUnknown" || error === "IdempotencyConflict"
      assert.strictEqual(
        outcome,
        error === "that cause" && words !== undefined && !words.startsWith("one of")
          ? "its own"
          : isUnknown
            ? "`Unknown`"
            : "`Rejected`"
      )
    }
  })

  it("each reason of an error without an answer is in docs/errors.md", () => {
    const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")
    const section = page.split("### Why there was no answer")[1]?.split("\n## ")[0] ?? ""
    const items = section.split("\n").filter((line) => /^(?:- | {2})/.test(line))
    const named = items.flatMap((line) => Array.from(line.matchAll(/`([A-Z]\w+)`/g), ([, name]) => name))
    assert.sameMembers(named, [...FailureReason.literals])
  })
})

describe("PaymentsPolicy.refusal", () => {
  const read: Refusal = ({ code, words }) => {
    if (code === "E-1042" || /carteira vazia/.test(words)) return "InsufficientBalance"
    if (/\bdup-\d+\b/.test(words)) return "IdempotencyConflict"
    return /conta ja encerrada/.test(words) ? "RequestRejected" : undefined
  }

  effect("a cause of the policy decides before the words, whatever the status of a refusal", client, function* () {
    const tag = (status: number, body: unknown) => tagOf(status, body, { options: given, refusal: read })
    for (const status of [400, 403, 404, 410, 422]) {
      assert.strictEqual(yield* tag(status, { message: "Erro", code: "E-1042" }), "InsufficientBalance")
      assert.strictEqual(yield* tag(status, { message: "A Carteira está: CARTEIRA VAZÍA" }), "InsufficientBalance")
      assert.strictEqual(yield* tag(status, { message: "Erro DUP-17" }), "IdempotencyConflict")
      // The client reads it as an earlier request.
      assert.strictEqual(yield* tag(status, { message: "Conta já encerrada; pedido já pago" }), "RequestRejected")
    }
    assert.strictEqual(yield* tag(422, { message: "Saldo insuficiente" }), "InsufficientBalance")
    assert.strictEqual(yield* tag(422, { message: "Pedido duplicado" }), "IdempotencyConflict")
  })

  effect("the policy's Unknown leaves every refusal unknown, and the call is not repeated", client, function* () {
    for (const status of [301, 307, 400, 401, 403, 404, 409, 422, 425, 429]) {
      for (const past of [undefined, "given", "None"] as const) {
        const error = yield* errorOf({ status, policy: "Unknown", ...(past !== undefined && { past }) })
        assert(error._tag === "OutcomeUnknown", `${status} ${error._tag}`)
        assert.deepStrictEqual([error.reason, error.status, error.attempts], ["RefusalUnknown", status, 1])
      }
    }
  })

  effect(
    "a policy that throws leaves the outcome unknown, and one that answers anything else is ignored",
    client,
    function* () {
      const throwing: Refusal = () => assert.fail("the user's own error")
      for (const status of [400, 401, 403, 409, 422]) {
        const error = yield* refused([respond(status, { message: "Erro" })], { refusal: throwing })
        assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
        assert.notInclude(JSON.stringify(error), "own error")
      }
      for (const other of [null, true, "Poor", "toString", {}, Promise.resolve("Unknown")]) {
        const answers: unknown = () => other
        // A caller without types.
        const tag = yield* tagOf(422, { message: "Sem saldo" }, { refusal: answers as Refusal })
        assert.strictEqual(tag, "InsufficientBalance")
      }
    }
  )

  effect("the policy is given what the service said, without what the request said", client, function* () {
    const said: Array<ServiceRefusal> = []
    const note: Refusal = (refusal) => void said.push(refusal)
    const body = { message: "Carteira\nvazia", code: "CARTEIRA_VAZIA", key: "payout_1", info: { note: "ALREADY_PAID" } }
    yield* refused([respond(403, body)], { options: given, refusal: note })
    yield* refused([respond(404, "")], { refusal: note })
    const operation = "requestWithdrawal"
    assert.deepStrictEqual(
      said.map(({ code, message, operation, status }) => ({ operation, status, message, code })),
      [
        { operation, status: 403, message: "Carteira\nvazia", code: "CARTEIRA_VAZIA" },
        { operation, status: 404, message: "", code: undefined }
      ]
    )
    assert.match(said[0]?.words ?? "", /carteira vazia[^]*already paid/)
    assert.notInclude(said[0]?.words, "payout_1")
    assert.strictEqual(said[1]?.words, "")
  })

  effect("the policy is not asked about a write in doubt, about a failure or about a read", client, function* () {
    let asked = 0
    const refusal: Refusal = () => (asked++, "InsufficientBalance")
    const no = respond(422, { message: "Carteira vazia" })
    for (const error of [
      yield* refused([lostConnection, no], { refusal, options: given }),
      yield* refused([no], { refusal, options: { ...given, earlier: "Unknown" } }),
      yield* refused([respond(503)], { refusal }),
      yield* refused([respond(424)], { refusal })
    ]) {
      assert.deepStrictEqual([error._tag, error.outcome], ["OutcomeUnknown", "Unknown"])
    }
    yield* Effect.flip((yield* Payments).getTransaction("id"))
    assert.strictEqual(asked, 0)
  })

  effect("the policy names no cause that the request cannot have", client, function* () {
    wire.script(respond(422, { message: "Carteira vazia" }))
    policy = read
    assert.strictEqual((yield* Effect.flip((yield* Payments).createTransaction(charge)))._tag, "RequestRejected")
  })

  effect("the policy replaces the statuses that mean NoPixKey if there are no words", client, function* () {
    const refusal: Refusal = ({ status, words }) =>
      words === "" ? (status === 418 ? "NoPixKey" : "RequestRejected") : undefined
    assert.strictEqual(yield* tagOf(418, "", { refusal }), "NoPixKey")
    assert.strictEqual(yield* tagOf(400, "", { refusal }), "RequestRejected")
  })
})
