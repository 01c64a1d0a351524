// A gateway in a process of its own. It prints where it is, and then answers each line that it reads:
// `faults <count> <seed>` plans faults, `slow <count> <ms>` late answers, `forget` forgets all keys, `ledger` prints what was executed.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted, Stream } from "effect"
import { createInterface } from "node:readline"
import * as Fault from "../../src/sandbox/Fault.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import { SandboxOptions } from "../../src/sandbox/SandboxOptions.ts"
import { seeded } from "../support/seed.ts"
import * as Raw from "../support/rawReplies.ts"

/** Lost replies, failures before and after the money moved, rate limits, and refusals with words of a gateway. */
const faults: ReadonlyArray<Fault.Fault> = [
  Fault.none,
  Fault.latency("200 millis", { executed: true }),
  Fault.latency("300 millis", { executed: true }),
  Fault.latency("900 millis", { executed: true }),
  Fault.resetAfter,
  Raw.hangUpAfter,
  Fault.resetBefore,
  Fault.truncated,
  Fault.refusal(500, "Erro interno."),
  Fault.refusal(500, "Erro interno.", { executed: true }),
  Fault.refusal(503, "Serviço indisponível."),
  Fault.retryAfter("1 second"),
  Fault.refusal(429, "Muitas requisições."),
  Fault.refusal(422, "Chave PIX não encontrada no DICT."),
  Fault.refusal(400, "Saldo insuficiente para o saque."),
  Fault.refusal(422, "Transação em duplicidade.", { executed: true }),
  Fault.html(502)
]

const program = Effect.gen(function* () {
  const sandbox = yield* Sandbox
  const { apiKey, clientId } = yield* sandbox.credentials
  const printJson = (value: unknown) => Console.log(JSON.stringify(value))
  yield* printJson({ baseUrl: sandbox.baseUrl, clientId, apiKey: Redacted.value(apiKey) })
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), (cause) => cause).pipe(
    Stream.runForEach((line) =>
      Effect.gen(function* () {
        const [command, count = 0, detail = 0] = line
          .split(" ")
          .map((word, index) => (index === 0 ? word : Number(word)))
        const times = Number(count)
        if (command === "faults") {
          const { below } = seeded(Number(detail))
          const planned = Array.from({ length: times }, () => faults[below(faults.length)] ?? Fault.none)
          yield* sandbox.fault("requestWithdrawal", planned)
        }
        if (command === "slow") {
          yield* sandbox.fault("requestWithdrawal", Fault.latency(Number(detail), { executed: true }), { times })
        }
        if (command === "calm") yield* sandbox.clearFaults
        if (command === "forget") yield* sandbox.forgetKeys
        const withdrawals = yield* sandbox.withdrawals
        yield* printJson({
          requests: (yield* sandbox.requests).length,
          keys: withdrawals.map(({ idempotencyKey }) => idempotencyKey)
        })
      })
    )
  )
})

const options = Layer.succeed(SandboxOptions, { balance: 1_000_000_000, keep: 1_000_000 })
NodeRuntime.runMain(Effect.provide(program, Layer.provide(Sandbox.layerServer, options)))
