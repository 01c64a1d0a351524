/**
 * What oxlint checks, and which room may import which: an import goes down the floors or stays in its room, and never
 * into another room's `internal/`. The rules are by folder, so a new file stands under its room's rule from the start.
 */
import { defineConfig, type OxlintOverride } from "oxlint"

/** The rooms of src/, from the ground floor up. Rooms of one floor do not know each other. */
const floors = [
  ["pix"],
  ["contract"],
  ["client"],
  ["transactions", "node"],
  ["durable"],
  ["payouts", "webhook"],
  ["sandbox"],
  ["cli"]
]

const barrel = {
  regex: "^effect(/[a-z][^/]*)?$",
  message: "A barrel: import the module, as in effect/Effect."
}

const node = {
  regex: "^(node:|@effect/platform-node|undici)",
  message: "This room runs on any platform."
}

const self = { regex: "^effect-pix", message: "Import the module itself." }
const doors = {
  regex: String.raw`^\.{1,2}/(\w+/)*index\.ts$`,
  message: "A door is for users: import the module behind it."
}
const cellar = { regex: String.raw`^(\.\./)+\w+/internal/`, message: "Another room's internal modules are its own." }

const folder = (names: ReadonlyArray<string>) => String.raw`^(\.\./)+(${names.join("|")})/`

type Pattern = { readonly message: string } & ({ readonly regex: string } | { readonly group: Array<string> })
const imports = (...patterns: ReadonlyArray<Pattern>): NonNullable<OxlintOverride["rules"]> => ({
  "eslint/no-restricted-imports": ["error", { patterns: [...patterns] }]
})

/** The rooms that need Node: their own packages, its globals. */
const onNode: ReadonlySet<string> = new Set(["node", "cli"])

/** The sandbox is the gateway's double: it knows the contract, and of the client only how a test composes it. */
const doubles: ReadonlyArray<Pattern> = [
  {
    regex: folder(["transactions", "node", "durable", "payouts", "webhook"]),
    message: "The sandbox knows the contract, not the client."
  },
  {
    group: ["**/client/*", "!**/client/Payments.ts", "!**/client/Credentials.ts", "!**/client/IdempotencyKeyGen.ts"],
    message: "The sandbox knows of the client only its name and how to build it."
  }
]

const rules = floors.flatMap((rooms, floor) =>
  rooms.map((room) => {
    const others = [...rooms.filter((other) => other !== room), ...floors.slice(floor + 1).flat()]
    const up =
      others.length === 0 ? [] : [{ regex: folder(others), message: `Up: ${room} stands on floor ${floor + 1}.` }]
    return {
      files: [`src/${room}/**`],
      rules: imports(
        barrel,
        self,
        doors,
        cellar,
        ...up,
        ...(onNode.has(room) ? [] : [node]),
        ...(room === "sandbox" ? doubles : [])
      )
    }
  })
)

export default defineConfig({
  jsPlugins: ["eslint-plugin-regexp"],
  plugins: ["eslint", "typescript", "import", "oxc", "unicorn", "promise", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true, reportUnusedDisableDirectives: "error" },
  rules: {
    "eslint/no-console": "error",
    "eslint/no-shadow": "off",
    "eslint/no-underscore-dangle": "off",
    "import/no-cycle": ["error", { ignoreTypes: false }],
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
      rules: {
        // What is matched may be long, and come from outside: an expression that is not linear blocks the process.
        "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
        "regexp/no-super-linear-move": ["error", { report: "potential" }],
        "eslint/no-restricted-globals": ["error", "Buffer", "global", "process", "setImmediate"],
        ...imports(barrel, self, node)
      }
    },
    {
      files: ["src/internal/**"],
      rules: imports(barrel, self, node, { regex: folder(floors.flat()), message: "Up: this is the ground." })
    },
    ...rules,
    {
      files: ["src/node/**", "src/cli/**", "src/sandbox/server/**"],
      rules: { "eslint/no-restricted-globals": "off" }
    },
    {
      // The sandbox's HTTP server is Node's.
      files: ["src/sandbox/server/**"],
      rules: imports(barrel, self, doors, cellar, ...doubles, { regex: folder(["cli"]), message: "Up." })
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
