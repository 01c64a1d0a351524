/**
 * What a sandbox starts with. Everything has a default, so most programs never touch it.
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
import { type Centavos, centavos } from "../pix/Money.ts"
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
  /** Who receives, as the QR codes say it. Default: `LOJA DE TESTE` in `SAO PAULO`. */
  readonly merchant?: { readonly name: string; readonly city: string } | undefined
  /** The document number that a withdrawal's record names as the creditor's. Default: the CPF `12345678909`. */
  readonly creditorDocument?: string | undefined
  /** Ids are made from it and a count: the same seed gives the same ids. Default: `effect-pix`. */
  readonly seed?: string | undefined
  /** The loopback port of `Sandbox.layerServer`; 0 takes a free one. Default: 0. */
  readonly port?: number | undefined
  /** A loopback address that webhooks go to from the start. Default: none; see also `Sandbox.subscribe`. */
  readonly webhookUrl?: string | URL | undefined
  /** What webhooks carry in the header `X-Webhook-Secret`, which is made up. Default: no such header. */
  readonly webhookSecret?: Redacted.Redacted | undefined
}

/** What a sandbox starts with: a `Context.Reference`, read when its layer is built. */
export const SandboxOptions = Context.Reference<SandboxOptions>("effect-pix/sandbox/SandboxOptions", {
  defaultValue: () => ({})
})

export interface Settings {
  readonly clientId: string
  readonly apiKey: Redacted.Redacted
  readonly companyId: number
  readonly balance: Centavos
  readonly pixKey: PixKey.PixKey | undefined
  readonly merchant: { readonly name: string; readonly city: string }
  readonly creditorDocument: string
  readonly seed: string
  readonly port: number
  readonly webhookUrl: string | URL | undefined
  readonly webhookSecret: Redacted.Redacted | undefined
}

export const withDefaults = (options: SandboxOptions): Settings => ({
  clientId: options.clientId ?? "sandbox-client",
  apiKey: options.apiKey ?? Redacted.make("sandbox-key"),
  companyId: options.companyId ?? 1,
  balance: centavos(options.balance ?? 0),
  pixKey:
    options.pixKey === undefined ? PixKey.evp("123e4567-e12b-12d1-a456-426655440000") : (options.pixKey ?? undefined),
  merchant: options.merchant ?? { name: "LOJA DE TESTE", city: "SAO PAULO" },
  creditorDocument: options.creditorDocument ?? "12345678909",
  seed: options.seed ?? "effect-pix",
  port: options.port ?? 0,
  webhookUrl: options.webhookUrl,
  webhookSecret: options.webhookSecret
})
