/**
 * A payroll from a CSV as Excel exports it. The queue on a file is the memory of the sheet: after a crash, run it again.
 * What is wrong is told by the line of the file, in Portuguese.
 */
import { Array as Arr, Effect, Layer, Result, Schema, Stream } from "effect"
import { Csv } from "effect/encoding"
import { Money, PaymentsPolicy } from "effect-pix"
import { NodeSqlite } from "effect-pix/node"
import { type PayoutItem, PayoutQueue, Payouts, type PayoutsNotAccepted, type PayoutState } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"

/** What is wrong, as a line for the person who made the sheet. */
export class SheetIsWrong extends Schema.TaggedError<SheetIsWrong>()("SheetIsWrong", {
  lines: Schema.Array(Schema.String)
}) {}

interface Line {
  readonly number: number
  readonly item: PayoutItem
}

const readLine = (record: Readonly<Record<string, string>>, index: number, month: string) => {
  const { chave: pixKey = "", id = "", tipo: pixKeyType = "", valor = "" } = record
  const number = index + 2 // after the line of the names
  // The kind of a key is CPF, CNPJ, EMAIL, PHONE or EVP: translate here what else your sheets call it, as "Celular".
  return Result.map(
    Result.fromOption(Money.parseBRL(valor), () => `Linha ${number}: não há valor em "valor"`),
    (amount): Line => ({ number, item: { reference: `folha-${month}/${id}`, amount, pixKey, pixKeyType } })
  )
}

const readSheet = Effect.fn("readSheet")(function* (csv: string, month: string) {
  const records = yield* Stream.make(csv).pipe(
    Stream.pipeThroughChannel(Csv.decodeString({ delimiter: ";", headers: true })),
    Stream.runCollect
  )
  const read = records.map((record, index) => readLine(record, index, month))
  return { lines: Arr.getSuccesses(read), unread: Arr.getFailures(read) }
})

const mistakes: Readonly<Record<PayoutsNotAccepted["wrong"][number]["error"]["_tag"], string>> = {
  InvalidRequest: "dados inválidos, confira a chave PIX, o tipo dela e o valor",
  BelowMinimum: "valor abaixo do mínimo",
  ReferenceConflict: "a referência já foi usada com outros dados",
  LooksAlike: "parece igual a outro pagamento"
}

const states: Readonly<Record<PayoutState, string>> = {
  accepted: "na fila, não pague de outro modo",
  unknown: "a conferir, pode ter sido pago",
  parked: "a conferir, pode ter sido pago",
  posted: "enviado, ainda não confirmado",
  paid: "pago",
  failed: "não pago",
  refused: "não pago",
  returned: "devolvido",
  cancelled: "cancelado"
}

/** Pays the sheet of a month, all lines or none. It may be run as often as you like. */
export const pay = Effect.fn("pay")(function* (csv: string, month: string, confirm: (sum: string) => boolean) {
  const { lines, unread } = yield* readSheet(csv, month)
  const plan = yield* Payouts.plan(lines.map(({ item }) => item))
  const wrong = plan.wrong.map(({ error, index }) => `Linha ${lines[index]?.number}: ${mistakes[error._tag]}`)
  // One reference is one payout: whoever was meant by the second line would not be paid.
  const repeated = plan.count < lines.length ? ["Há um id em mais de uma linha"] : []
  const problems = [...unread, ...wrong, ...repeated]
  if (problems.length > 0) return yield* new SheetIsWrong({ lines: problems })
  if (!confirm(`${plan.count} pagamentos, ${Money.format(plan.sum)}`)) return []
  const { cancelled, done, failed, open, parked, refused, returned } = yield* Payouts.run(lines.map(({ item }) => item))
  return [done, open, parked, refused, failed, returned, cancelled]
    .flat()
    .map(({ reference, state }) => `${reference}: ${states[state]}`)
})

// A trial: a sheet with two mistakes, one with a line twice, the corrected one, and that once more.
const sheet = (cpf: string, amount: string) =>
  `\uFEFFid;nome;valor;tipo;chave\r\n1;Maria;"R$ 4.150,00";CPF;${cpf}\r\n2;João;${amount};EMAIL;joao@example.com\r\n`

const trial = Effect.gen(function* () {
  const wrong = yield* Effect.flip(pay(sheet("529.982.247-26", "3.02,5"), "2026-11", () => true))
  const right = sheet("529.982.247-25", "R$ 3.020,50")
  const twice = yield* Effect.flip(pay(right + right.split("\r\n")[1], "2026-11", () => true))
  const paid = yield* pay(right, "2026-11", (words) => words === "2 pagamentos, R$ 7.170,50")
  const again = yield* pay(right, "2026-11", () => true)
  const { withdrawals } = yield* Sandbox
  const linesOf = (error: typeof wrong) => error._tag === "SheetIsWrong" && error.lines
  return [linesOf(wrong), linesOf(twice), paid[0], again.length, (yield* withdrawals).length]
})

const database = NodeSqlite.layer({ filename: ":memory:" }) // "folha.db"
// A silent answer takes 15 seconds, and not 30.
const gateway = Layer.provide(Sandbox.layerPayments, [
  Layer.succeed(SandboxOptions, { balance: 1_000_000 }),
  PaymentsPolicy.layer({ attemptTimeout: "15 seconds" })
])
const layer = PayoutQueue.layer().pipe(Layer.provide(database), Layer.provideMerge(gateway))
export const result = await Effect.runPromise(Effect.provide(trial, layer)) // => [['Linha 3: não há valor em "valor"', "Linha 2: dados inválidos, confira a chave PIX, o tipo dela e o valor"], ["Há um id em mais de uma linha"], "folha-2026-11/1: enviado, ainda não confirmado", 2, 2]
