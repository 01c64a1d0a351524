/**
 * The refusals of the sandbox. The service documents neither statuses nor bodies of errors (`docs/service.md`): both are
 * the sandbox's own, in words that a Brazilian gateway would use.
 */
declare module "./Refusal.ts" {}

import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as SchemaIssue from "effect/SchemaIssue"
import { keysOf } from "../contract/RequestIssues.ts"

export interface Refusal {
  readonly status: number
  readonly message: string
  /** The message for a person who reads the page in Portuguese. */
  readonly portuguese?: string | undefined
  /** What the functions of the sandbox answer in its place, in the language of the docs. */
  readonly own?: Refusal | undefined
}

const refusal = (status: number, message: string): Refusal => ({ status, message })
const invalidBody = (problem: string) => refusal(400, `Corpo inválido: ${problem}.`)

// Those of the sandbox's own paths, in the language of the docs.
export const overCredit = {
  ...refusal(400, "With this amount a sum of the ledger would be no safe integer."),
  portuguese: "Com este valor uma soma passa do que o sandbox guarda."
}

export const notUtf8 = invalidBody("não é UTF-8")
export const notObject = invalidBody("deve ser um objeto JSON")
export const noCurrency = invalidBody("currency é obrigatório")
export const notChargeable = {
  ...invalidBody("amount deve ser de 1 a 999999999999 centavos"),
  own: refusal(400, "amount must be from 1 to 999999999999 centavos.")
}
export const noSuchDate = {
  ...invalidBody("pix.expiresInDays passa da última data"),
  own: refusal(400, "The sandbox's clock is too far ahead for another charge.")
}
export const unauthorized = refusal(401, "Credenciais ausentes ou inválidas.")
export const unknownHost = {
  ...refusal(403, "Este nome de host não é permitido neste sandbox."),
  own: refusal(403, "This sandbox does not allow this host name. Its option allowHost names those that it allows.")
}
export const routeNotFound = refusal(404, "Rota não encontrada.")
export const transactionNotFound = refusal(404, "Transação não encontrada.")
export const withdrawalNotFound = refusal(404, "Saque não encontrado.")
export const companyNotFound = refusal(404, "Empresa não encontrada.")
export const methodNotAllowed = refusal(405, "Método não permitido.")
export const notAcceptable = refusal(406, "O cabeçalho Accept deve ser application/json.")
export const tooLarge = refusal(413, "O corpo da requisição é grande demais.")
export const unsupportedMediaType = refusal(415, "O Content-Type deve ser application/json.")
export const overVolume = {
  ...refusal(422, "A soma dos valores passa do que o sandbox guarda."),
  own: overCredit
}
export const notBrl = refusal(422, "Moeda não suportada: somente BRL.")
export const keyReused = refusal(422, "Esta Idempotency-Key já foi usada com outro corpo de requisição.")
export const belowMinimum = {
  ...refusal(422, "O valor mínimo de saque é de R$ 10,00 (1000 centavos)."),
  own: refusal(400, "A payout is of R$ 10,00 (1000 centavos) at least.")
}
export const invalidPixKey = {
  ...refusal(422, "pixKey não é uma chave PIX válida do tipo informado."),
  own: refusal(400, "pixKey is no valid PIX key.")
}
export const noPixKey = {
  ...refusal(422, "Nenhuma chave PIX informada e nenhuma chave PIX cadastrada na conta bancária da empresa."),
  own: refusal(400, "There is no PIX key: none was given, and the company's account has none.")
}
export const insufficientBalance = {
  ...refusal(422, "Saldo insuficiente para o saque."),
  own: refusal(400, "The balance is too low for this payout.")
}
const broken = refusal(500, "Erro interno do sandbox.")

export const notTarget = {
  ...refusal(400, "url must be a loopback address, as http://127.0.0.1:3000/webhooks, or one of an allowed host."),
  portuguese: "O endereço deve ser desta máquina, como http://127.0.0.1:3000/webhooks, ou de um host permitido."
}
export const noFieldOfFault = (field: string) => refusal(400, `fault: this fault takes no ${field}.`)
export const notOwnPage = refusal(403, "Only the page of this sandbox itself may do this in a browser.")
export const noFunction = refusal(
  404,
  "The sandbox has no function of this name and method. docs/sandbox.md lists them."
)

const places = {
  Params: "Caminho inválido",
  Query: "Parâmetros inválidos",
  Headers: "Cabeçalhos inválidos",
  Payload: "Corpo inválido",
  Body: "Resposta inválida",
  ResponseHeaders: "Resposta inválida"
} satisfies Record<HttpApiError.HttpApiSchemaError["kind"], string>

const formatWith = (wrong: string, leafHook: SchemaIssue.LeafHook) =>
  SchemaIssue.makeFormatterStandardSchemaV1({ leafHook, checkHook: () => wrong })
const format = formatWith("tem um valor inválido", ({ _tag }) =>
  _tag === "MissingKey" ? "é obrigatório" : "tem um valor inválido"
)
const formatEnglish = formatWith("has a wrong value", (issue) => {
  if (issue._tag === "MissingKey") return "is missing"
  if (issue._tag === "UnexpectedKey") return "is no field of it"
  return issue._tag === "InvalidType" ? SchemaIssue.defaultLeafHook(issue) : "has a wrong value"
})

/** The fields that are wrong in the input of a function of the sandbox, never their values. */
export const problemsOf = (issue: SchemaIssue.Issue): ReadonlyArray<string> => [
  ...new Set(
    formatEnglish(issue).issues.map(
      ({ message, path = [] }) =>
        `${keysOf(path).map(String).join(".") || "the input"} ${message.replace(/^Expected /, "must be ")}`
    )
  )
]

/** The name of a field as it was sent: `extra` holds the fields that are not documented. */
const fieldOf = (path: ReadonlyArray<PropertyKey>): string => {
  const names = path.map(String)
  return names[0] === "extra" && names.length > 1 ? names.slice(1).join(".") : names.join(".")
}

/** What breaks the contract: which fields, never their values. `whole` is the subject where no single field is wrong. */
const invalid = ({ cause, kind }: HttpApiError.HttpApiSchemaError, whole: string): Refusal => {
  const problems = format(cause.issue).issues.map(({ message, path = [] }) =>
    path.length === 0
      ? `${whole} tem um valor inválido`
      : `${fieldOf(keysOf(path))} ${message.replace(/^Expected .*/s, "tem um valor inválido")}`
  )
  return refusal(400, `${places[kind]}: ${[...new Set(problems)].join("; ")}.`)
}

export const toResponse = ({ message, portuguese, status }: Refusal): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ message, portuguese, status }, { status })

/**
 * Answers a request that the routes of an API did not answer. A request that breaks the contract is refused; an answer that
 * breaks it, and any other defect, is a mistake in the sandbox. `whole` is the subject of a refusal that names no field.
 */
export const recover =
  (whole: string) =>
  (cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const error = Cause.squash(cause)
    if (HttpApiError.HttpApiSchemaError.is(error) && error.kind !== "Body") {
      return Effect.succeed(toResponse(invalid(error, whole)))
    }
    if (HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound") {
      return Effect.succeed(toResponse(routeNotFound))
    }
    return Effect.as(
      Effect.logError("The sandbox failed to answer a request. This is a mistake in it, or in its options.", cause),
      toResponse(broken)
    )
  }
