/** The settings of a client: its credentials, base URL and company, from options and from the environment. */
import { assert, describe } from "@effect/vitest"
import {
  type ApiCredentials,
  type ConfigurationError,
  Credentials,
  CredentialsReload,
  IdempotencyKeyGen,
  Merchants,
  Money,
  Payments,
  WithdrawalLookup
} from "effect-pix"
import { HttpClient, HttpClientResponse } from "effect/http"
import { Config, ConfigProvider, DateTime, Effect, identity, Layer, Logger, Redacted, References } from "effect"
import { printedBy } from "../support/canary.ts"
import { inspect } from "node:util"
import { effect } from "../support/effect.ts"
import { balance, balancePath, charge as requestOf, getBalance } from "../support/operations.ts"
import { paymentsOn, respond, scripted } from "../support/Wire.ts"

const { path } = getBalance
const canary = "canary-7f3e"
const read = Effect.flatMap(Payments, (payments) => payments.getBalance())
const from = (values: Record<string, unknown>) => ConfigProvider.layer(ConfigProvider.fromUnknown(values))

/** A store of settings that returns some and fails for the others. */
const broken = (values: Record<string, string>) =>
  ConfigProvider.layer(
    ConfigProvider.make(([name = ""]) =>
      Object.hasOwn(values, name)
        ? Effect.succeed(ConfigProvider.makeValue(values[name] ?? ""))
        : Effect.fail(new ConfigProvider.SourceError({ message: `the store says ${canary}` }))
    )
  )

/** The settings that a layer refuses. No text that is printed of the error shows a value. */
const refusal = <R>(layer: Layer.Layer<R, ConfigurationError>) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
    assert.strictEqual(error._tag, "ConfigurationError")
    assert.notInclude(JSON.stringify((yield* printedBy(Effect.fail(error))).texts), canary)
    return error.settings.map(({ problem, reason, setting }) => `${reason}: ${setting} ${problem}`)
  })

const reading = (options: Partial<Parameters<typeof paymentsOn>[1]>) => {
  const { layer, sent } = scripted(respond(200, balance))
  return { sent, client: paymentsOn(layer, { baseUrl: "https://gateway.example", companyId: 7, ...options }) }
}

const pair = (clientId: unknown, apiKey: unknown) => ({ clientId, apiKey }) as ApiCredentials // as from JavaScript
const key = Redacted.make("key")
const wiped = Redacted.make(canary)
Redacted.wipeUnsafe(wiped)
const current = Effect.flatMap(Credentials, (credentials) => credentials.current)
const environment = {
  PAYMENTS_BASE_URL: "https://gateway.example",
  PAYMENTS_CLIENT_ID: "client",
  PAYMENTS_API_KEY: canary,
  PAYMENTS_COMPANY_ID: "7"
}
const visible = "may hold visible ASCII characters only, at most 4096 (is there a space or a line break at its end?)"

describe("credentials", () => {
  effect.each(["   ", `${canary}\n`, `${canary}\r\nX-Evil: 1`, `${canary}\u007F`, `${canary}é`, canary.repeat(400)])(
    "are refused where one is a text that no header holds: %j",
    function* (text) {
      const given = pair(text, Redacted.make(text))
      const values = from({ PAYMENTS_CLIENT_ID: text, PAYMENTS_API_KEY: text })
      const problems = (...names: ReadonlyArray<string>) => names.map((name) => `Wrong: ${name} ${visible}`)
      for (const layer of [Credentials.layer(given), CredentialsReload.layer({ load: Effect.succeed(given) })])
        assert.deepStrictEqual(yield* refusal(layer), problems("clientId", "apiKey"))
      assert.deepStrictEqual(
        yield* refusal(Layer.provide(Credentials.layerEnv, values)),
        problems("PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY")
      )
    }
  )

  effect.each([
    [pair(undefined, key), "Missing: clientId is not set"],
    [pair("", key), "Missing: clientId is not set"],
    [pair("client", wiped), "Missing: apiKey is not set"],
    [pair("client", undefined), "Missing: apiKey is not set"],
    [pair("client", canary), "Wrong: apiKey must be wrapped: Redacted.make(...)"],
    [undefined as never, "Wrong: credentials must be { clientId, apiKey }"] // as from JavaScript
  ] as const)("of a program without types, %j, are refused: %s", function* ([given, problem]) {
    assert.deepStrictEqual(yield* refusal(Credentials.layer(given)), [problem])
  })

  effect("from the environment are two settings, and print the name of the setting in place of the key", function* () {
    const layer = Layer.provide(Credentials.layerEnv, from(environment))
    const { apiKey, clientId } = yield* Effect.provide(current, layer)
    const printed = [clientId, Redacted.value(apiKey), inspect(apiKey)]
    assert.deepStrictEqual(printed, ["client", canary, "<redacted:PAYMENTS_API_KEY>"])
  })
})

describe("credentials with a Config for each", () => {
  const layer = Credentials.layerConfig({ clientId: Config.String("TWO_ID"), apiKey: Config.Redacted("TWO_KEY") })

  effect("are read from their own names", function* () {
    const { apiKey, clientId } = yield* Effect.provide(
      current,
      Layer.provide(layer, from({ TWO_ID: "two", TWO_KEY: canary }))
    )
    assert.deepStrictEqual([clientId, Redacted.value(apiKey), inspect(apiKey).includes(canary)], ["two", canary, false])
  })

  effect("that are missing or wrong are named in one error", function* () {
    assert.deepStrictEqual(yield* refusal(Layer.provide(layer, from({ TWO_ID: `${canary} ` }))), [
      notSet("TWO_KEY"),
      `Wrong: clientId ${visible}`
    ])
  })

  effect("and settings of a program's own are read by one Config", function* () {
    const own = Config.all({ credentials: Credentials.config, port: Config.Int("PORT") })
    const read = yield* Effect.provide(own, from({ ...environment, PORT: "8080" }))
    assert.deepStrictEqual(
      [read.credentials.clientId, read.port, Redacted.value(read.credentials.apiKey)],
      ["client", 8080, canary]
    )
  })
})

const notSet = (name: string) => `Missing: ${name} is not set`
const notRead = (name: string) => `Unreadable: ${name} could not be read: the ConfigProvider failed`
const all = ["PAYMENTS_BASE_URL", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY"]
const whole = "must be a whole number from 0"
const zone = "must be a time zone, as America/Sao_Paulo or -03:00"

const refusals: ReadonlyArray<readonly [what: string, ReturnType<typeof from>, ReadonlyArray<string>]> = [
  ["without settings", from({}), all.map(notSet)],
  ["without credentials", from({ PAYMENTS_BASE_URL: environment.PAYMENTS_BASE_URL }), all.slice(1).map(notSet)],
  ["with empty settings", from(Object.fromEntries(all.map((name) => [name, ""]))), all.map(notSet)],
  [
    "of a store that fails",
    broken({}),
    ["PAYMENTS_BASE_URL", "PAYMENTS_COMPANY_ID", "PAYMENTS_ZONE", "PAYMENTS_CLIENT_ID", "PAYMENTS_API_KEY"].map(notRead)
  ],
  ...["-7", "7.5", canary].map((PAYMENTS_COMPANY_ID) => {
    const wrong = [`Wrong: PAYMENTS_COMPANY_ID ${whole}`]
    return [`of the company ${PAYMENTS_COMPANY_ID}`, from({ ...environment, PAYMENTS_COMPANY_ID }), wrong] as const
  }),
  [
    "with wrong, missing and unreadable settings",
    broken({
      PAYMENTS_BASE_URL: "",
      PAYMENTS_COMPANY_ID: canary,
      PAYMENTS_ZONE: canary,
      PAYMENTS_CLIENT_ID: `${canary} `
    }),
    [
      notSet("PAYMENTS_BASE_URL"),
      `Wrong: PAYMENTS_COMPANY_ID ${whole}`,
      `Wrong: PAYMENTS_ZONE ${zone}`,
      `Wrong: PAYMENTS_CLIENT_ID ${visible}`,
      notRead("PAYMENTS_API_KEY")
    ]
  ]
]

describe("a client from the environment", () => {
  effect.each(refusals)("%s names all of its mistakes in one error", function* ([, settings, expected]) {
    assert.deepStrictEqual(yield* refusal(Layer.provide(Payments.layerFetch, settings)), [...expected])
  })

  effect(
    "sends its credentials below its base URL, and reads the balance of its company, which may be 0",
    function* () {
      const { layer, sent } = scripted(respond(200, balance))
      const client = Layer.provide(Payments.layerEnv, [
        layer,
        from({ ...environment, PAYMENTS_BASE_URL: "https://gateway.example/pix/", PAYMENTS_COMPANY_ID: "0" })
      ])
      yield* Effect.provide(read, client)
      const [{ headers, url } = assert.fail("nothing was sent")] = sent
      assert.deepStrictEqual(
        [url, headers["x-client-id"], headers["x-api-key"]],
        [`https://gateway.example/pix${balancePath(0)}?currency=BRL`, "client", canary]
      )
    }
  )

  effect("takes each setting from a Config of its own, for two gateways in one process", function* () {
    const { layer, sent } = scripted(respond(200, balance), respond(200, balance))
    const settings = {
      ONE_URL: "https://one.example",
      ONE_ID: "one",
      ONE_KEY: canary,
      TWO: { URL: "https://two.example", ID: "two", KEY: "key" }
    }
    const at = (name: string, inside: <A>(config: Config.Config<A>) => Config.Config<A>) =>
      Payments.layerConfig({
        baseUrl: inside(Config.String(`${name}URL`)),
        companyId: Config.succeed(1),
        clientId: inside(Config.String(`${name}ID`)),
        apiKey: inside(Config.Redacted(`${name}KEY`))
      })
    for (const client of [at("ONE_", identity), at("", Config.nested("TWO"))])
      yield* Effect.provide(read, client.pipe(Layer.provide([layer, from(settings)])))
    assert.deepStrictEqual(
      sent.map(({ headers, url }) => [new URL(url).host, headers["x-client-id"], headers["x-api-key"]]),
      [
        ["one.example", "one", canary],
        ["two.example", "two", "key"]
      ]
    )
    const wrong = Payments.layerConfig({
      baseUrl: Config.String("ONE_URL"),
      companyId: Config.Finite("ONE_COMPANY"),
      clientId: Config.String("ONE_ID"),
      apiKey: Config.Redacted("ONE_KEY")
    }).pipe(Layer.provide(layer))
    const texts = { ONE_COMPANY: canary, ONE_ID: `${canary} ` }
    assert.deepStrictEqual(yield* refusal(Layer.provide(wrong, from(texts))), [
      notSet("ONE_URL"),
      "Wrong: ONE_COMPANY is not what its Config reads",
      notSet("ONE_KEY"),
      `Wrong: clientId ${visible}`
    ])
    const nothing = ["baseUrl", "companyId", "clientId", "apiKey"].map(notRead)
    assert.deepStrictEqual(yield* refusal(Layer.provide(wrong, broken({}))), nothing)
  })

  effect("needs no IdempotencyKeyGen: each write without a key has a random one", function* () {
    const { layer, sent } = scripted(respond(400, "{}"), respond(400, "{}"))
    const client = Payments.layer({ baseUrl: environment.PAYMENTS_BASE_URL }).pipe(
      Layer.provide([layer, Credentials.layer(pair("client", key))])
    )
    const pay = Effect.flatMap(Payments, (payments) => payments.requestWithdrawal({ amount: Money.centavos(1000) }))
    yield* Effect.provide(Effect.all([Effect.flip(pay), Effect.flip(pay)]), client)
    const keys = sent.map(({ headers }) => headers["idempotency-key"])
    assert.strictEqual(new Set(keys).size, 2)
    for (const made of keys) assert.match(made ?? "", /^wd_[0-9a-f-]{36}$/)
  })

  effect("needs no company", function* () {
    const { layer, sent } = scripted(respond(200, balance))
    const { PAYMENTS_COMPANY_ID: _, ...settings } = environment
    const client = Payments.layerEnv.pipe(Layer.provide([layer, from(settings)]))
    const error = yield* Effect.flip(Effect.provide(read, client))
    assert.deepStrictEqual([error._tag, sent.length], ["InvalidRequest", 0])
  })

  effect("reads a time without an offset in its zone, in every answer and in each way to name the zone", function* () {
    const local = "2026-11-27T11:07:14.997603"
    const times = { createdAt: local, updatedAt: "2026-11-27 11:07", updateDate: "2026-11-27T11:07:14+02:00" }
    const body = (path: string) => {
      if (path.includes("/company/")) {
        const res = { items: [{ id: 1, amount: 1, status: "", ...times }], totalItems: 1, totalPages: 1 }
        return { ok: true, res: { ...res, currentPage: 1, pageSize: 50 } }
      }
      if (path.includes("/Transaction/"))
        return { id: 1, value: 1, transactionId: "t", enStatusTransaction: "", ...times }
      if (path.includes("/Withdraw/")) return { id: 1, value: 10, enTransaction: "Awaiting", ...times }
      const data = { id: "t", amount: 2500, status: "", pix: { qrcode: "0", expiresAt: local } }
      return { data }
    }
    const transport = Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request, url) =>
        Effect.succeed(HttpClientResponse.fromWeb(request, Response.json(body(url.pathname))))
      )
    )
    const { PAYMENTS_BASE_URL: baseUrl } = environment
    const inZone = (PAYMENTS_ZONE: string) =>
      Layer.provide(Payments.layerEnv, [transport, from({ ...environment, PAYMENTS_API_KEY: "key", PAYMENTS_ZONE })])
    const merchants = Merchants.layer({
      baseUrl,
      zone: "-03:00",
      load: () => Effect.succeed(pair("client", key))
    }).pipe(Layer.provide([transport, IdempotencyKeyGen.layer]))
    const ofMerchant = Layer.unwrap(Effect.map(Merchants, ({ get }) => get("shop"))).pipe(Layer.provide(merchants))
    const utc = ["2026-11-27T11:07:14.997Z", "2026-11-27T11:07:00.000Z"]
    const brasilia = ["2026-11-27T14:07:14.997Z", "2026-11-27T14:07:00.000Z"]
    for (const [client, [created, updated]] of [
      [paymentsOn(transport, { baseUrl }), utc],
      [paymentsOn(transport, { baseUrl, zone: "UTC" }), utc],
      [paymentsOn(transport, { baseUrl, zone: "America/Sao_Paulo" }), brasilia],
      [paymentsOn(transport, { baseUrl, zone: "-03:00" }), brasilia],
      [inZone("America/Sao_Paulo"), brasilia],
      [ofMerchant, brasilia]
    ] as const) {
      const [row, detail, withdrawal, charge, looked] = yield* Effect.gen(function* () {
        const payments = yield* Payments
        return [
          (yield* payments.listTransactions()).items[0],
          yield* payments.getTransaction("t"),
          yield* payments.requestWithdrawal({ amount: Money.centavos(1000) }),
          yield* payments.createTransaction(requestOf),
          yield* (yield* WithdrawalLookup).get(1)
        ] as const
      }).pipe(Effect.provide(client))
      const isos = [row?.createdAt, detail.createdAt, withdrawal.createdAt, charge.pix.expirationDate, row?.updatedAt]
      assert.deepStrictEqual(
        isos.map((at) => at && DateTime.formatIso(at)),
        [created, created, created, created, updated]
      )
      assert.strictEqual(looked.createdAt && DateTime.formatIso(looked.createdAt), created)
      for (const { updateDate } of [detail, looked]) {
        assert.strictEqual(updateDate && DateTime.formatIso(updateDate), "2026-11-27T09:07:14.000Z")
      }
    }
  })

  effect("refuses a zone that nobody knows", function* () {
    const { PAYMENTS_BASE_URL: baseUrl } = environment
    for (const wrong of ["Brasilia", "", "-3", `${canary}/x`, 3 as never]) {
      // the last one as from JavaScript
      assert.deepStrictEqual(yield* refusal(paymentsOn(scripted(respond(200)).layer, { baseUrl, zone: wrong })), [
        `Wrong: zone ${zone}`
      ])
      const merchants = Merchants.layer({ baseUrl, zone: wrong, load: () => Effect.undefined })
      assert.deepStrictEqual(
        yield* refusal(Layer.provide(merchants, [scripted(respond(200)).layer, IdempotencyKeyGen.layer])),
        [`Wrong: zone ${zone}`]
      )
    }
  })

  effect("reads PAYMENTS_INSECURE only for a URL of plain http to another host", function* () {
    const build = (PAYMENTS_BASE_URL: string, PAYMENTS_INSECURE: string) => {
      const client = Layer.provide(Payments.layerEnv, scripted(respond(200, balance)).layer)
      const settings = from({ ...environment, PAYMENTS_API_KEY: "key", PAYMENTS_BASE_URL, PAYMENTS_INSECURE })
      const built = Effect.scoped(Layer.build(Layer.provide(client, settings)))
      return Effect.match(Effect.provide(built, Logger.layer([])), {
        onSuccess: () => "built",
        onFailure: ({ message }) => message
      })
    }
    assert.strictEqual(yield* build("http://sandbox:4010", "true"), "built")
    assert.include(yield* build("http://sandbox:4010", "false"), "PAYMENTS_BASE_URL must be https")
    assert.include(yield* build("http://sandbox:4010", "perhaps"), "PAYMENTS_INSECURE=true")
    assert.strictEqual(yield* build("https://gateway.example", "perhaps"), "built")
  })
})

const urls = (row: string) => row.split(" ")
const same = (url: string) => [url, url] as const
const accepted: ReadonlyArray<readonly [baseUrl: string | URL, address: string]> = [
  ...urls("https://gateway.example https://gateway.example:8443 https://gateway.example/pix/v2").map(same),
  ...urls("http://localhost:3000 http://pix.localhost:3000 http://127.8.9.10/pix http://[::1]:3000").map(same),
  ["https://gateway.example/pix/v2/", "https://gateway.example/pix/v2"],
  ["HTTPS://GATEWAY.example/Pix", "https://gateway.example/Pix"],
  [new URL("https://gateway.example/pix"), "https://gateway.example/pix"]
]

const https = "must be https"
const password = "may not hold a user name or password"
const refused: ReadonlyArray<readonly [problem: string, urls: ReadonlyArray<string>]> = [
  ["is not set", ["", " "]],
  ["is not a URL", [canary, `//${canary}`, `https://${canary} .example`]],
  [
    https,
    urls(`http://${canary}.example http://localhost.${canary}.example http://128.0.0.1 http://0.0.0.0 http://[::2]`)
  ],
  [https, urls(`ftp://${canary} file:///${canary} data:text/plain,${canary} javascript:${canary} wss://${canary}`)],
  [password, urls(`https://user:${canary}@a.example https://${canary}@a.example https://:${canary}@a.example`)],
  ["may not hold a query or a fragment", urls(`https://a.example?key=${canary} https://a.example?`)],
  ["may not hold a query or a fragment", urls(`https://a.example/#${canary} https://a.example#`)]
]

describe("the base URL of a client", () => {
  effect.each(accepted)("%s is accepted, and each request is sent below %s", function* ([baseUrl, address]) {
    const { client, sent } = reading({ baseUrl })
    yield* Effect.provide(read, client)
    assert.deepStrictEqual(
      sent.map(({ url }) => url),
      [`${address}${path}`]
    )
  })

  effect.each(refused)("%s, or it is refused, also as insecure where it is no plain http: %j", function* (row) {
    const [problem, baseUrls] = row
    for (const baseUrl of baseUrls)
      for (const insecure of baseUrl.startsWith("http:") ? [false, undefined] : [false, undefined, true]) {
        const [found, ...more] = yield* refusal(reading({ baseUrl, insecure }).client)
        assert.include(found, `baseUrl ${problem}`)
        assert.isEmpty(more)
      }
  })

  effect.each([
    ["http://sandbox:4010", ["sandbox"]],
    ["https://gateway.example", []],
    ["http://127.0.0.1:4010", []]
  ] as const)(
    "%s as insecure is accepted, and a warning names the hosts %j that get plain http",
    function* ([baseUrl, hosts]) {
      const warned: Array<unknown> = []
      const logger = Logger.make(({ fiber, logLevel, message }) => {
        if (logLevel === "Warn" && /leave this machine over plain http/.test(String(message))) {
          warned.push(fiber.getRef(References.CurrentLogAnnotations)["server.address"])
        }
      })
      const { client, sent } = reading({ baseUrl, insecure: true })
      yield* Effect.provide(read, Layer.provideMerge(client, Logger.layer([logger])))
      assert.deepStrictEqual([sent.length, warned], [1, [...hosts]])
    }
  )
})

type Refused = Layer.Layer<never, ConfigurationError>

/** Layers with options that a program without types gives. */
const layers: Readonly<Record<`${"Payments" | "Merchants"}.layer`, (options: never) => Refused>> = {
  "Payments.layer": (options: never) => paymentsOn(scripted(respond(500)).layer, options),
  "Merchants.layer": (options: never) =>
    Layer.provide(Merchants.layer<never, never>(options), [
      scripted(respond(500)).layer,
      IdempotencyKeyGen.layerSequential
    ])
}
const ofClient = "Payments.layer"
const ofMerchants = "Merchants.layer"
const load = () => Effect.undefined
const above0 = "must be a duration above zero"

effect.each<readonly [name: keyof typeof layers, options: unknown, problems: ReadonlyArray<string>]>([
  [ofClient, { baseUrl: canary, companyId: 7.5 }, ["Wrong: baseUrl is not a URL", `Wrong: companyId ${whole}`]],
  [ofClient, { baseUrl: "https://a.example", companyId: -1 }, [`Wrong: companyId ${whole}`]],
  [ofClient, { baseUrl: "https://a.example", companyId: 2 ** 53 }, [`Wrong: companyId ${whole}`]],
  [ofClient, null, ["Wrong: options must be { baseUrl, companyId?, zone? }"]],
  [ofClient, {}, [notSet("baseUrl")]],
  [ofClient, { baseUrl: Object.create(null) }, ["Wrong: baseUrl is not a URL"]],
  [
    ofMerchants,
    undefined,
    ["Wrong: options must be { baseUrl, zone?, load, loadTimeout?, idleTimeToLive?, inMetrics? }"]
  ],
  [ofMerchants, { baseUrl: "https://a.example", load: canary }, ["Wrong: load must be a function"]],
  [
    ofMerchants,
    { baseUrl: canary, load, loadTimeout: -1, idleTimeToLive: Number.NaN },
    ["Wrong: baseUrl is not a URL", `Wrong: loadTimeout ${above0}`, `Wrong: idleTimeToLive ${above0}`]
  ]
])("%s refuses the options %j: %j", function* ([name, options, problems]) {
  assert.deepStrictEqual(yield* refusal(layers[name](options as never)), [...problems]) // as from JavaScript
})
