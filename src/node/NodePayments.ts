/**
 * A transport for Node: undici's `dispatch` under Effect's `HttpClient`. It is the fastest way to call the service from
 * Node, and it can say whether a request was given to a connection.
 *
 * Details:
 * - A write is `NotSent` if its connection was never made, or if it waited for a connection until its time was over. It is
 *   `Unknown` if its connection broke after the request was started.
 * - The transport repeats nothing, follows no redirect, asks for no compression, and reads at most
 *   `PaymentsPolicy.maxResponseBytes` of an answer.
 * - A timer of the transport limits each attempt. No socket and no timer is left open.
 * - When the layer's scope closes, it waits for the calls under way, for at most `shutdownTimeout`.
 *
 * Gotchas:
 * - The package `undici` must be installed.
 * - `Payments` sends by the dispatcher, not through the `HttpClient` object that the layer provides with it. An `HttpClient`
 *   of your own, also one that you made from this one (`HttpClient.mapRequest`, `transformResponse` and so on), is used as it
 *   is: your additions have their effect, and it costs what any `HttpClient` costs. This one needs `@effect/platform-node`,
 *   which is loaded at its first request.
 */
declare module "./NodePayments.ts" {}

import type * as Duration from "effect/Duration"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ConnectionOptions } from "node:tls"
import type * as Undici from "undici"
import type { Dispatcher, Pool } from "undici"
import { Payments } from "../client/Payments.ts"
import type { PaymentsClient } from "../client/PaymentsClient.ts"
import type { WithdrawalLookup } from "../client/WithdrawalLookup.ts"
import { type ConfigurationError, settingError } from "../contract/ConfigurationError.ts"
import { checkSettingsBy, period, whole, withDefault } from "../contract/Options.ts"
import { clientWithTransport } from "../internal/transport.ts"
import { transportOf } from "./internal/exchange.ts"

/** TLS of the connections: the options of Node's `tls.connect`, without those that switch off its checks. */
export type TlsOptions = Pick<
  ConnectionOptions,
  "ca" | "cert" | "ciphers" | "key" | "maxVersion" | "minVersion" | "passphrase" | "servername"
>

/** Options of the transport. */
export interface Options {
  /** The most connections to the service at a time; further calls wait for one. Default 128. */
  readonly connections?: number | undefined
  /** How long connecting may take, TLS included. Default 10 seconds. */
  readonly connectTimeout?: Duration.Input | undefined
  /** How long an idle connection stays open, unless the service asks for a shorter time. Default 4 seconds. */
  readonly keepAliveTimeout?: Duration.Input | undefined
  /** Certificates and other options of TLS. Default: the certificates that Node trusts. */
  readonly tls?: TlsOptions | undefined
  /** How long the end of the layer's scope waits for calls that are under way. Default 10 seconds. */
  readonly shutdownTimeout?: Duration.Input | undefined
  /**
   * Your own dispatcher, such as undici's `ProxyAgent`. The options above do not apply to it, and the layer does not close
   * it. Do not give one that repeats requests (`RetryAgent`): it would send an attempt of this library more than once.
   */
  readonly dispatcher?: Dispatcher | undefined
}

const check = checkSettingsBy(
  Schema.Struct({
    connections: withDefault(whole(1), 128),
    connectTimeout: withDefault(period, "10 seconds"),
    keepAliveTimeout: withDefault(period, "4 seconds"),
    shutdownTimeout: withDefault(period, "10 seconds")
  })
)

type Limits = Effect.Success<ReturnType<typeof check>>

/** `undici` is loaded when a layer is built: a program that uses only `NodeSqlite` need not install it. */
const undici = Effect.tryPromise({
  try: () => import("undici"),
  catch: (error) =>
    Predicate.hasProperty(error, "code") && error.code === "ERR_MODULE_NOT_FOUND"
      ? settingError("undici", "is not installed: NodePayments needs this package (npm install undici)", "Missing")
      : settingError("undici", "is installed and could not be loaded: it needs Node 22.19 or newer")
})

/** The proxies of the environment; an empty text is none. */
type Proxies = Readonly<Record<"httpProxy" | "httpsProxy" | "noProxy", string>>

/** A variable in small letters, which counts first, or in capitals. */
const variable = (name: string) =>
  Config.String(name.toLowerCase()).pipe(
    Config.orElse(() => Config.String(name)),
    Config.withDefault("")
  )

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, where one of the first two is set. */
const proxiesOfEnvironment = Effect.gen(function* () {
  const [httpsProxy, httpProxy, noProxy] = yield* Config.all([
    variable("HTTPS_PROXY"),
    variable("HTTP_PROXY"),
    variable("NO_PROXY")
  ])
  return httpsProxy === "" && httpProxy === "" ? undefined : { httpsProxy, httpProxy, noProxy }
}).pipe(Effect.mapError(() => settingError("HTTPS_PROXY", "could not be read", "Unreadable")))

/**
 * Makes an agent, and the effect that closes it: it waits for the requests under way, then destroys the other
 * connections.
 */
const makeAgent = (
  { Agent, EnvHttpProxyAgent, Pool }: typeof Undici,
  limits: Limits,
  tls: TlsOptions | undefined,
  proxies: Proxies | undefined
): { readonly agent: Dispatcher; readonly close: Effect.Effect<unknown> } => {
  // A closing agent has dropped the list of its pools, so the pools are collected here, to be destroyed.
  const pools = new Set<Pool>()
  const options = {
    connections: limits.connections,
    pipelining: 1,
    keepAliveTimeout: limits.keepAliveTimeout,
    connect: { ...tls, timeout: limits.connectTimeout },
    factory: (origin: string | URL, settings: object) => {
      const pool = new Pool(origin, settings)
      pools.add(pool)
      return pool
    }
  }
  const agent =
    proxies === undefined
      ? new Agent(options)
      : new EnvHttpProxyAgent({ ...options, ...proxies, connectTimeout: limits.connectTimeout })
  const close = Effect.promise(() => agent.close()).pipe(
    Effect.timeoutOption(limits.shutdownTimeout),
    Effect.andThen(Effect.promise(() => Promise.all([agent.destroy(), ...Array.from(pools, (pool) => pool.destroy())])))
  )
  return { agent, close }
}

const acquireAgent = (limits: Limits, tls: TlsOptions | undefined, proxies: Proxies | undefined) =>
  Effect.acquireRelease(
    Effect.flatMap(undici, (loaded) =>
      Effect.try({
        try: () => makeAgent(loaded, limits, tls, proxies),
        // The URL may have a password, which undici's error repeats.
        catch: () =>
          settingError("HTTPS_PROXY or HTTP_PROXY", "is no URL of a proxy, such as http://proxy.example:3128")
      })
    ),
    ({ close }) => close
  )

/** Effect's `HttpClient` on a dispatcher. It is loaded at its first request, since `Payments` sends without it. */
const clientOf = (dispatcher: Dispatcher): Effect.Effect<HttpClient.HttpClient> => {
  const load = Effect.flatMap(
    Effect.tryPromise(() => import("@effect/platform-node/NodeHttpClient")),
    (loaded) => Effect.provideService(loaded.makeUndici, loaded.Dispatcher, dispatcher)
  )
  const execute = (client: typeof load, request: HttpClientRequest.HttpClientRequest) => {
    // This error proves that nothing was sent.
    const missing = () =>
      new HttpClientError.EncodeError({
        request,
        description: "The HttpClient of NodePayments needs a package: npm install @effect/platform-node"
      })
    return Effect.flatMap(
      Effect.mapError(client, () => new HttpClientError.HttpClientError({ reason: missing() })),
      (client) => client.execute(request)
    )
  }
  return Effect.map(Effect.cached(load), (client) =>
    HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
      Effect.flatMap((request) => execute(client, request)),
      Effect.succeed
    )
  )
}

/**
 * The `HttpClient` for Node. `Payments` sends over its dispatcher; one that you wrap or bring yourself is used as it is.
 *
 * ```ts
 * import { Effect, Layer, Redacted } from "effect"
 * import { Credentials, Payments } from "effect-pix"
 * import { NodePayments } from "effect-pix/node"
 *
 * const payments = Payments.layer({ baseUrl: "https://gateway.example" }).pipe(
 *   Layer.provide([
 *     NodePayments.layerHttpClient({ connections: 32, connectTimeout: "3 seconds" }),
 *     Credentials.layer({ clientId: "id", apiKey: Redacted.make("secret") })
 *   ])
 * )
 *
 * await Effect.runPromise(Effect.scoped(Layer.build(payments)))
 * ```
 */
export const layerHttpClient = (options: Options = {}): Layer.Layer<HttpClient.HttpClient, ConfigurationError> =>
  layerOf(options, Effect.undefined)

const layerOf = (options: Options, proxies: Effect.Effect<Proxies | undefined, ConfigurationError>) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const limits = yield* check(options)
      const dispatcher = options.dispatcher ?? (yield* acquireAgent(limits, options.tls, yield* proxies)).agent
      return clientWithTransport(yield* clientOf(dispatcher), transportOf(dispatcher))
    })
  )

/**
 * The client with all its settings from the environment, over this transport and no `HttpClient` of yours (see
 * `Payments.layerEnv` for that): `PAYMENTS_BASE_URL`, `PAYMENTS_CLIENT_ID`, `PAYMENTS_API_KEY` and, where they are set, `PAYMENTS_COMPANY_ID`, `PAYMENTS_ZONE` and `PAYMENTS_INSECURE`.
 *
 * Where `HTTPS_PROXY` or `HTTP_PROXY` is set, requests go through that proxy, but for the hosts of `NO_PROXY`. A request of which the
 * proxy opened no tunnel is `NotSent`.
 */
export const layer: Layer.Layer<Payments | WithdrawalLookup | PaymentsClient, ConfigurationError> = Layer.suspend(() =>
  Layer.provide(Payments.layerEnv, layerOf({}, proxiesOfEnvironment))
)
