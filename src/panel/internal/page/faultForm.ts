/**
 * The faults that the form offers, by the names of `Fault`: what each takes, and what a client sees that meets it with every
 * attempt of a write. The default of a field is shown in it.
 */
import * as Record from "effect/Record"
import * as Fault from "../../../sandbox/Fault.ts"

interface Options {
  readonly seconds: number
  readonly status?: number | undefined
  readonly message?: string | undefined
}

type Field = "seconds" | "status" | "message"

interface Offered {
  readonly make: (options: Options) => Fault.Fault
  readonly label: readonly [en: string, pt: string]
  /** What the client sees. */
  readonly sees: readonly [en: string, pt: string]
  /** The fields of the form that it uses, with their defaults. */
  readonly fields?: { readonly [name in Field]?: string }
}

const limit = (fault: Fault.Fault, ...label: Offered["label"]): Offered => ({
  make: () => fault,
  label,
  sees: [
    "It is refused in these words, and nothing is executed: LimitReached for a payout.",
    "É recusada com estas palavras, e nada é executado: LimitReached para um saque."
  ]
})

const faults = {
  resetAfter: {
    make: () => Fault.resetAfter,
    label: ["Executed, then reset", "Executada, conexão cai"],
    sees: [
      "It is executed, and the connection breaks before the answer: OutcomeUnknown for a write.",
      "É executada, e a conexão cai antes da resposta: OutcomeUnknown para uma escrita."
    ]
  },
  resetBefore: {
    make: () => Fault.resetBefore,
    label: ["Reset, not executed", "Conexão cai antes"],
    sees: [
      "Nothing is executed, but the client cannot know it: OutcomeUnknown for a write.",
      "Nada é executado, mas o cliente não pode saber: OutcomeUnknown para uma escrita."
    ]
  },
  silence: {
    make: () => Fault.silence(),
    label: ["No answer ever", "Nunca há resposta"],
    sees: [
      "Nothing is executed or answered until the client's time is over: OutcomeUnknown for a write.",
      "Nada é executado nem respondido até o tempo do cliente acabar: OutcomeUnknown para uma escrita."
    ]
  },
  truncated: {
    make: () => Fault.truncated,
    label: ["Executed, half an answer", "Executada, meia resposta"],
    sees: [
      "It is executed, and half of the answer comes: OutcomeUnknown for a write.",
      "É executada, e só chega metade da resposta: OutcomeUnknown para uma escrita."
    ]
  },
  latency: {
    make: ({ seconds }) => Fault.latency(`${seconds} seconds`),
    label: ["A late answer", "Resposta atrasada"],
    sees: [
      "The answer comes late: a success, or OutcomeUnknown for a write if the client's time is over before.",
      "A resposta chega atrasada: sucesso, ou OutcomeUnknown para uma escrita se o tempo do cliente acabar antes."
    ],
    fields: { seconds: "5" }
  },
  refusal: {
    make: ({ message = "Serviço indisponível.", status = 503 }) => Fault.refusal(status, message),
    label: ["A refusal with words", "Recusa com mensagem"],
    sees: [
      "It is not executed. A 5xx is OutcomeUnknown for a write; a 4xx is the error of its words, or RequestRejected.",
      "Não é executada. Um 5xx é OutcomeUnknown para uma escrita; um 4xx é o erro das suas palavras, ou RequestRejected."
    ],
    fields: { status: "503", message: "Serviço indisponível." }
  },
  answer: {
    make: ({ message, status = 200 }) => Fault.answer(status, { body: message }),
    label: ["Any answer", "Qualquer resposta"],
    sees: [
      "It is not executed. A 2xx that cannot be read is OutcomeUnknown for a write.",
      "Não é executada. Um 2xx que não se pode ler é OutcomeUnknown para uma escrita."
    ],
    fields: { status: "200", message: "" }
  },
  html: {
    make: ({ status }) => Fault.html(status),
    label: ["A web page, not JSON", "Uma página, não JSON"],
    sees: [
      "A proxy's page in place of an answer: with a 2xx or 5xx OutcomeUnknown for a write.",
      "A página de um proxy no lugar da resposta: com 2xx ou 5xx OutcomeUnknown para uma escrita."
    ],
    fields: { status: "200" }
  },
  empty: {
    make: ({ status }) => Fault.empty(status),
    label: ["Executed, empty answer", "Executada, sem corpo"],
    sees: [
      "It is executed, and the answer has no body: with a 2xx OutcomeUnknown for a write.",
      "É executada, e a resposta não tem corpo: com 2xx OutcomeUnknown para uma escrita."
    ],
    fields: { status: "200" }
  },
  retryAfter: {
    make: ({ seconds, status }) => Fault.retryAfter(`${seconds} seconds`, { status }),
    label: ["429 with Retry-After", "429 com Retry-After"],
    sees: [
      "The client waits as it is told and tries again, then says RateLimited.",
      "O cliente espera o que a resposta pede e tenta de novo, depois diz RateLimited."
    ],
    fields: { seconds: "5", status: "429" }
  },
  tooSoon: limit(Fault.tooSoon, "Another payout too soon", "Outro saque cedo demais"),
  dailyLimit: limit(Fault.dailyLimit, "Limit of the day", "Limite diário"),
  nightLimit: limit(Fault.nightLimit, "Limit of the night", "Limite noturno"),
  keyLimit: limit(Fault.keyLimit, "Limit of key look-ups", "Limite de consultas de chave"),
  blocked: limit(Fault.blocked, "The account is blocked", "Conta bloqueada"),
  redirect: {
    make: ({ status }) => Fault.redirect("https://elsewhere.example/", status),
    label: ["307 to another host", "307 para outro host"],
    sees: [
      "The client does not follow it, so that no credential leaves: RequestRejected, the base URL is wrong.",
      "O cliente não segue, para que nenhuma credencial saia: RequestRejected, o endereço base está errado."
    ],
    fields: { status: "307" }
  },
  forgetKey: {
    make: () => Fault.forgetKey,
    label: ["The key is forgotten", "A chave é esquecida"],
    sees: [
      "A success, executed once more: what the key has paid before is paid again.",
      "Sucesso, executada mais uma vez: o que a chave já pagou é pago de novo."
    ]
  },
  failure: {
    make: ({ message }) => Fault.failure(message),
    label: ["A payout fails at once", "O saque falha na hora"],
    sees: [
      "The payout is recorded as failed, and nothing is paid: WithdrawalFailed.",
      "O saque é registrado como falho, e nada é pago: WithdrawalFailed."
    ],
    fields: { message: "Invalid Pix Entry" }
  },
  brcode: {
    make: () => Fault.brcode,
    label: ["The code is in pix.brcode", "O código vem em pix.brcode"],
    sees: ["A success: the client reads the code there too.", "Sucesso: o cliente lê o código também ali."]
  },
  qrcode: {
    make: () => Fault.qrcode,
    label: ["The code is in pix.qrcode", "O código vem em pix.qrcode"],
    sees: ["A success: the client reads the code there too.", "Sucesso: o cliente lê o código também ali."]
  },
  localTimes: {
    make: () => Fault.localTimes,
    label: ["Times of Brasília, no offset", "Hora de Brasília, sem fuso"],
    sees: [
      "A success: the client reads the times as UTC, unless PAYMENTS_ZONE says otherwise.",
      "Sucesso: o cliente lê as horas como UTC, a menos que PAYMENTS_ZONE diga outra zona."
    ]
  },
  falseZ: {
    make: () => Fault.falseZ,
    label: ["Times of Brasília, false Z", "Hora de Brasília, Z falso"],
    sees: [
      "A success: the client reads the times three hours too early, since a Z says UTC.",
      "Sucesso: o cliente lê as horas três horas mais cedo, já que um Z diz UTC."
    ]
  }
} satisfies { readonly [name: string]: Offered }

/** The names of the faults. */
export const names = Record.keys(faults)

/** A fault that the form offers. */
export const offered = (name: (typeof names)[number]): Offered => faults[name]
