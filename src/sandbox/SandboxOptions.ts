/**
 * The options of a sandbox. All have defaults, so most programs need none.
 *
 * ```ts
 * import { Layer } from "effect"
 * import { Sandbox, SandboxOptions } from "effect-pix/sandbox"
 *
 * // A company with R$ 500,00 and no PIX key on file.
 * const rich = Layer.provide(Sandbox.layerPayments, Layer.succeed(SandboxOptions, { balance: 50_000, pixKey: null }))
 * ```
 */
import * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import { centavos } from "../pix/Money.ts"
import * as PixKey from "../pix/PixKey.ts"

/** See the reference of the same name. */
export interface SandboxOptions {
  /** The client id that the sandbox accepts. Default: `sandbox-client`. */
  readonly clientId?: string | undefined
  /** The secret key that the sandbox accepts. Default: `sandbox-key`. */
  readonly apiKey?: Redacted.Redacted | undefined
  /** The company's id. Default: 1. */
  readonly companyId?: number | undefined
  /** The balance to start with, in centavos. Default: 0. */
  readonly balance?: number | undefined
  /** The PIX key on the company's bank account; `null` for none. Default: a random key (EVP). */
  readonly pixKey?: PixKey.PixKey | null | undefined
  /** The name and the city of the payee, as the QR codes have them. Default: `LOJA DE TESTE` in `SAO PAULO`. */
  readonly merchant?: { readonly name: string; readonly city: string } | undefined
  /** The document number that a withdrawal's record names as the creditor's. Default: the CPF `12345678909`. */
  readonly creditorDocument?: string | undefined
  /**
   * Ids are made from the seed and a count: the same seed makes the same ids. Default: in memory `effect-pix`, so that tests
   * are repeatable; for a server a random seed at each start, so that its ids do not repeat in your database.
   */
  readonly seed?: string | undefined
  /** The port of `Sandbox.layerServer`; 0 takes a free one. Default: 0. */
  readonly port?: number | undefined
  /**
   * The address that `Sandbox.layerServer` listens on. Default: `127.0.0.1`. Everybody who can reach the address can steer
   * the sandbox.
   */
  readonly host?: string | undefined
  /** Loopback addresses that webhooks go to from the start. Default: none; see also `Sandbox.subscribe`. */
  readonly webhookUrl?: string | URL | ReadonlyArray<string | URL> | undefined
  /**
   * Names of hosts that count as this machine, as between containers: requests to these names are answered, and webhooks
   * may be sent to them. Default: none.
   */
  readonly allowHost?: string | ReadonlyArray<string> | undefined
  /** The value of the header `X-Webhook-Secret` of webhooks. The header is made up. Default: no such header. */
  readonly webhookSecret?: Redacted.Redacted | undefined
  /**
   * Whether a request without `Accept`, `Content-Type` or `currency` is refused, as the contract requires all three.
   * `false` takes it. Default: true.
   */
  readonly strict?: boolean | undefined
  /**
   * How the sandbox answers. `documented`: by the contract alone. `seen`: as the gateway was seen to answer beyond its document
   * (`docs/service.md`), which a program should bear as well. Default: that of the `stateFile`, or `documented`.
   */
  readonly as?: "documented" | "seen" | undefined
  /** How many of the last requests, and of the last webhooks, can be read. Default: 1000. */
  readonly keep?: number | undefined
  /** The file in which `Sandbox.layerServer` stores its state, for the next start. Default: none, nothing is stored. */
  readonly stateFile?: string | undefined
}

/** The options of a sandbox: a `Context.Reference`, read when its layer is built. */
export const SandboxOptions = Context.Reference<SandboxOptions>("effect-pix/SandboxOptions", {
  defaultValue: () => ({})
})

const listOf = <A>(given: A | ReadonlyArray<A> | undefined): ReadonlyArray<A> => {
  if (given === undefined) return []
  return Array.isArray(given) ? given : [given as A] // an array is no target and no name
}

/** Fills in the defaults. `seed` is for options without a seed. If it is absent too, the seed is that of tests. */
export const withDefaults = (options: SandboxOptions, seed?: string) => ({
  clientId: options.clientId ?? "sandbox-client",
  apiKey: options.apiKey ?? Redacted.make("sandbox-key"),
  companyId: options.companyId ?? 1,
  balance: centavos(options.balance ?? 0),
  pixKey:
    options.pixKey === undefined ? PixKey.evp("123e4567-e12b-12d1-a456-426655440000") : (options.pixKey ?? undefined),
  merchant: options.merchant ?? { name: "LOJA DE TESTE", city: "SAO PAULO" },
  creditorDocument: options.creditorDocument ?? "12345678909",
  seed: options.seed ?? seed ?? "effect-pix",
  /** Whether the seed is the user's, or that of tests. */
  isSeeded: options.seed !== undefined || seed === undefined,
  port: options.port ?? 0,
  host: options.host ?? "127.0.0.1",
  webhookUrls: listOf<string | URL>(options.webhookUrl),
  /** In lower case, as URLs have them. */
  allowedHosts: listOf(options.allowHost).map((name) => name.toLowerCase()),
  webhookSecret: options.webhookSecret,
  strict: options.strict ?? true,
  as: options.as,
  keep: options.keep ?? 1000,
  stateFile: options.stateFile
})

/** The options with every default filled in. */
export type Settings = ReturnType<typeof withDefaults>
