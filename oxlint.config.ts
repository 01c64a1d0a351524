/**
 * What oxlint checks, and which module may import which. The floors are those of the house: an import goes down or
 * sideways, never up. A module of src/ that is not named here stands on the top floor, one of src/internal/ on the
 * floor below it.
 */
import { readdirSync } from "node:fs"
import { defineConfig, type OxlintOverride } from "oxlint"

const floors = [
  // What needs only Effect and small libraries.
  "BrCode Document EndToEndId Metadata Money PixKey QrCode",
  // The resources.
  "Balance ChargeCode Status Transaction Withdrawal",
  // The contract, and what a call is made with.
  `Credentials IdempotencyKey IdempotencyKeyGen PaymentsApi PaymentsError PaymentsPolicy RefusalRules
   TransactionHints WebhookEvent WebhookHint`,
  // The pipeline: the rest of src/internal/, and what is written in terms of operations.
  "AwaitTransaction TransactionStream WebhookStore WebhookVerifier Withdrawals",
  // `Payments`, and the rest of src/.
  ""
]

const internalFloors = [
  "brCodeReader crc16 exactJson loopback moneyDecimal pixKeyKinds tlv unsafeName",
  "wire",
  "endpoints"
]

const modules = ["", "internal/"].flatMap((folder) =>
  readdirSync(new URL(`src/${folder}`, import.meta.url))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => folder + file.slice(0, -".ts".length))
)

const floorOf = (module: string) => {
  const [name, internal] = module.split("/").toReversed()
  const floor = (internal ? internalFloors : floors).findIndex((names) => names.split(/\s+/).includes(name ?? ""))
  return floor >= 0 ? floor : internal ? 3 : 4
}

const barrel = {
  regex: "^effect(/[a-z][^/]*)?$",
  message: "A barrel: import the module, as in effect/Effect."
}

const node = {
  regex: "^(node:|@effect/platform-node)",
  message: "src runs on any platform."
}

const doors = {
  regex: String.raw`^\.{1,2}/(\w+/)*index\.ts$|^\.{1,2}/sandbox/|^effect-pix`,
  message: "The client knows none of its doors."
}

/** How a folder beside the client names a module of it. */
const outside = String.raw`\.\.`

/** Forbids what stands above a floor, from whichever folder it is imported. */
const above = (floor: number, message: string, { allowed = "", from = String.raw`\.{1,2}` } = {}) => {
  const names = modules.filter((module) => floorOf(module) > floor && module !== allowed)
  const files = names.map((name) => name.split("/").at(-1)).join("|")
  return files === "" ? [] : [{ regex: String.raw`^${from}/(internal/)?(${files})\.ts$`, message }]
}

const imports = (...patterns: Array<{ regex: string; message: string }>): NonNullable<OxlintOverride["rules"]> => ({
  "eslint/no-restricted-imports": ["error", { patterns }]
})

export default defineConfig({
  plugins: ["eslint", "typescript", "import", "oxc", "unicorn", "promise", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true, reportUnusedDisableDirectives: "error" },
  rules: {
    "eslint/no-console": "error",
    "eslint/no-shadow": "off",
    "eslint/no-underscore-dangle": "off",
    "import/no-cycle": "error",
    "import/no-self-import": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-import-type-side-effects": "error",
    // tsc's noImplicitReturns says it, and knows an exhaustive switch.
    "typescript/consistent-return": "off",
    // It takes an interface for a class where a Reference has the same name.
    "typescript/no-misused-spread": "off",
    // Redacted<string> says more than Redacted.
    "typescript/no-unnecessary-type-arguments": "off",
    // A cast needs a reason in a comment, which only a reviewer can judge.
    "typescript/no-unsafe-type-assertion": "off",
    "vitest/expect-expect": "off"
  },
  overrides: [
    {
      files: ["src/**"],
      rules: { "eslint/no-restricted-globals": ["error", "Buffer", "global", "process", "setImmediate"] }
    },
    ...floors.map((_, floor) => ({
      files: modules.filter((module) => floorOf(module) === floor).map((module) => `src/${module}.ts`),
      rules: imports(barrel, node, doors, ...above(floor, `Up: this module stands on floor ${floor}.`))
    })),
    {
      files: ["src/index.ts"],
      rules: imports(barrel, node)
    },
    {
      files: ["src/sandbox/**"],
      rules: imports(barrel, node, ...above(2, "The sandbox knows the contract, not the client.", { from: outside }))
    },
    {
      files: ["src/sandbox/Sandbox.ts"],
      rules: imports(
        barrel,
        node,
        ...above(2, "The sandbox knows the client only by its name.", { allowed: "Payments", from: outside })
      )
    },
    {
      files: ["src/sandbox/server*.ts"],
      rules: {
        ...imports(barrel, ...above(2, "The sandbox knows the contract, not the client.", { from: outside })),
        "eslint/no-restricted-globals": "off"
      }
    },
    {
      files: ["test/**", "docs/**", ".ci/**", "*.config.ts"],
      rules: {
        "eslint/no-await-in-loop": "off",
        "eslint/no-console": "off",
        "oxc/no-map-spread": "off",
        "unicorn/consistent-function-scoping": "off",
        "vitest/no-standalone-expect": "off"
      }
    }
  ]
})
