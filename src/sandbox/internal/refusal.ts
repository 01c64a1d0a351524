/**
 * The refusals of the sandbox. The service shows neither statuses nor bodies of errors (`docs/service.md`): both
 * are this sandbox's own, in words that a Brazilian gateway would use.
 */
import type * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as SchemaIssue from "effect/SchemaIssue"

export interface Refusal {
  readonly status: number
  readonly message: string
}

export const unauthorized: Refusal = { status: 401, message: "Credenciais ausentes ou inválidas." }
export const unknownHost: Refusal = { status: 403, message: "Este nome de host não é permitido neste sandbox." }
export const notOwnPage: Refusal = { status: 403, message: "Somente a página do próprio sandbox pode fazer isto." }
export const routeNotFound: Refusal = { status: 404, message: "Rota não encontrada." }
export const transactionNotFound: Refusal = { status: 404, message: "Transação não encontrada." }
export const companyNotFound: Refusal = { status: 404, message: "Empresa não encontrada." }
export const notChargeable: Refusal = {
  status: 400,
  message: "Corpo inválido: amount deve ser de 1 a 999999999999 centavos."
}
export const noSuchDate: Refusal = { status: 400, message: "Corpo inválido: pix.expiresInDays passa da última data." }
export const notUtf8: Refusal = { status: 400, message: "Corpo inválido: não é UTF-8." }
export const notObject: Refusal = { status: 400, message: "Corpo inválido: deve ser um objeto JSON." }
export const noCurrency: Refusal = { status: 400, message: "Corpo inválido: currency é obrigatório." }
export const tooDeep: Refusal = { status: 400, message: "Corpo inválido: aninhado demais." }
export const tooLarge: Refusal = { status: 413, message: "O corpo da requisição é grande demais." }
export const notAcceptable: Refusal = { status: 406, message: "O cabeçalho Accept deve ser application/json." }
export const methodNotAllowed: Refusal = { status: 405, message: "Método não permitido." }
export const broken: Refusal = { status: 500, message: "Erro interno do sandbox." }
export const overVolume: Refusal = { status: 422, message: "A soma dos valores passa do que o sandbox guarda." }
export const invalidPixKey: Refusal = { status: 422, message: "pixKey não é uma chave PIX válida do tipo informado." }
export const notBrl: Refusal = { status: 422, message: "Moeda não suportada: somente BRL." }
export const keyReused: Refusal = {
  status: 422,
  message: "Esta Idempotency-Key já foi usada com outro corpo de requisição."
}
export const belowMinimum: Refusal = { status: 422, message: "O valor mínimo de saque é de R$ 10,00 (1000 centavos)." }
export const noPixKey: Refusal = {
  status: 422,
  message: "Nenhuma chave PIX informada e nenhuma chave PIX cadastrada na conta bancária da empresa."
}
export const insufficientBalance: Refusal = { status: 422, message: "Saldo insuficiente para o saque." }
export const overCredit: Refusal = {
  status: 400,
  message: "Corpo inválido: com amount, uma soma passa do que o sandbox guarda."
}
export const notTarget: Refusal = {
  status: 400,
  message:
    "Corpo inválido: url deve ser um endereço desta máquina, como http://127.0.0.1:3000/webhooks, ou de um host permitido."
}
export const notRegistrable: Refusal = {
  status: 400,
  message: "Corpo inválido: pixKey não é uma chave PIX válida de pixKeyType."
}
export const unsupportedMediaType: Refusal = { status: 415, message: "O Content-Type deve ser application/json." }

const places = {
  Params: "Caminho inválido",
  Query: "Parâmetros inválidos",
  Headers: "Cabeçalhos inválidos",
  Payload: "Corpo inválido",
  Body: "Resposta inválida",
  ResponseHeaders: "Resposta inválida"
} satisfies Record<HttpApiError.HttpApiSchemaError["kind"], string>

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: ({ _tag }) => (_tag === "MissingKey" ? "é obrigatório" : "tem um valor inválido"),
  checkHook: () => "tem um valor inválido"
})

type Path = ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>

/** The name of a field as it was sent: `extra` holds what stands beside the documented fields. */
const fieldOf = (path: Path): string => {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part))
  return names[0] === "extra" && names.length > 1 ? names.slice(1).join(".") : names.join(".")
}

/**
 * What breaks the contract: which fields, never their values. `whole` names what is wrong where no single field is. At the
 * gateway that is the method of a charge, since its body alone is a choice of shapes.
 */
export const invalid = ({ cause, kind }: HttpApiError.HttpApiSchemaError, whole = "paymentMethod"): Refusal => {
  const problems = format(cause.issue).issues.map(({ message, path = [] }) =>
    path.length === 0 ? `${whole} tem um valor inválido` : `${fieldOf(path)} ${message}`
  )
  return { status: 400, message: `${places[kind]}: ${[...new Set(problems)].join("; ")}.` }
}

export const toResponse = ({ message, status }: Refusal): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ message, status }, { status })
