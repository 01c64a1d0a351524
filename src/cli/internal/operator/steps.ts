/**
 * Every step of an operator, in one entry: its name, what it does in both languages, the flags that find its payouts, its own flags, what
 * depends on the payout, and its call. The subcommands, their help, the words that a person confirms and the table in docs/command.md are
 * made of the entries. `takeStep.ts` runs them, and is loaded when one is taken: it brings the queue, the webhooks and a database driver.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { PayoutStatus } from "../../../payouts/PayoutStatus.ts"
import { PayoutBecause } from "../../../payouts/PayoutBecause.ts"
import type { PayoutState } from "../../../payouts/PayoutState.ts"
import { noAmount, parseAmount } from "../amount.ts"
import { format, json, lazily, optional, person, text as textFlag, yes } from "../flags.ts"
import { join, type Label, text, type Text } from "../lang.ts"
import { plain } from "../text.ts"
import { type Sum, textOfSum } from "./describe.ts"
import type { Group } from "./queue.ts"
import type * as Take from "./takeStep.ts"
import { claims } from "./words.ts"

type Flags = Command.Command.Config
type Values<F extends Flags> = Command.Command.Config.InferValue<F>

export const reference = Argument.String("reference").pipe(Argument.withDescription("Your own name of the payout"))
export const id = Argument.String("id").pipe(Argument.withDescription("A transaction's id, or the id of a dead letter"))

/** The subcommand of a step, whose code is loaded when it is taken. */
const commandOf = <const F extends Flags, E, R>(
  { en, name }: Text & { readonly name: string },
  flags: F,
  taking: (code: typeof Take) => (given: Command.Command.Config.Infer<F>) => Effect.Effect<void, E, R>
) =>
  Command.make(
    name,
    flags,
    lazily(async () => taking(await import("./takeStep.ts")))
  ).pipe(Command.withDescription(en))

const given = { ...person, yes, json }

const payoutStep = <const F extends Flags>(
  step: Take.PayoutStep<Values<F> & Take.PayoutFlags> & { readonly flags: F }
) => {
  const flags = { subjects: Argument.variadic(reference), own: step.flags, ...given }
  return { ...step, command: commandOf(step, flags, ({ takePayoutStep }) => takePayoutStep(step)) }
}

const accountStep = <const F extends Flags>(step: Take.AccountStep<Values<F>> & { readonly flags: F }) => {
  const flags = { own: step.flags, ...given }
  return { ...step, command: commandOf(step, flags, ({ takeAccountStep }) => takeAccountStep(step)) }
}

const webhook = textFlag("webhook", "name", "The name of the webhook, where several have a dead letter of this id")

const letterStep = (group: "payouts" | "webhooks", step: Take.LetterStep) => {
  const flags = { subjects: Argument.variadic(id), webhook, by: person.by, yes, json }
  return { ...step, command: commandOf(step, flags, ({ takeLetterStep }) => takeLetterStep(group, step)) }
}

/** All of one cause, in these states. */
const because = (...states: ReadonlyArray<PayoutState>) =>
  Flag.Literals("because", PayoutBecause.literals).pipe(
    Flag.withMetavar("cause"),
    Flag.withDescription(`All that are ${states.join(" or ")} because of it`),
    Flag.map((because): Group => ({ states, filter: { because } })),
    optional
  )

const withdrawals = Flag.Int("withdrawal").pipe(
  Flag.withMetavar("id"),
  Flag.withDescription(
    "The one of this number of a withdrawal, as a webhook or the panel names it; as often as needed"
  ),
  Flag.atLeast(0)
)

/** A limit of the account, or `none`. */
const limit = <A>(name: string, about: string, expected: string, parse: (text: string) => Option.Option<A>) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${about}; or none`),
    Flag.filterMap(
      (given): Option.Option<A | null> => (given === "none" ? Option.some(null) : parse(given)),
      () => `${expected}, or none`
    ),
    optional
  )

const parsePace = (text: string) => {
  const [, most, seconds] = /^(\d{1,6})\/(\d{1,5})$/.exec(text) ?? []
  return most === undefined || seconds === undefined
    ? Option.none()
    : Option.some({ most: Number(most), per: `${Number(seconds)} seconds` as const })
}

const parseWindow = (text: string) => {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? []
  return from === undefined || to === undefined ? Option.none() : Option.some({ from, to })
}

const money = text("MONEY WILL MOVE: ", "O DINHEIRO VAI SAIR: ")
const panelFirst = text(" Look into the panel first.", " Olhe antes no painel.")

/** What a paused account does not do. */
const ifPaused = (isPaused: boolean): Label =>
  isPaused
    ? text(
        " The workers are paused: nothing is sent until `effect-pix payouts continue`.",
        " Os envios estão pausados: nada é enviado até `effect-pix payouts continue`."
      )
    : ""

/** What a person must know who says that a payout was not paid. */
const riskOf = (status: PayoutStatus): Label => {
  const id = "withdrawalId" in status ? status.withdrawalId : undefined
  if (id === undefined && !("mayHaveLeftAt" in status)) return ""
  return join(
    text(" MONEY MAY HAVE MOVED: ", " O DINHEIRO PODE TER SAÍDO: "),
    id === undefined
      ? text("a request of it left.", "uma requisição dele saiu.")
      : text(`the service recorded it as withdrawal ${id}.`, `o serviço o registrou como saque ${id}.`),
    panelFirst,
    text(" Under another reference it is paid a second time.", " Com outra referência é pago uma segunda vez.")
  )
}

const lineOf = (sum: Sum | undefined, words: Text): Label =>
  sum === undefined ? "" : join("\n  ", textOfSum(sum), words)

export const payoutSteps = [
  payoutStep({
    name: "retry",
    en: "Send refused payouts again, and those that wait at once, under the same keys.",
    pt: "Enviar de novo os recusados, e já os que esperam, com as mesmas chaves.",
    flags: { group: because("accepted", "unknown") },
    effect: ({ isPaused, status: { state } }, _, does) =>
      join(state === "refused" && !isPaused ? money : "", does, ifPaused(isPaused))
  }),
  payoutStep({
    name: "park",
    en: "Park payouts: no worker sends them until they are resumed. A request that is under way is not called back.",
    pt: "Parar pagamentos: não são enviados até serem retomados. Uma requisição em curso não volta.",
    flags: {}
  }),
  payoutStep({
    name: "resume",
    en: "Give parked payouts back to the workers, who send them under the same keys. One whose request left longer ago than the horizon is parked again, as PastHorizon: then look into the panel.",
    pt: "Devolver pagamentos parados à fila, que os envia com as mesmas chaves. Se uma requisição saiu há mais tempo do que o horizonte, o pagamento para de novo, como PastHorizon: olhe então no painel.",
    flags: { group: because("parked") },
    effect: ({ isPaused }, _, does) =>
      join(text("MONEY MAY MOVE: ", "O DINHEIRO PODE SAIR: "), does, ifPaused(isPaused))
  }),
  payoutStep({
    name: "confirm",
    en: "Have payouts looked up within a second, where your workers confirm. What the service says is stored. Nothing is sent.",
    pt: "Consultar pagamentos em um segundo, onde o seu programa confirma. O que o serviço diz é registrado. Nada é enviado.",
    flags: { withdrawals, group: because("parked") }
  }),
  payoutStep({
    name: "cancel",
    en: "Cancel payouts of which nothing left: they are never sent, and their references are never new again. Where a request may have left, this is refused: park it then.",
    pt: "Cancelar pagamentos de que nada saiu: nunca são enviados, e as referências não voltam a ser novas. Onde uma requisição pode ter saído, isto é recusado: pare-o então.",
    flags: { group: because("accepted", "parked") },
    effect: ({ status }, _, does) =>
      "because" in status && status.because === "WaitedTooLong"
        ? join(
            does,
            text(
              " If a backup was restored, it may be paid already.",
              " Se um backup foi restaurado, pode já estar pago."
            ),
            panelFirst
          )
        : does
  }),
  payoutStep({
    name: "settle",
    en: "Say how payouts ended, as you learned it elsewhere. Nothing is sent.",
    pt: "Dizer como pagamentos terminaram, sabido por outro meio. Nada é enviado.",
    flags: {
      withdrawals,
      as: Flag.Literals("as", ["paid", "failed", "returned"]).pipe(
        Flag.withDescription("How it ended, as the panel or a statement says; returned: it was paid, and came back")
      )
    },
    effect: ({ status }, { as }) =>
      join(
        text("You say that ", "Você diz que "),
        claims[as],
        text(". Nothing is sent.", ". Nada é enviado."),
        as === "failed" ? riskOf(status) : ""
      )
  }),
  payoutStep({
    name: "forget",
    en: "Delete the PIX key, description, metadata and payee of payouts that are over, for ever. Reference, amount and history stay.",
    pt: "Apagar a chave PIX, a descrição, os metadados e o recebedor de pagamentos encerrados, para sempre. Referência, valor e histórico ficam.",
    flags: {},
    effect: ({ status: { state } }, _, does) =>
      join(does, state === "refused" ? text(" It cannot be sent any more.", " Não pode mais ser enviado.") : "")
  })
] as const

export const accountSteps = [
  accountStep({
    name: "pause",
    en: "Stop all workers of the account within a second, until `continue`. What is under way is finished.",
    pt: "Parar todos os envios da conta em um segundo, até `continue`. O que está em curso termina.",
    flags: {},
    take: (queue, why) => queue.setPaused(true, why)
  }),
  accountStep({
    name: "continue",
    en: "Let all workers of the account send what waits.",
    pt: "Deixar que tudo o que espera na conta seja enviado.",
    flags: {},
    effect: ({ sums }, _, does) => {
      const [accepted, unknown] = [sums.get("accepted"), sums.get("unknown")]
      return accepted === undefined && unknown === undefined
        ? join(does, text(" No payout waits now.", " Nenhum pagamento espera agora."))
        : join(
            money,
            does,
            lineOf(accepted, text(": never answered", ": nunca respondidos")),
            lineOf(unknown, text(": in doubt, under the same key", ": em dúvida, com a mesma chave"))
          )
    },
    take: (queue, why) => queue.setPaused(false, why)
  }),
  accountStep({
    name: "change-sender",
    en: "Say that the account's payouts are sent under another client id, base URL or company. Workers of the earlier one do not start. What is unknown is not sent again, and is parked as OtherClientId.",
    pt: "Dizer que a conta envia com outro client id, outra URL ou outra empresa. Processos do anterior não iniciam. O que está em dúvida não é enviado de novo, e para como OtherClientId.",
    flags: {
      fingerprint: Argument.String("fingerprint").pipe(
        Argument.withDescription("That of the new client id, as a worker shows it when it does not start")
      )
    },
    effect: ({ sums }, { fingerprint }, does) =>
      join(
        text(
          `MONEY WILL MOVE FROM ANOTHER ACCOUNT OF THE GATEWAY, ${plain(fingerprint)}: `,
          `O DINHEIRO VAI SAIR DE OUTRA CONTA DO GATEWAY, ${plain(fingerprint)}: `
        ),
        does,
        lineOf(sums.get("unknown"), text(" UNKNOWN", " EM DÚVIDA"))
      ),
    take: (queue, why, { fingerprint }) => queue.changeSender(fingerprint, why)
  }),
  accountStep({
    name: "limits",
    en: "Set how often, when and how much of the account is sent, from the next request on. What is in doubt is asked outside of a window too.",
    pt: "Definir o ritmo, o horário e os valores da conta, desde a próxima requisição. O que está em dúvida é perguntado também fora do horário.",
    flags: {
      pace: limit("pace", "At most so many in so many seconds, as 5/60", "two whole numbers, as 5/60", parsePace),
      window: limit(
        "window",
        "The times of a day of São Paulo, as 08:00-20:00",
        "two times, as 08:00-20:00",
        parseWindow
      ),
      dailyCap: limit("daily-cap", "The largest sum of a day of São Paulo, as 50.000,00", noAmount, parseAmount),
      maxAmount: limit("max-amount", "The largest amount of one payout, as 5.000,00", noAmount, parseAmount)
    },
    take: (queue, why, limits) => queue.setLimits(limits, why)
  })
] as const

const judge = {
  name: "judge",
  en: "Say what a refusal means that nobody knows: of all payouts that it parked, and of those to come.",
  pt: "Dizer o que significa uma recusa que ninguém conhece: de todos que ela parou, e dos próximos.",
  effect: (_: unknown, { as, seen }: Take.Judged) =>
    as === "refused"
      ? text(
          `You say that nothing was executed, since ${plain(seen)} is not in the panel. They are refused. If the service executed one, what is paid in its place is paid twice.`,
          `Você diz que nada foi executado, pois ${plain(seen)} não está no painel. São recusados. Se o serviço executou um, o que se paga no lugar dele é pago duas vezes.`
        )
      : join(
          money,
          text(
            "they are sent again, under the same keys, within the horizon of their first requests.",
            "são enviados de novo, com as mesmas chaves, dentro do horizonte das primeiras requisições."
          )
        )
}
const judgement = {
  digest: Argument.String("digest").pipe(
    Argument.withDescription("That of the sentence, or its first eight characters or more")
  ),
  own: {
    as: Flag.Literals("as", ["refused", "wait"]).pipe(
      Flag.withDescription("refused: nothing was executed, and they are over. wait: they are sent again")
    ),
    seen: Flag.String("seen").pipe(
      Flag.withMetavar("reference"),
      Flag.withDescription("The payout of it that you looked up in the panel of the gateway")
    )
  },
  ...given
}
export const sentenceSteps = [
  { ...judge, command: commandOf(judge, judgement, ({ takeJudgement }) => takeJudgement(judge)) }
] as const

export const letterSteps = {
  payouts: [
    letterStep("payouts", {
      name: "retry",
      en: "Hand states that onState refused for good to it again within a second, and then the later ones of their payouts.",
      pt: "Entregar de novo a onState, em um segundo, os estados que recusou de vez, e depois os seguintes dos pagamentos."
    }),
    letterStep("payouts", {
      name: "discard",
      en: "Forget states that onState refused, and that you dealt with elsewhere. The later ones of their payouts are handed to it.",
      pt: "Esquecer estados que onState recusou, e que você resolveu por outro meio. Os seguintes dos pagamentos lhe são entregues."
    })
  ],
  webhooks: [
    letterStep("webhooks", {
      name: "retry",
      en: "Look the transactions of dead letters up again within a second, and hand what the lookup says to your code.",
      pt: "Consultar de novo, em um segundo, as transações das entregas que falharam, e dar ao seu código o que a consulta diz."
    }),
    letterStep("webhooks", {
      name: "discard",
      en: "Forget dead letters that you dealt with elsewhere. Your code is not called, until another delivery or check arrives.",
      pt: "Esquecer entregas que falharam, e que você resolveu por outro meio. O seu código não é chamado, até outra entrega ou consulta."
    })
  ]
} as const

/** The list of the dead letters of a group, and the steps with them. */
export const deadLetters = (group: keyof typeof letterSteps, about: string) =>
  Command.make(
    "dead-letters",
    format,
    lazily(async () => (await import("./letters.ts")).listLetters(group))
  ).pipe(Command.withDescription(about), Command.withSubcommands(letterSteps[group].map(({ command }) => command)))
