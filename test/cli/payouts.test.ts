/** `effect-pix payouts`, on a program's own database. */
import { describe, expect } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Money, PixKey } from "effect-pix"
import { PayoutQueue, Seal } from "effect-pix/payouts"
import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
import { SqlClient } from "effect/sql"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Row, run, runRows } from "../support/command.ts"
import { live } from "../support/effect.ts"
import { databases, folder } from "../support/operated.ts"
import { storedRefusal } from "../support/payoutQueue.ts"
import { runs } from "../support/seed.ts"

const item = (reference: string, amount = 1000) => ({
  reference,
  amount: Money.centavos(amount),
  pixKey: PixKey.email("maria@example.com"),
  description: "For Maria"
})
const submit = (...items: ReadonlyArray<ReturnType<typeof item>>) => PayoutQueue.use((queue) => queue.submitMany(items))
const sql = (...statements: ReadonlyArray<string>) =>
  SqlClient.SqlClient.use((client) => Effect.forEach(statements, (statement) => client.unsafe(statement)))
const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000

const states = ["accepted", "parked", "posted", "refused", "unknown"]

/** Five payouts, of R$ 10,00 to R$ 50,00, each in the state that it is named by. */
const eachState = Effect.gen(function* () {
  yield* submit(...states.map((reference, index) => item(reference, 1000 * (index + 1))))
  yield* PayoutQueue.use((queue) => queue.park("parked"))
  const before = hoursAgo(72)
  yield* sql(
    "UPDATE effect_pix_payouts SET state = 'posted', withdrawal_id = 7 WHERE reference = 'posted'",
    `UPDATE effect_pix_payouts SET state = 'refused', error = '${storedRefusal}' WHERE reference = 'refused'`,
    `UPDATE effect_pix_payouts SET state = 'unknown', may_have_left_at = ${before} WHERE reference = 'unknown'`,
    `UPDATE effect_pix_payouts SET submitted_at = ${before}`
  )
})

/** A worker has looked at the database. */
const seen = PayoutQueue.use(() =>
  Effect.scoped(
    Layer.build(
      Layer.provide(
        PayoutQueue.layerWorker(),
        Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 0 }))
      )
    )
  )
)

/** Three payouts above the limit of the workers, of R$ 10,00, R$ 20,00 and R$ 30,00, and one that an operator parked. */
const parked = Effect.gen(function* () {
  for (const [index, reference] of ["over-1", "over-2", "over-3", "held"].entries()) {
    yield* submit(item(reference, 1000 * (index + 1)))
    yield* PayoutQueue.use((queue) => queue.park(reference))
  }
  yield* sql("UPDATE effect_pix_payouts SET because = 'OverCap' WHERE reference <> 'held'")
})

type InProgram = Effect.Effect<unknown, unknown, PayoutQueue | SqlClient.SqlClient>

/** The command on a program's database with these payouts. */
const operate = Effect.fnUntraced(function* (
  [, make]: (typeof databases)[number],
  payouts: InProgram | null = eachState
) {
  const { client, env } = yield* make
  const inProgram = <A, E>(effect: Effect.Effect<A, E, PayoutQueue | SqlClient.SqlClient>, account = "default") =>
    Effect.orDie(Effect.provide(effect, Layer.provideMerge(PayoutQueue.layerClient({ account }), client)))
  if (payouts !== null) yield* inProgram(payouts)
  return {
    client,
    env,
    inProgram,
    run: (line: string) => run(["payouts", ...line.split(" ")], env),
    /** Runs commands one after another. */
    rows: (...rows: ReadonlyArray<Row>) =>
      runRows(
        env,
        rows.map(([line, code, stdout, stderr]) => [`payouts ${line}`, code, stdout, stderr])
      )
  }
})

const linesOf = (text: string) => text.trimEnd().split("\n")

describe.each(databases)("payouts in %s", (...database) => {
  live("dead letters of onState are listed, handed out again, and forgotten by a confirmed step", function* () {
    const { inProgram, rows } = yield* operate(
      database,
      Effect.gen(function* () {
        yield* submit(item("one"), item("two", 2500))
        yield* sql("UPDATE effect_pix_payout_accounts SET hands_out = TRUE")
        const queue = yield* PayoutQueue
        for (const reference of ["one", "two"]) yield* queue.park(reference)
        yield* sql("UPDATE effect_pix_payout_states SET state = 'Dead', failures = 296")
        yield* queue.settle("one")
      })
    )
    const [one, two] = yield* inProgram(
      PayoutQueue.use(({ deadLetters }) => Effect.map(deadLetters, (all) => all.map(({ id }) => id)))
    )
    yield* rows(
      [
        "dead-letters",
        0,
        /^FAILED AT .*\nonState +296 +1 .*one \(parked\)\nonState +296 +0 .*two \(parked\)\n$/,
        /^2 dead letter\(s\)\n$/
      ],
      ["dead-letters --csv", 0, /^\uFEFFfailed_at,attempts,held,.*\r\nonState,296,1,\S+Z,,\d+,one \(parked\)\r\n/],
      [`dead-letters discard ${one} ${two}`, 2, "", /onState failed 296 times[^]*2 dead letters: Forget states/],
      ["dead-letters retry --yes", 1, "", /Name at least one id/],
      [`dead-letters retry ${one} --yes --by ana`, 0, `retry of ${one} was done.\n`],
      [`dead-letters retry ${one} --yes`, 4, "", /No dead letter/],
      [`dead-letters discard ${two} --yes --json`, 0, `{"id":"${two}","step":"discard"}\n`],
      ["dead-letters", 0, /^FAILED AT .*\n$/, /^0 dead letter/]
    )
  })

  live("sentences that nobody knows are listed, and judged by a confirmed step", function* () {
    const digest = `3f2a91c07d5e${"0".repeat(52)}`
    const error = JSON.stringify({
      _tag: "OutcomeUnknown",
      operation: "requestWithdrawal",
      attempts: 1,
      idempotencyKey: "k",
      outcome: "Unknown",
      status: 422,
      reason: "RefusalUnknown",
      serviceCode: "E-17",
      digest
    })
    const { rows } = yield* operate(
      database,
      Effect.gen(function* () {
        yield* submit(item("one"), item("two", 2500), item("three"))
        yield* sql(`UPDATE effect_pix_payouts SET state = 'parked', because = 'RefusalUnknown', sends = 1, digest = '${digest}',
          may_have_left_at = ${hoursAgo(1)}, error = '${error}' WHERE reference <> 'three'`)
      })
    )
    yield* rows(
      ["sentences", 0, /^DIGEST .*\n3f2a91c07d5e +2 +R\$ 35,00 .* 422 +\w* .*E-17\n$/, /^1 sentence\(s\)\n$/],
      ["judge 3f2a91c0 --as refused --seen one", 2, "", /code E-17, 2 payouts, R\$ 35,00[^]*Nothing was changed/],
      ["judge 3f2a91c0 --as refused --seen three --yes", 4, "", /seen must be the reference/],
      ["judge ffffffff --as refused --seen one --yes", 4, "", /No one sentence/],
      [
        "judge 3f2a91c0 --as refused --seen one --yes",
        0,
        /^(Payout (one|two) is refused\.\n){2}In .*: \["E-17"\], statuses: \[422\]/
      ],
      ["cancel one --yes", 4, "", /may have left/],
      ["judge 3f2a91c0 --as wait --seen one --yes --json", 0, /"as":"wait","moved":\[\{.*"state":"parked"/]
    )
  })

  live("payouts are listed with ages, amounts and totals by state, and one is shown with its key masked", function* () {
    const { inProgram, rows } = yield* operate(database)
    const table = [
      "STATE             AMOUNT          AGE  REFERENCE                 WHY               SITUATION",
      "parked          R$ 20,00           3d  parked                    Operator          Not sent: it waits for the decision of a person (a person parked it)",
      "unknown         R$ 50,00           3d  unknown                   OutcomeUnknown    To check: it may have been paid, do not pay it in another way before",
      "accepted        R$ 10,00           3d  accepted                                    Queued: it will be paid by itself. Do not pay it in another way",
      ""
    ].join("\n")
    yield* rows(
      ["list", 0, table, /^1 accepted, R\$ 10,00\n1 unknown, R\$ 50,00\n1 parked, R\$ 20,00\n$/],
      ["list --state all --json --limit 4", 0, /^(\{.*\}\n){4}$/, /^(\d .*\n){5}$/],
      ["list --state posted --json", 0, /^{"reference":"posted",.*"amount":3000,.*"withdrawalId":7,.*}\n$/],
      ["list --state failed", 0, /^STATE .*\n$/, /^There is none\.$/m],
      ["list --csv --json", 1, "", /one of --csv and --json/],
      ["list --limit 0", 1, "", /--limit/],
      ["show parked", 0, /^Why +Operator\n[^]*^Ends by +`resume` or `settle`$[^]*^To +.*\*\*\*/m],
      ["show unknown", 0, /^Amount reais +R\$ 50,00$[^]*^May have left +\S+Z \(3d ago\)$/m],
      ["show unknown --full --json", 0, /"pixKey":"maria@example\.com"/],
      ["show unknown --full --by ana", 1, "", /--by/],
      ["show nothing", 4, "", /No payout/]
    )
    // Whom it pays is shown as far as it is stored, and sums are exact beyond the safe integers.
    yield* inProgram(
      Effect.andThen(
        PayoutQueue.use((queue) => queue.submit({ reference: "own", amount: Money.centavos(1000) })),
        sql(
          "UPDATE effect_pix_payouts SET request = NULL WHERE reference = 'posted'",
          "UPDATE effect_pix_payouts SET request = 'sealed:1f8b' WHERE reference = 'refused'",
          "UPDATE effect_pix_payouts SET request = REPLACE(request, '@', ' at ') WHERE reference = 'parked'",
          `UPDATE effect_pix_payouts SET amount = ${Number.MAX_SAFE_INTEGER} WHERE state = 'accepted'`
        )
      )
    )
    yield* rows(
      ["show parked", 0, /^To +EMAIL \*\*\*$/m],
      ["show own", 0, /^To +the company's own PIX key$/m],
      ["show posted", 0, /^To +forgotten$/m],
      ["show refused", 0, /^To +sealed by the program$/m],
      ["list --state accepted", 0, /own/, /^2 accepted, R\$ 180\.143\.985\.094\.819,82\n$/]
    )
  })

  live("forget deletes the payee's data of a payout that is over, and is refused for one in doubt", function* () {
    const { rows } = yield* operate(database)
    yield* rows(
      ["forget posted", 2, "", /Delete the PIX key, .* for ever\. Reference, amount and history stay\.\n/],
      ["forget posted unknown --yes --by ana --note asked", 4, /posted/, /changed nothing: the payout unknown/],
      ["show posted", 0, /^Amount reais +R\$ 30,00$[^]*^To +forgotten$[^]* Forgotten \(posted\) by ana: asked$/m],
      ["forget refused --yes", 0, "Payout refused is refused.\n", /It cannot be sent any more\./],
      ["retry refused --yes", 4, "", /Its request was deleted/]
    )
  })

  live(
    "the account of --account is meant by every command, and one that the database has not is refused",
    function* () {
      const { inProgram, rows } = yield* operate(database)
      yield* inProgram(submit(item("accepted", 7000)), "padaria")
      const sender = "a".repeat(40)
      yield* rows(
        ["list --account padaria", 0, /^.*\naccepted +R\$ 70,00 .*\n$/],
        ["park accepted --account padaria --yes", 0, /is parked/],
        ["show accepted", 0, /^State +accepted$/m],
        ["pause --account padaria --yes", 0, /^Account +padaria\nWorkers +paused/],
        ["list", 0, /accepted/, /^(?!.*paused)/s],
        ["pause --account padria --yes", 1, "", /padria has no payouts .* has the accounts: default, padaria/],
        [
          `change-sender ${sender} --account padaria`,
          2,
          "",
          /MONEY WILL MOVE FROM ANOTHER ACCOUNT .*, aaa.*parked as OtherClientId\.\n/
        ],
        [`change-sender ${sender} --account padaria --yes --by ana`, 0, new RegExp(`^Sender +${sender}$`, "m")],
        [`change-sender ${sender} --yes`, 4, "", /^(?!.*MONEY).*is that of the account padaria/]
      )
      const { changes } = yield* inProgram(
        PayoutQueue.use((queue) => queue.account),
        "padaria"
      )
      expect(changes).toMatchObject([{ fingerprint: sender, by: "ana" }])
    }
  )

  live("tables that are absent or of another version are refused, and none is made or changed", function* () {
    const { client, inProgram, rows } = yield* operate(database, null)
    // A SQLite file is there once it was opened.
    yield* Effect.provide(Effect.void, client)
    const absent = /has no tables in this database/
    yield* rows(["list", 1, "", absent], ["pause --yes", 1, "", absent], ["list", 1, "", absent])
    yield* inProgram(eachState)
    yield* inProgram(sql("INSERT INTO effect_pix_payouts_migrations (migration_id, name) VALUES (99, 'later')"))
    yield* rows(["park accepted --yes", 1, "", /tables of version \d+ .* changes no tables/s])
    yield* inProgram(sql("DELETE FROM effect_pix_payouts_migrations WHERE migration_id = 99"))
    yield* rows(["show accepted", 0, /^State +accepted$/m])
  })
})

// On PostgreSQL in the soak alone: these tests run the command a hundred times, and the queue's own test the same steps on both.
describe.each(databases.slice(0, runs(1, 2)))("an operator in %s", (...database) => {
  live("an accountant gets every page as CSV, without payees and with no cell that a sheet runs", function* () {
    const { inProgram, rows, run: list } = yield* operate(database)
    const columns =
      "reference,state,amount_centavos,amount_reais,submitted_at,updated_at,withdrawal_id,withdrawal_status"
    const head = `${columns},end_to_end_id,value_reais,difference_reais,ended_by,ended_at,not_before,submitted_by,why,situation`
    const { submittedAt } = JSON.parse((yield* list("show posted --json")).stdout)
    const at = submittedAt.replace(/\.\d+Z$/, "Z")
    const one = yield* list("list --state posted --csv")
    expect(one.stdout.replace(/(,\S+Z),\S+Z,/, "$1,")).toBe(
      `\uFEFF${head}\r\nposted,posted,3000,30.00,${at},7,,,,,,,,,,"Sent, not confirmed yet: withdrawal 7"\r\n`
    )

    // More than one page.
    const formulas = ["=1+1", "+1", "-1+1", "@SUM(A1)"]
    const many = [...formulas, ...Array.from({ length: 1100 }, (_, index) => `invoice-${index}`)]
    yield* inProgram(submit(...many.map((reference) => item(reference, 123_456))))
    const csv = linesOf((yield* list("list --state all --csv")).stdout).map((line) => line.split(","))
    const json = linesOf((yield* list("list --state all --json")).stdout).map((line) => JSON.parse(line))
    expect(csv.slice(1).map(([cell = ""]) => cell.replace(/^"'(.*)"$/, "$1"))).toEqual(json.map((row) => row.reference))
    expect(json).toHaveLength(states.length + many.length)
    expect(new Set(json.map(({ reference }) => reference))).toEqual(new Set([...states, ...many]))
    expect(csv.filter(([cell = ""]) => /^"'.*"$/.test(cell))).toHaveLength(formulas.length)
    expect(csv.find(([cell]) => cell === "invoice-0")?.slice(1, 4)).toEqual(["accepted", "123456", "1234.56"])
    expect(JSON.stringify([one, csv, json])).not.toMatch(/maria/i)

    yield* inProgram(sql("DELETE FROM effect_pix_payouts"))
    yield* rows(["list --csv", 0, `\uFEFF${head}\r\n`, /^There is none\.$/m])
  })

  live("what ended is listed by the days of São Paulo, with who said so, and why for a person alone", function* () {
    const { client, env, rows } = yield* operate(database, null)
    const seal = "0".repeat(64)
    const queue = PayoutQueue.layerClient({ seal: Seal.aesGcm(Redacted.make(seal)) })
    const { seal: sealed } = yield* Seal.aesGcm(Redacted.make(seal))
    const reason = yield* sealed("Conta encerrada", { account: "default", reference: "back", column: "reason" })
    const midnight = Date.parse("2026-11-01T03:00:00Z")
    yield* Effect.provide(
      Effect.andThen(
        PayoutQueue.use((queue) =>
          queue.submitMany([item("late"), { ...item("back", 2000), by: "ana" }, item("paid", 3000)])
        ),
        sql(
          `UPDATE effect_pix_payouts SET submitted_at = ${midnight - 1} WHERE reference = 'late'`,
          `UPDATE effect_pix_payouts SET submitted_at = ${midnight}, state = 'returned', ended_by = 'lookup', ended_at = ${midnight},
            withdrawal_id = 8, end_to_end_id = 'E2E8', value = '19.50', reason = '${reason}' WHERE reference = 'back'`,
          `UPDATE effect_pix_payouts SET submitted_at = ${midnight + 86_400_000}, state = 'posted', withdrawal_id = 9, ended_as = 'failed' WHERE reference = 'paid'`
        )
      ),
      Layer.orDie(Layer.provideMerge(queue, client))
    )
    const ended = "back,returned,2000,20.00,2026-11-01T03:00:00Z,"
    yield* rows(
      [
        "list --since 2026-11-01 --until 2026-11-02 --csv",
        0,
        new RegExp(
          `\r\n${ended}\\S+,8,,E2E8,19.50,-0.50,lookup,2026-11-01T03:00:00Z,,ana,,Came back on 2026-11-01\r\n`
        ),
        /^1 returned, R\$ 20,00\n$/
      ],
      ["list --until 2026-11-01 --json", 0, /^\{"reference":"late".*\}\n$/, /^1 accepted, R\$ 10,00\n$/],
      ["list --since 2026-11-31", 1, "", /a day, as 2026-11-01/],
      ["list --to-check --json", 0, /^\{"reference":"paid".*"claimed":"failed".*\}\n$/, /^1 posted, R\$ 30,00\n$/],
      ["list --because NotBefore", 0, /^STATE .*\n$/, /^There is none\.\n$/],
      ["list --state returned --csv --full", 0, /,sealed by the program\r\n$/],
      ["show paid", 0, /a webhook says that it failed$[^]*^Claimed +failed$/m],
      [
        "show back",
        0,
        /^(?![^]*encerrada)[^]*^End to end id +E2E8\nValue reais +R\$ 19,50\n.*\nEnded by +lookup\n[^]*^Reason +sealed by the program$/m
      ],
      ["confirm late --yes", 4, "", /Only what was recorded/],
      ["confirm --withdrawal 9 --yes", 0, /is posted/, /looked up within a second/],
      ["settle --withdrawal 77 --as paid --yes", 4, "", /No payout .* has the withdrawal 77/],
      ["settle --withdrawal 9 --as returned --yes", 0, /is returned/, /You say that it came back\. Nothing is sent\.\n/]
    )
    yield* runRows({ ...env, EFFECT_PIX_SEAL_KEY: seal }, [
      ["payouts list --state returned --csv --full", 0, /,reason\r\n[^]*,Conta encerrada\r\n/],
      [
        "payouts list --lang pt --state all",
        0,
        /^ESTADO +VALOR +HÁ +REFERÊNCIA +POR QUÊ +SITUAÇÃO\nna fila .* late +Na fila: será pago sozinho\..*\ndevolvido .* Devolvido em 01\/11\/2026\n/,
        /^1 na fila, R\$ 10,00\n2 devolvido, R\$ 50,00\n$/
      ],
      [
        "payouts list --lang pt --state returned --limit 1 --csv",
        0,
        /^\uFEFFreferencia,estado,valor_centavos,valor_reais,pedido_em,.*,pedido_por,por_que,situacao\r\nback,devolvido,2000,20\.00,2026-11-01 00:00:00,.*,consulta,2026-11-01 00:00:00,,ana,,Devolvido em 01\/11\/2026\r\n$/,
        /^2 devolvido, R\$ 50,00\n$/
      ],
      ["payouts show back --full", 0, /^Reason +Conta encerrada$[^]*^To +EMAIL maria@example\.com$/m]
    ])
    yield* runRows({ ...env, EFFECT_PIX_SEAL_KEY: "1".repeat(64) }, [
      ["payouts show back --full", 1, "", /is sealed, and not with a key of EFFECT_PIX_SEAL_KEY/]
    ])
  })

  live("a step that is confirmed changes a payout, and the history says who took it and why", function* () {
    const { client, inProgram, rows } = yield* operate(database)
    yield* rows(
      ["park accepted", 2, "", /accepted: R\$ 10,00 .*, accepted, submitted 3d ago\n[^]*Nothing was changed/],
      ["show accepted", 0, /^State +accepted$/m],
      ["park accepted --yes --json --by ana --note asked", 0, /"parked".*"because":"Operator"/, /no worker sends/],
      ["settle accepted --as failed --yes", 0, /is failed/, /You say that it failed/],
      ["settle parked --as paid", 2, "", /You say that it was paid\. Nothing is sent\.$/m],
      ["retry posted --yes", 4, "", /retry changed nothing: the payout posted is posted/],
      ["show accepted", 0, / Parked Operator \(parked\) by ana: asked\n.* Settled \(failed\)/],
      ["retry refused --yes", 0, /is accepted/, /MONEY WILL MOVE: Send refused payouts again, .*under the same key/],
      ["resume parked --yes", 0, /is accepted/, /MONEY MAY MOVE: Give parked .*under the same key/],
      ["resume unknown --yes", 4, "", /resume changed nothing/]
    )
    // A request of it left longer ago than the default horizon, of which the command knows as little as of the program's.
    yield* inProgram(
      sql(`UPDATE effect_pix_payouts SET may_have_left_at = ${hoursAgo(13)} WHERE reference = 'unknown'`)
    )
    yield* rows(["park unknown --yes", 0, /parked/], ["resume unknown --yes", 0, /unknown/])
    // The worker finds what the command queued.
    const gateway = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 1_000_000 }))
    yield* Effect.gen(function* () {
      const queue = yield* PayoutQueue
      expect(yield* queue.await("unknown")).toMatchObject({ state: "parked", because: "PastHorizon" })
      expect(yield* queue.await("refused")).toMatchObject({ state: "posted" })
      expect(yield* queue.await("parked")).toMatchObject({ state: "posted" })
    }).pipe(Effect.provide(Layer.provide(PayoutQueue.layer(), Layer.merge(client, gateway))))
  })

  live(
    "a step that fails on the database ends with 5, and names the command that shows whether it was taken",
    function* () {
      const { inProgram, rows } = yield* operate(database, submit(item("accepted"), item("parked")))
      yield* inProgram(submit(item("other")), "padaria")
      yield* rows(["pause --account padaria --yes", 0, /paused/], ["park parked --yes", 0, /parked/])
      // From now on the database refuses what both steps write.
      yield* inProgram(
        sql(
          "CREATE UNIQUE INDEX one_pause ON effect_pix_payout_accounts (paused)",
          "CREATE UNIQUE INDEX one_step ON effect_pix_payout_history (account)"
        )
      )
      yield* rows(
        ["pause --yes", 5, "", /not known\. Look with: effect-pix payouts list\n$/],
        ["park accepted parked --yes", 5, "", /effect-pix payouts show accepted\npark was not tried for: parked\n$/]
      )
    }
  )

  live("a pause says since when, by whom and why, and what its end sends", function* () {
    const { rows } = yield* operate(database)
    yield* rows(
      ["retry refused", 2, "", /retry: 1 payout, R\$ 40,00 \(4000 centavos\): MONEY WILL MOVE/],
      ["retry accepted", 2, "", /Send .*those that wait at once, under the same keys\.\n/],
      ["pause --yes --by ana --note asked", 0, /^Workers +paused since \S+Z by ana: asked$/m, /Stop all workers/],
      ["list --json", 0, /accepted/, /The workers are paused since .* by ana: asked\n.*until .*continue`\.\n$/],
      ["list --lang pt --state paid", 0, /^ESTADO .*\n$/, /^Não há nenhum\.\nOs envios .* por ana: asked\nNada .*\n$/],
      [
        "show parked --lang pt",
        0,
        /^Referência +parked\nEstado +parado\n[^]*^Pedido em +\S+Z \(há 3d\)\n[^]*^Por quê +Operator\nSituação +Não enviado: espera a decisão.*\nTermina com +`resume` ou `settle`\n[^]*^Para +EMAIL .*\n {2}\S+ Pedido \(na fila\)\n {2}\S+ Parado Operator \(parado\)\n$/m
      ],
      ["retry refused accepted", 2, "", /^(?![^]*MONEY)[^]*2 payouts, R\$ 50,00 .*nothing is sent until .* continue/],
      ["resume parked", 2, "", /MONEY MAY MOVE[^]*nothing is sent until `effect-pix payouts continue`/],
      ["continue", 2, "", /MONEY WILL MOVE.*\n.*R\$ 10,00 .*: never answered\n.*R\$ 50,00 .*: in doubt/],
      ["continue --yes", 0, /^Workers +not paused\nSender +not known yet$/m, /paused since .* by ana: asked\n/]
    )
  })

  live("a step about many payouts names each with their sum, and is taken of those that it fits", function* () {
    const { inProgram, rows } = yield* operate(database, parked)
    const asked = /^(Payout over-\d: R\$ \d0,00 .*OverCap.*\n){3}resume: 3 payouts, R\$ 60,00 \(6000 centavos\): MONEY/
    const some = /^resume changed nothing: the payout over-1 is paid[^]*2 payouts, R\$ 60,00 (?![^]*over-1)/
    yield* rows(
      ["resume --because OverCap", 2, "", asked],
      ["settle over-1 nobody-1 nobody-2 --as paid --yes", 4, "", /nobody-1[^]*nobody-2[^]*Nothing was changed\./],
      ["settle over-1 --as paid --yes", 0, "Payout over-1 is paid.\n"],
      ["resume over-1 over-2 held over-2 --yes", 4, "Payout over-2 is accepted.\nPayout held is accepted.\n", some],
      ["resume held --because OverCap", 1, "", /by their references, or give one flag/],
      ["retry --yes", 1, "", /^Name the payouts by their references, or give one flag that finds them\.$/m]
    )
    // A request of it left longer ago than the horizon of the workers.
    yield* inProgram(
      sql(
        "INSERT INTO effect_pix_payout_accounts (account) VALUES ('default') ON CONFLICT DO NOTHING",
        "UPDATE effect_pix_payout_accounts SET horizon = 3600000",
        `UPDATE effect_pix_payouts SET sends = 1, may_have_left_at = ${hoursAgo(72)} WHERE reference = 'over-3'`
      )
    )
    yield* rows(
      ["resume --because OverCap --yes", 4, "", /over-3 .*left longer ago than the horizon/],
      ["resume --because Limit --yes", 0, "", /there is no such payout/]
    )
  })

  live("what never left is cancelled, and what may have left is not", function* () {
    const { inProgram, rows } = yield* operate(database, Effect.andThen(eachState, submit(item("anew"))))
    if (database[0] === "a PostgreSQL") yield* inProgram(seen)
    yield* rows(
      ["cancel anew nobody", 4, "", /nobody[^]*Nothing was changed/],
      ["cancel anew accepted --yes", 0, /^(Payout \w+ is cancelled\.\n){2}$/, /2 payouts, R\$ 20,00/],
      ["cancel unknown posted --yes", 4, "", /may have left\. Park it[^]*It was recorded/],
      ["forget --yes", 1, "", /^Name the payouts by their references/m]
    )
  })

  live("both languages show the same fields, columns and warnings, and the causes that --because takes", function* () {
    const { inProgram, rows, run: show } = yield* operate(database)
    yield* rows(["pause --yes", 0, /paused/])
    yield* inProgram(sql("UPDATE effect_pix_payouts SET ended_as = 'failed' WHERE reference = 'posted'"))
    const inBoth = Effect.fnUntraced(function* (line: string) {
      const [en, pt] = [(yield* show(line)).stdout, (yield* show(`${line} --lang pt`)).stdout]
      expect(linesOf(pt)).toHaveLength(linesOf(en).length)
      expect(pt.match(/A conferir|Não pago/g) ?? []).toHaveLength((en.match(/To check|Not paid/g) ?? []).length)
      return [en, pt] as const
    })
    for (const reference of states) yield* inBoth(`show ${reference}`)
    const [en, pt] = yield* inBoth("list --state all")
    expect(pt.match(/Paused|OutcomeUnknown|Operator|RequestRejected/g)).toEqual(
      en.match(/Paused|OutcomeUnknown|Operator|RequestRejected/g)
    )
    const [csv, emPortugues] = yield* inBoth("list --state all --csv")
    expect(linesOf(emPortugues)[0]!.split(",")).toHaveLength(linesOf(csv)[0]!.split(",").length)
    yield* rows(
      ["retry --because Paused", 2, "", /accepted \(Paused\)/],
      ["cancel --because Paused", 2, "", /1 payout, R\$ 10,00/],
      ["resume --because Operator", 2, "", /1 payout, R\$ 20,00/],
      ["resume --because Nobody", 1, "", /Paused/]
    )
  })

  live("a payout is settled as failed after a warning about its money, and not while it is asked again", function* () {
    const { rows } = yield* operate(database)
    yield* rows(
      ["settle posted --as failed", 2, "", /MONEY MAY HAVE MOVED: the service recorded it as withdrawal 7\. Look into/],
      ["settle unknown --as failed", 4, "", /^settle changed nothing: .* Park it/],
      ["park unknown --yes", 0, /is parked/],
      ["settle unknown --as failed", 2, "", /MONEY MAY HAVE MOVED: a request of it left\. Look into/],
      ["settle posted --as failed --yes --by ana", 0, /is failed/],
      ["show posted", 0, /Settled \(failed\) by ana/]
    )
  })
})

describe("a step that nobody takes", () => {
  live("a step that nobody takes is refused before anything is read, for every step", function* () {
    const page = readFileSync(new URL("../../docs/command.md", import.meta.url), "utf8")
    const steps = Array.from(page.matchAll(/^\| `((?:payouts|webhooks) [^`]+)` /gm), ([, step = ""]) => step)
    expect(steps).toHaveLength(16)
    const more: Readonly<Record<string, string>> = { settle: " --as paid", judge: " --as refused --seen x" }
    const rows = steps.map((step): Row => {
      const name = step.split(" ").at(-1) ?? ""
      const subject = /^(?:pause|continue|limits)$/.test(name) ? "" : " x"
      return [`${step}${subject}${more[name] ?? ""} --yes`, 1, "", /Missing required flag: --by/]
    })
    // Without DATABASE_URL, which is the next thing that each needs.
    yield* runRows({}, rows)
    for (const by of [" ", "x".repeat(101)])
      yield* runRows({ EFFECT_PIX_BY: by }, [["payouts pause --yes", 1, "", /the name of who takes this step/]])
    yield* runRows({ EFFECT_PIX_BY: "ana" }, [["payouts pause --yes", 1, "", /DATABASE_URL is not set/]])
  })
})

describe("the database of DATABASE_URL", () => {
  live("the error of a wrong database names the mistake, without its password, and nothing is created", function* () {
    const missing = join(yield* folder, "absent.sqlite")
    const text = join(yield* folder, "text.sqlite")
    writeFileSync(text, "This is no database. ".repeat(100))
    for (const [url, code, words] of [
      ["mysql://root:hunter2@localhost/x", 1, "names no database that is there. Write it as postgres:"],
      ["'postgres://me:hunter2@db/x'", 1, "without quotes"],
      ["postgres://me:hunter2@[db/x", 1, "names no database"],
      ["${HUNTER}", 1, "names no database"],
      ["postgres://me:hunter2@127.0.0.1:1/x", 6, "nobody listens there"],
      ["postgres://me:hunter2@pix.invalid/x", 6, "the host name"],
      [missing, 1, "names no database that is there"],
      [`file:${text}`, 1, "cannot be opened as a SQLite database"]
    ] as const) {
      const says = new RegExp(`^(?!.*hunter2).*${words}`, "s")
      yield* runRows({ DATABASE_URL: url }, [["payouts list", code, "", says]])
    }
    expect(existsSync(missing)).toBe(false)
  })

  live("the SQLite file of another program is not changed", function* () {
    const path = yield* folder
    const filename = join(path, "theirs.sqlite")
    const theirs = new DatabaseSync(filename)
    theirs.exec("CREATE TABLE customers (name TEXT)")
    theirs.close()
    const before = readFileSync(filename)
    yield* runRows({ DATABASE_URL: filename }, [
      ["payouts list", 1, "", /names another SQLite file/],
      ["webhooks dead-letters", 1, "", /names another SQLite file/]
    ])
    expect(readFileSync(filename).equals(before)).toBe(true)
    expect(readdirSync(path)).toEqual(["theirs.sqlite"])
  })
})
