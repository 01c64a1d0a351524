import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Result, Schedule } from "effect"
import { Credentials, IdempotencyKeyGen, type OutcomeUnknown, Payments, PaymentsPolicy } from "effect-pix"
import { NodePayments } from "effect-pix/node"
import { Fault, Sandbox, SandboxOptions } from "effect-pix/sandbox"
import type { HttpClient } from "effect/http"
import { calls, companyId, createTransaction, lookUp, type OperationCall } from "../support/operations.ts"
import { fixture, type Play, serveBlindly, serveRaw, serveTls, serveTlsThenPlain } from "../support/RawServer.ts"
import {
  expectedOf,
  outcomeOf,
  transports,
  type Transport,
  names,
  limit,
  type Row,
  succeeded,
  lost,
  rows,
  written,
  good,
  bytes
} from "../support/faultRows.ts"
import { runs } from "../support/seed.ts"
import { attemptTime, headsFrom, until } from "../support/timers.ts"
import { live } from "../support/effect.ts"

const always = { retryReads: Schedule.recurs(1), retryWrites: Schedule.recurs(1), maxResponseBytes: limit }
/** One retry, without a wait. The test sets the time limit of an attempt. */
const within = (attemptTimeout: Duration.Input) =>
  PaymentsPolicy.make({ ...always, attemptTimeout, deadline: Duration.infinity })
const patient = within("1 hour")

const quiet = Logger.layer([])

const clientOf = (baseUrl: string, credentials: Parameters<typeof Credentials.layer>[0]) => (transport: Transport) =>
  Payments.layer({ baseUrl }).pipe(
    Layer.provide([transports[transport], Credentials.layer(credentials), IdempotencyKeyGen.layerSequential])
  )

/** A port that the system gives to nobody. */
const refusing = "http://127.0.0.1:4"

const anyone = { clientId: "client", apiKey: Redacted.make("secret") }

/** The parts of a write that must be the same on each of its attempts. */
const sent = (requests: Effect.Success<Sandbox["Service"]["requests"]>) =>
  new Set(requests.map(({ body, idempotencyKey }) => `${idempotencyKey ?? "no key"} ${body}`))

const sandbox = Layer.provide(Sandbox.layerServer, Layer.succeed(SandboxOptions, { balance: 100_000, companyId }))

/** Makes one call to a new server with planned faults. */
const play = Effect.fnUntraced(
  function* (
    call: OperationCall,
    transport: Transport,
    { faults, stalls }: Pick<Row, "faults" | "stalls">,
    times: number
  ) {
    const { baseUrl, credentials, fault, requests, transactions, withdrawals } = yield* Sandbox
    return yield* Effect.gen(function* () {
      // The lookup needs a transaction. The request that creates it is not counted.
      if (call.operation === "getTransaction") yield* createTransaction.run
      const known = (yield* transactions)[0]?.transactionId
      const run = known === undefined ? call.run : lookUp(known)
      const before = (yield* requests).length
      yield* fault(call.operation, typeof faults === "function" ? faults(baseUrl) : faults, { times })
      const attempt = attemptTime()
      const policy = stalls === undefined ? patient : within(attempt.millis)
      const fiber = yield* Effect.forkChild(Effect.result(Effect.provideService(run, PaymentsPolicy, policy)), {
        startImmediately: true
      })
      const headsBefore = headsFrom(baseUrl)
      for (const attempts of stalls === undefined ? [] : [1, 2].slice(0, times)) {
        const stalled = Effect.map(requests, (all) =>
          stalls === "head" ? headsFrom(baseUrl) - headsBefore === attempts : all.length - before === attempts
        )
        yield* until(stalled, fiber)
        attempt.expire()
      }
      const result = yield* Fiber.join(fiber)
      const arrived = (yield* requests).slice(before)
      assert.isAtMost(sent(arrived).size, 1, "the attempts of one call differ")
      const executed = yield* call.operation === "createTransaction" ? transactions : withdrawals
      return { outcome: outcomeOf(result, arrived.length), executed: call.isWrite ? executed.length : 0 }
    }).pipe(Effect.provide(clientOf(baseUrl, yield* credentials)(transport)))
  },
  Effect.provide([sandbox, quiet])
)

/** Checks the operations concurrently. */
const each = <R>(own: ReadonlyArray<OperationCall>, check: (call: OperationCall) => Effect.Effect<void, unknown, R>) =>
  Effect.forEach(own, check, { concurrency: "unbounded", discard: true })

/**
 * The operations of a test: all of them in `npm run soak`. In `npm test` they are one write and one read, so that each
 * operation is tested with each row over one of the transports, and each transport with each row.
 */
const operationsOf = (turn: number) =>
  [calls.filter(({ isWrite }) => isWrite), calls.filter(({ isWrite }) => !isWrite)].flatMap((all) =>
    all.filter((_, at) => runs(Number(at === turn % all.length), 1) === 1)
  )

describe.each(names)("over %s", (transport) => {
  describe("a gateway that fails", () => {
    for (const [index, row] of rows.entries()) {
      const own = operationsOf(index + names.indexOf(transport))
      it.live(
        `${own.map(({ operation }) => operation).join(" and ")} over ${transport} end as documented after ${row.name}`,
        () =>
          each(own, (call) =>
            Effect.gen(function* () {
              const expected = expectedOf(row, call, transport)
              const isSequence = Array.isArray(row.faults)
              const lasting = yield* play(call, transport, row, isSequence ? 1 : Infinity)
              assert.deepStrictEqual(
                lasting,
                { outcome: expected, executed: call.isWrite ? row.executed : 0 },
                call.operation
              )

              // A retry succeeds if the fault has ended by then, and nothing is executed twice.
              if (isSequence || expected.requests !== 2) return
              const once = yield* play(call, transport, row, 1)
              assert.deepStrictEqual(
                once,
                { outcome: succeeded(2).read, executed: call.isWrite ? 1 : 0 },
                `${call.operation}, at the second attempt`
              )
            })
          )
      )
    }
  })

  describe("a connection that is never made", () => {
    /** No request arrives, so the attempts are counted by the error. */
    const unsent = (reason: string, attempts: number) => (call: OperationCall) => ({
      tag: "ServiceUnavailable",
      outcome: call.isWrite ? "NotSent" : "NoEffect",
      reason,
      attempts
    })
    const failure = Effect.fnUntraced(function* (
      call: OperationCall,
      baseUrl: string,
      over: Layer.Layer<HttpClient.HttpClient>,
      policy: PaymentsPolicy = patient
    ) {
      const client = Payments.layer({ baseUrl }).pipe(
        Layer.provide([over, Credentials.layer(anyone), IdempotencyKeyGen.layerSequential])
      )
      const error = yield* Effect.flip(call.run).pipe(
        Effect.provide([client, quiet]),
        Effect.provideService(PaymentsPolicy, policy)
      )
      const reason = "reason" in error ? error.reason : undefined
      return { tag: error._tag, outcome: error.outcome, reason, attempts: error.attempts }
    })
    const nothing: Play = (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")

    it.live(`a port that refuses proves over ${transport} that nothing was sent`, () =>
      each(calls, (call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, refusing, transports[transport])
          assert.deepStrictEqual<unknown>(error, unsent("NoConnection", 2)(call), call.operation)
        })
      )
    )

    it.live(`a name that does not resolve proves over ${transport} that nothing was sent`, () =>
      each(calls, (call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, "https://nothing.invalid", transports[transport])
          assert.deepStrictEqual<unknown>(error, unsent("NameNotResolved", 2)(call), call.operation)
        })
      )
    )

    live(`a self-signed certificate proves over ${transport} that nothing was sent`, function* () {
      const server = yield* serveTls(nothing)
      yield* each(calls, (call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport])
          assert.deepStrictEqual<unknown>(error, unsent("Tls", 1)(call), call.operation)
        })
      )
      assert.strictEqual(server.requests(), 0)
      assert.strictEqual(server.connections(), calls.length)
    })

    /**
     * A transport that trusts the certificate, and expects the name `servername` if it is given. fetch has no such
     * option.
     */
    const trusting = (named: { readonly servername?: string }) =>
      ({
        fetch: undefined,
        "our fetch": undefined,
        undici: NodeHttpClient.layerUndiciOptions({ connect: { ca: fixture.cert, ...named } }),
        "node:http": NodeHttpClient.layerNodeHttpOptions({ ca: fixture.cert, ...named }),
        "effect-pix/node": Layer.orDie(NodePayments.layerHttpClient({ tls: { ca: fixture.cert, ...named } }))
      })[transport]
    const trustingLayer = trusting({})
    live.skipIf(trustingLayer === undefined)(
      `a certificate of another host proves over ${transport} that nothing was sent`,
      function* () {
        const server = yield* serveTls(nothing)
        yield* each(calls, (call) =>
          Effect.gen(function* () {
            const over = trustingLayer ?? transports[transport]
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, over)
            assert.deepStrictEqual<unknown>(error, unsent("Tls", 1)(call), call.operation)
          })
        )
        assert.strictEqual(server.requests(), 0)
      }
    )

    live(`a call over ${transport} to a port without TLS fails as documented`, function* () {
      const server = yield* serveBlindly("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
      yield* each(calls, (call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport])
          assert.deepStrictEqual<unknown>(error, unsent("Tls", 1)(call), call.operation)
        })
      )
    })

    // The errors of most transports do not show whether the request left in these two cases. One transport knows.
    const knows = transport === "effect-pix/node"
    const perhapsSent = (reason: string) => (call: OperationCall) => ({
      ...unsent(reason, 2)(call),
      ...(call.isWrite && !knows && { tag: "OutcomeUnknown", outcome: "Unknown" })
    })

    live(`a call over ${transport} whose connection ends in the TLS handshake fails as documented`, function* () {
      const server = yield* serveBlindly("")
      yield* each(calls, (call) =>
        Effect.gen(function* () {
          const error = yield* failure(call, `https://127.0.0.1:${server.port}`, transports[transport])
          assert.deepStrictEqual<unknown>(error, perhapsSent("ConnectionLost")(call), call.operation)
        })
      )
    })

    const named = trusting({ servername: "another.example" })
    live.skipIf(named === undefined)(
      `a write over ${transport} has an unknown outcome if plain bytes answer its TLS`,
      function* () {
        const server = yield* serveTlsThenPlain("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
        yield* each(calls, (call) =>
          Effect.gen(function* () {
            const over = named ?? transports[transport]
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, over)
            const outcome = call.isWrite ? "Unknown" : "NoEffect"
            assert.deepStrictEqual([error.outcome, error.attempts], [outcome, 2], call.operation)
          })
        )
        assert.strictEqual(server.requests(), 2 * calls.length)
      }
    )

    live(`a call over ${transport} whose TLS handshake stalls fails as documented`, function* () {
      const server = yield* serveBlindly(null)
      const attempt = attemptTime()
      // The layer does not wait at its end for a connection that is never made.
      const over = knows
        ? Layer.orDie(NodePayments.layerHttpClient({ shutdownTimeout: "1 millis" }))
        : transports[transport]
      const failing = yield* Effect.forkChild(
        each(calls, (call) =>
          Effect.gen(function* () {
            const policy = within(attempt.millis)
            const error = yield* failure(call, `https://127.0.0.1:${server.port}`, over, policy)
            assert.deepStrictEqual<unknown>(error, perhapsSent("Timeout")(call), call.operation)
          })
        )
      )
      for (const _ of ["first", "second"]) {
        const stalled = () => attempt.running() === calls.length && server.connections() >= calls.length
        yield* until(Effect.sync(stalled), failing)
        attempt.expire()
      }
      yield* Fiber.join(failing)
    })
  })

  describe("bytes that come back", () => {
    for (const [index, row] of bytes.entries()) {
      const own = operationsOf(index + names.indexOf(transport))
      it.live(
        `${own.map(({ operation }) => operation).join(" and ")} over ${transport} read ${row.name} as documented`,
        () =>
          each(own, (call) =>
            Effect.gen(function* () {
              const server = yield* serveRaw(row.play(call))
              const result = yield* Effect.result(call.run).pipe(
                Effect.provide([clientOf(`http://127.0.0.1:${server.port}`, anyone)(transport), quiet]),
                Effect.provideService(PaymentsPolicy, patient)
              )
              assert.deepStrictEqual(
                outcomeOf(result, server.requests()),
                expectedOf(row, call, transport),
                call.operation
              )
            })
          )
      )
    }
  })

  describe("a connection that is used again", () => {
    /** A server that answers the first request of each connection, and closes the connection at the second. */
    const stale = (call: OperationCall) => {
      const used = new WeakSet<object>()
      return serveRaw((socket, request) => {
        if (used.has(socket)) return void socket.destroy()
        used.add(socket)
        written(...good(call))(socket, request)
      })
    }
    // By default this transport does not use a connection again.
    const keeping =
      transport === "node:http" ? NodeHttpClient.layerNodeHttpOptions({ keepAlive: true }) : transports[transport]

    it.live(`a request whose reused connection breaks is not sent again by ${transport}`, () =>
      each(calls, (call) =>
        Effect.gen(function* () {
          const server = yield* stale(call)
          const once = Effect.result(call.run)
          // A transport may open another connection first, so the call is repeated until a connection is used again.
          const client = Payments.layer({ baseUrl: `http://127.0.0.1:${server.port}` }).pipe(
            Layer.provide([keeping, Credentials.layer(anyone), IdempotencyKeyGen.layerSequential])
          )
          yield* Effect.gen(function* () {
            for (let count = 1; count <= 50; count++) {
              const result = yield* Effect.provideService(once, PaymentsPolicy, PaymentsPolicy.once)
              if (Result.isSuccess(result)) continue
              const { read, write } = lost("ConnectionLost", undefined, count)
              assert.deepStrictEqual(outcomeOf(result, server.requests()), call.isWrite ? write : read, call.operation)
              return
            }
            assert.fail("no connection was used again")
          }).pipe(Effect.provide([client, quiet]))
        })
      )
    )
  })

  describe("a call that is interrupted while its request is under way", () => {
    it.live(
      `a call that is interrupted closes its connection over ${transport}, and a write is reported with its key`,
      () =>
        each(calls, (call) =>
          Effect.gen(function* () {
            const arrived = yield* Deferred.make<void>()
            const closed = yield* Deferred.make<void>()
            const server = yield* serveRaw((socket) => {
              socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
              Deferred.doneUnsafe(arrived, Effect.void)
            })
            const reports: Array<OutcomeUnknown> = []
            const policy = PaymentsPolicy.make({
              onInterruptedWrite: (report) => Effect.sync(() => void reports.push(report))
            })
            const fiber = yield* Effect.forkChild(
              call.run.pipe(
                Effect.provide([clientOf(`http://127.0.0.1:${server.port}`, anyone)(transport), quiet]),
                Effect.provideService(PaymentsPolicy, policy)
              )
            )
            yield* Deferred.await(arrived)
            yield* Fiber.interrupt(fiber)
            assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
            yield* Deferred.await(closed)
            assert.strictEqual(server.requests(), 1)
            assert.deepStrictEqual(
              reports.map(({ idempotencyKey, outcome, reason }) => [idempotencyKey, outcome, reason]),
              call.isWrite ? [[call.operation === "createTransaction" ? "tx_1" : "wd_1", "Unknown", "Interrupted"]] : []
            )
          })
        )
    )
  })

  describe("the policy says what of a write is sent again", () => {
    const modes = { "same-key": [2, 2], "only-unsent": [1, 2], never: [1, 1] } as const
    const writes = calls.filter(({ isWrite }) => isWrite)
    for (const [mode, [ofSent, ofUnsent]] of Object.entries(modes)) {
      for (const call of writes) {
        live(
          `the policy ${mode} decides over ${transport} after which failures ${call.operation} is sent again`,
          sandbox,
          function* () {
            const { baseUrl, credentials, fault, requests } = yield* Sandbox
            const policy = { ...patient, writes: mode as keyof typeof modes } // the names of `modes` itself
            const known = yield* credentials
            const attemptsAt = (url: string) =>
              Effect.map(Effect.flip(call.run), (error) => error.attempts).pipe(
                Effect.provide([clientOf(url, known)(transport), quiet]),
                Effect.provideService(PaymentsPolicy, policy)
              )
            yield* fault(call.operation, Fault.resetAfter, { times: Infinity })
            assert.strictEqual(yield* attemptsAt(baseUrl), ofSent)
            assert.strictEqual((yield* requests).length, ofSent)
            assert.strictEqual(yield* attemptsAt(refusing), ofUnsent)
          }
        )
      }
    }
  })
})
