/** `effect-pix payouts reconcile`: statements as banks write them, with invented data. */
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Money, PixKey } from "effect-pix"
import { PayoutQueue, Seal } from "effect-pix/payouts"
import { SqlClient } from "effect/sql"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { run } from "../support/command.ts"
import { effect, live } from "../support/effect.ts"
import { databases, folder } from "../support/operated.ts"
import { readStatement, type StatementColumns } from "../../src/cli/internal/operator/statementFile.ts"

const none: StatementColumns = {
  amount: undefined,
  out: undefined,
  in: undefined,
  kind: undefined,
  day: undefined,
  id: undefined,
  document: undefined
}

/** A file with this text, in the charset of Windows or in UTF-8. */
const fileOf = (text: string, charset: "utf8" | "latin1" = "utf8") =>
  Effect.map(folder, (path) => {
    const file = join(path, "extrato.csv")
    writeFileSync(file, Buffer.from(text, charset))
    return file
  })

const id = "E18236120202611211200s0123456789"

interface Shape {
  readonly title: string
  readonly text: string
  readonly charset?: "latin1"
  readonly columns: Partial<StatementColumns>
}

/** The same four lines: two that left, one that arrived, one that came back. The first has an id, the second a document. */
const shapes: ReadonlyArray<Shape> = [
  {
    title: "semicolons with a mark, CRLF, lines before the heading, D and C, and a line of the balance",
    text: [
      "\uFEFFExtrato da conta;1234-5",
      "Período;01/11/2026 a 30/11/2026",
      "",
      "Data;Histórico;Documento;Valor (R$);D/C;CPF/CNPJ",
      "21/11/2026;SALDO ANTERIOR;;;;",
      `21/11/2026;PIX ENVIADO;${id};3.020,50;D;`,
      "21/11/2026 14:03;PIX ENVIADO;;R$ 10,00;D;***.982.247-**",
      "22/11/2026;PIX RECEBIDO;;1.000,00;C;",
      `22/11/2026;DEVOLUÇÃO PIX;ref. ${id} ok;3.020,50;C;`,
      ""
    ].join("\r\n"),
    columns: { amount: "valor (r$)", day: "DATA", kind: "D/C", id: "Documento", document: "CPF/CNPJ" }
  },
  {
    title: "commas and quotes in the charset of Windows, with signs and a line break in a cell",
    text: [
      '"Data","Descrição","Valor","Identificação","Favorecido"',
      '"Saldo, anterior","","","",""',
      '"","","","",""',
      `"21-11-2026","Transferência ""Pix""\nenviada","-3.020,50","${id.toLowerCase()}",""`,
      '"21-11-2026","Transferência","- R$ 10,00","","***.982.247-**"',
      '"22-11-2026","Recebida","1.000,00","",""',
      `"22-11-2026","Devolução","+3.020,50","${id}",""`
    ].join("\n"),
    charset: "latin1",
    columns: { amount: "Valor", day: "data", id: "identificacao", document: "Favorecido" }
  },
  {
    title: "tabs, with a column of what left and one of what arrived, and days in ISO",
    text: [
      "Entrada\tSaída\tData\tID\tDoc",
      `\t3020,50\t2026-11-21T23:30:00-03:00\t${id}\t`,
      "\t-10.00\t2026-11-22T02:30:00Z\t\t***.982.247-**",
      "1000\t\t2026-11-22\t\t",
      `3.020,50\t\t2026-11-22 08:00\t${id}\t`
    ].join("\n"),
    columns: { out: "saida", in: "entrada", day: "data", id: "id", document: "doc" }
  }
]

describe("a bank's statement", () => {
  effect.each(shapes)("a statement is read with $title", function* ({ charset, columns, text }) {
    const lines = yield* readStatement(yield* fileOf(text, charset), { ...none, ...columns })
    expect(lines.map((line) => ({ ...line, number: 0, endToEndId: line.endToEndId?.toUpperCase() }))).toEqual([
      { number: 0, amount: 302_050, direction: "out", day: "2026-11-21", endToEndId: id.toUpperCase() },
      { number: 0, amount: 1000, direction: "out", day: "2026-11-21", document: "***.982.247-**" },
      { number: 0, amount: 100_000, direction: "in", day: "2026-11-22" },
      { number: 0, amount: 302_050, direction: "in", day: "2026-11-22", endToEndId: id.toUpperCase() }
    ])
  })

  const amounts: ReadonlyArray<readonly [cell: string, signed: number | undefined]> = [
    ["-1.234,56", -123_456],
    ["1.234,56-", -123_456],
    ["(1.234,56)", -123_456],
    ["\u22121.234,56", -123_456],
    ["-R$ 1.234,56", -123_456],
    ["R$ -1.234,56", -123_456],
    ["-1.234,56 D", -123_456],
    ["1.234,56 d", -123_456],
    ["1.234,56 C", 123_456],
    ["+1.234,56", 123_456],
    ["1234.56", 123_456],
    ["-1.234,56 C", undefined],
    ["1,234.56", undefined],
    ["1.234", undefined],
    ["12,345", undefined],
    ["abc", undefined]
  ]
  effect("an amount is read as it is written in Brazil, and is wrong where it may be two", function* () {
    for (const [cell, signed] of amounts) {
      const file = yield* fileOf(`Valor;X\n-1,00;\n${cell};\n`)
      const read = readStatement(file, { ...none, amount: "Valor" })
      if (signed === undefined) expect((yield* Effect.flip(read)).message).toMatch(/^Line 3: its amount is none/)
      else {
        const [, line] = yield* read
        expect([cell, (line?.amount ?? 0) * (line?.direction === "out" ? -1 : 1)]).toEqual([cell, signed])
      }
    }
  })

  const returned = `D${id.slice(1)}`
  const other = `${id.slice(0, -1)}0`
  const ids: ReadonlyArray<readonly [cell: string, id: string | undefined]> = [
    [`PIX ENVIADO E2E:${id}-MARIA`, id],
    [`ID${id.toLowerCase()}, ${id}`, id],
    [`="" ${id} ""`, id],
    [`${id.slice(0, 9)} ${id.slice(9, 21)} ${id.slice(21)}`, id],
    [`${returned} de ${id}`, id],
    [returned, returned],
    [`${id} ${other}`, undefined],
    [`${id}001`, undefined],
    [`1${id}`, undefined],
    ["655f0a3c-1234", undefined],
    ["PIX ENVIADO MARIA", undefined]
  ]
  effect("an end-to-end id is found in other text, and no other text is taken for one", function* () {
    const text = ids.map(([cell]) => `-1,00;"${cell.replaceAll('"', '""')}"`).join("\n")
    const lines = yield* readStatement(yield* fileOf(`Valor;Id\n${text}\n`), { ...none, amount: "valor", id: "id" })
    expect(lines.map(({ endToEndId }, index) => [ids[index]?.[0], endToEndId])).toEqual(
      ids.map(([cell, found]) => [cell, found?.toUpperCase()])
    )
  })

  effect("every wrong line is named by its number, and no cell of it is shown", function* () {
    const text =
      "Data;Valor;Tipo\n21/11/2026;-1,00;D\n31/02/2026;-1,00;D\n21/11/2026;Maria;D\n21/11/2026;2,00;Maria\n\n"
    const file = yield* fileOf(text)
    const { message } = yield* Effect.flip(readStatement(file, { ...none, amount: "Valor", day: "Data", kind: "Tipo" }))
    expect(message.split("\n")).toEqual([
      "Line 3: its day is none, as 21/11/2026.",
      "Line 4: its amount is none, as 1.234,56.",
      "Line 5: it does not say whether the money left or arrived.",
      "Nothing was changed."
    ])
  })

  effect("a file that is no statement is refused with what is missing", function* () {
    const failure = (text: string, columns: Partial<StatementColumns>) =>
      Effect.flatMap(fileOf(text), (file) => Effect.flip(readStatement(file, { ...none, ...columns })))
    expect((yield* failure("Data;Valor\n1;2", { amount: "Quantia" })).message).toMatch(
      /all of these columns: quantia\./
    )
    expect((yield* failure("Valor;Data;valor\n1;2;3", { amount: "Valor" })).message).toMatch(/two columns valor:/)
    expect((yield* failure('Data;Valor\n"1;2', { amount: "Valor" })).message).toMatch(/Line 2 is no CSV: Unterminated/)
    expect((yield* failure("Data;Valor\n;2,00", { amount: "Valor" })).message).toMatch(
      /None of the 1 lines.* give --out/
    )
    expect((yield* Effect.flip(readStatement("/nowhere.csv", none))).message).toMatch(/cannot be read \(ENOENT\)/)
  })
})

const key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
const maria = '{"creditorDocument":"529.982.247-25"}'
const joao = '{"creditorDocument":"111.444.777-35"}'

describe.each(databases)("payouts reconcile in %s", (_, make) => {
  live("a statement shows candidates by amount, day and sealed document, and settles none of them", function* () {
    const { client, env } = yield* make
    const seal = Seal.aesGcm(Redacted.make(key))
    yield* Effect.gen(function* () {
      const [queue, sql, { seal: close }] = [yield* PayoutQueue, yield* SqlClient.SqlClient, yield* seal]
      const pixKey = PixKey.email("maria@example.com")
      const references = ["maria", "joao", "later", "alone"]
      yield* queue.submitMany(references.map((reference) => ({ reference, amount: Money.centavos(1000), pixKey })))
      yield* sql`UPDATE effect_pix_payouts SET state = 'posted', withdrawal_id = 7, submitted_at = 1795262400000, updated_at = 1795262400000`
      yield* sql`UPDATE effect_pix_payouts SET submitted_at = 1797854400000, updated_at = 1797854400000 WHERE reference = 'later'`
      yield* sql`UPDATE effect_pix_payouts SET amount = 777 WHERE reference = 'alone'`
      for (const [reference, payee] of [
        ["maria", maria],
        ["joao", joao]
      ] as const) {
        yield* sql`UPDATE effect_pix_payouts SET payee = ${yield* close(payee, { account: "default", reference, column: "payee" })} WHERE reference = ${reference}`
      }
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient({ seal }), client)), Effect.orDie)
    const text =
      "Data;Valor;Doc;Id\n21/11/2026;-10,00;***.982.247-**;\n21/11/2026;-10,00;;\n21/11/2026;-99,00;;\n21/11/2026;10,00;;\n"
    const file = yield* fileOf(text)
    const words = ["payouts", "reconcile", file, "--amount", "valor", "--day", "data", "--id", "id"]
    const plain = yield* run(words, env)
    expect(plain.code).toBe(0)
    expect(plain.stdout).toBe(
      [
        "LIST         LINE  DAY                 AMOUNT  WHY               PAYOUTS",
        "ambiguous       2  2026-11-21        R$ 10,00  SameAmountAndDay  joao (posted), maria (posted)",
        "ambiguous       3  2026-11-21        R$ 10,00  SameAmountAndDay  joao (posted), maria (posted)",
        "alone           4  2026-11-21        R$ 99,00",
        "alone                                 R$ 7,77                    alone (posted)",
        ""
      ].join("\n")
    )
    expect(plain.stderr).toMatch(
      /4 lines with an amount, of which 3 left\.[^]*nothing to settle\. Nothing was changed\./
    )
    const opened = yield* run([...words, "--document", "Doc", "--json"], { ...env, EFFECT_PIX_SEAL_KEY: key })
    expect(opened.stdout.split("\n")[0]).toBe(
      '{"list":"ambiguous","line":2,"day":"2026-11-21","amount":1000,"because":"SameAmountAndDay","payouts":[{"reference":"maria","state":"posted"}]}'
    )
    expect(opened.stdout + opened.stderr).not.toMatch(/982/)
    const otherKey = Buffer.alloc(32).toString("base64")
    const sealed = yield* run([...words, "--document", "Doc"], { ...env, EFFECT_PIX_SEAL_KEY: otherKey })
    expect(sealed.stderr).toMatch(/The payees of 2 payout\(s\) are sealed: give the keys by EFFECT_PIX_SEAL_KEY\./)
    const noKey = yield* run([...words, "--document", "Doc"], { ...env, EFFECT_PIX_SEAL_KEY: "secret" })
    expect([noKey.code, noKey.stderr]).toEqual([1, expect.stringMatching(/EFFECT_PIX_SEAL_KEY.*not 32 bytes/)])
    expect((yield* run(["payouts", "reconcile", file], env)).stderr).toMatch(/--amount, or --out/)
  })

  live("a statement settles what has its end-to-end id and amount, once, and names what it contradicts", function* () {
    const { client, env } = yield* make
    const idOf = (reference: string) => `E18236120202611211200${reference.padStart(11, "0")}`
    const references = ["posted1", "parked1", "failed1", "paid1", "other1"]
    yield* Effect.gen(function* () {
      const [queue, sql] = [yield* PayoutQueue, yield* SqlClient.SqlClient]
      yield* queue.submitMany(references.map((reference) => ({ reference, amount: Money.centavos(1000) })))
      for (const reference of references) {
        const state = reference === "other1" ? "posted" : reference.slice(0, -1)
        yield* sql`UPDATE effect_pix_payouts SET state = ${state}, withdrawal_id = 7, end_to_end_id = ${idOf(reference)},
          submitted_at = 1795262400000, updated_at = 1795262400000 WHERE reference = ${reference}`
      }
    }).pipe(Effect.provide(Layer.provideMerge(PayoutQueue.layerClient(), client)), Effect.orDie)
    const amountOf = (reference: string) => (reference === "other1" ? "-10,01" : "-10,00")
    const lines = references.map((reference) => `21/11/2026;${amountOf(reference)};${idOf(reference).toLowerCase()}`)
    const file = yield* fileOf(`Data;Valor;Id\n${lines.join("\n")}\n`)
    const words = ["payouts", "reconcile", file, "--amount", "valor", "--day", "data", "--id", "id"]
    const asked = yield* run([...words, "--by", "ana"], env)
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringMatching(/2 payouts, R\$ 20,00 \(2000 centavos\)/)])
    const settled = yield* run([...words, "--yes", "--by", "ana"], env)
    expect(settled.code).toBe(0)
    expect(settled.stderr).toMatch(/CONTRADICTED: 1 payout, R\$ 10,00/)
    for (const [reference, expected] of [
      ["posted1", /State +paid[^]*Settled \(paid\) by ana/],
      ["parked1", /State +paid[^]*Settled \(paid\) by ana/],
      ["failed1", /State +failed/],
      ["other1", /State +posted/]
    ] as const)
      expect((yield* run(["payouts", "show", reference], env)).stdout).toMatch(expected)
    expect((yield* run([...words, "--yes", "--by", "ana"], env)).stderr).toMatch(/nothing to settle/)
  })
})
