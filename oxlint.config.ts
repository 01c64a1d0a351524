/**
 * What oxlint checks, and which folder of `src/` may import from which.
 *
 * - A *layer* is a group of folders. A folder imports from itself and from lower layers, never from another folder of
 *   its own layer or from a higher one.
 * - A folder's `internal/` belongs to that folder: other folders import its public files, which are flat in it.
 *   `src/internal` is the exception: it is below all layers, and everybody may import from it.
 * - An *entry point* is an `index.ts`: what `exports` in package.json names, for users. Inside of `src/` the module itself
 *   is imported, so that a bundle holds no more than is used.
 * - A *barrel* is a module that only exports others, as `effect` does: one import of it loads them all.
 *
 * The rules are made for each folder, so a new file is under the rule of its folder from the start. A rule that is called
 * `regexp/...` is of eslint-plugin-regexp, which oxlint runs as a `jsPlugins` entry; all others are oxlint's own.
 */
import { defineConfig, type OxlintOverride } from "oxlint"

/** The folders of `src/` by layer, the lowest first. */
const layers = [
  ["pix"],
  ["contract"],
  ["client"],
  ["transactions", "node", "durable"],
  ["payouts", "webhook", "sandbox"],
  ["panel", "rehearsal"],
  ["cli"]
]

const barrel = {
  regex: "^effect(/[a-z][^/]*)?$",
  message: "This is a barrel, which loads all of a package: import the module, as in effect/Effect."
}

const node = {
  regex: "^(node:|@effect/platform-node|undici)",
  message: "This folder runs on any platform: only src/node, src/cli and src/panel/internal may need Node."
}

const self = { regex: "^effect-pix", message: "This is the package itself: import the module by its path." }
const entryPoints = {
  regex: String.raw`^\.{1,2}/(\w+/)*index\.ts$`,
  message: "An entry point is for users: import the module that it exports."
}
const internals = {
  regex: String.raw`^(\.\./)+\w+/internal/`,
  message: "Modules in internal/ belong to their folder: import one of its public modules."
}

const pathOf = (names: ReadonlyArray<string>) => String.raw`^(\.\./)+(${names.join("|")})/`

type Pattern = { readonly message: string } & ({ readonly regex: string } | { readonly group: Array<string> })
const imports = (...patterns: ReadonlyArray<Pattern>): NonNullable<OxlintOverride["rules"]> => ({
  "eslint/no-restricted-imports": ["error", { patterns: [...patterns] }]
})

/** The folders that may import Node's modules. */
const onNode: ReadonlySet<string> = new Set(["node", "cli"])

/** The folders of the sandbox. It plays the gateway: it imports the contract, and of the client only what a test composes it with. */
const ofSandbox: ReadonlySet<string> = new Set(["sandbox", "panel", "rehearsal"])
const sandboxOnly: ReadonlyArray<Pattern> = [
  {
    regex: pathOf(["transactions", "node", "durable", "payouts", "webhook"]),
    message: "The sandbox plays the gateway: it imports the contract, and not what calls the gateway."
  },
  {
    group: [
      "**/client/*",
      "!**/client/Payments.ts",
      "!**/client/Credentials.ts",
      "!**/client/IdempotencyKeyGen.ts",
      "!**/client/PaymentsClient.ts",
      "!**/client/WithdrawalLookup.ts"
    ],
    message: "Of the client the sandbox imports only the service and what builds it."
  }
]

const rules = layers.flatMap((folders, layer) =>
  folders.map((folder) => {
    const others = [...folders.filter((other) => other !== folder), ...layers.slice(layer + 1).flat()]
    const upward = {
      regex: pathOf(others),
      message: `src/${folder} may import only from layers below its own: see oxlint.config.ts.`
    }
    return {
      files: [`src/${folder}/**`],
      rules: imports(
        barrel,
        self,
        entryPoints,
        internals,
        ...(others.length === 0 ? [] : [upward]),
        ...(onNode.has(folder) ? [] : [node]),
        ...(ofSandbox.has(folder) ? sandboxOnly : [])
      )
    }
  })
)

export default defineConfig({
  jsPlugins: ["eslint-plugin-regexp"],
  plugins: ["eslint", "typescript", "import", "oxc", "unicorn", "promise", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  // Half of the time of all checks is for the rules that need types: `npm test` leaves them to `npm run check` and `npm run full`.
  options: { typeAware: process.env["EFFECT_PIX_QUICK"] !== "1", reportUnusedDisableDirectives: "error" },
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
      rules: imports(barrel, self, node, {
        regex: pathOf(layers.flat()),
        message: "src/internal is below all layers: it imports from none."
      })
    },
    ...rules,
    {
      files: ["src/node/**", "src/cli/**", "src/panel/internal/**"],
      rules: { "eslint/no-restricted-globals": "off" }
    },
    {
      // The sandbox's HTTP server is Node's.
      files: ["src/panel/internal/**"],
      rules: imports(barrel, self, entryPoints, internals, ...sandboxOnly, {
        regex: pathOf(["rehearsal", "cli"]),
        message: "src/panel may import only from layers below its own: see oxlint.config.ts."
      })
    },
    {
      // The entry point effect-pix/sandbox opens on all three folders of the sandbox.
      files: ["src/panel/index.ts"],
      rules: imports(barrel, self, entryPoints, internals, node, ...sandboxOnly, {
        regex: pathOf(["cli"]),
        message: "src/cli is above src/panel."
      })
    },
    {
      files: ["test/**", "docs/**", ".ci/**", "*.config.ts"],
      rules: {
        "eslint/no-await-in-loop": "off",
        "eslint/no-console": "off",
        "oxc/no-map-spread": "off",
        // A thread has no origin.
        "unicorn/require-post-message-target-origin": "off",
        "unicorn/consistent-function-scoping": "off",
        "vitest/no-standalone-expect": "off"
      }
    }
  ]
})
