/** The table of functions: what the docs say of each, and that the service has them all. */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "effect-pix/sandbox"
import { SchemaAST } from "effect"
import { readFileSync } from "node:fs"
import { functions, type Untyped } from "../../src/sandbox/internal/functions.ts"
import { effect } from "../support/effect.ts"

const page = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8")

/** The row of the docs for a function: its request, what it takes, and what it does. */
const rowOf = ([name, { does, input, method }]: readonly [string, Untyped]) => {
  const { ast } = input
  const names = SchemaAST.isObjects(ast)
    ? ast.propertySignatures.map((field) => `\`${String(field.name)}${SchemaAST.isOptional(field.type) ? "?" : ""}\``)
    : []
  return `| \`${method} ${name}\` | ${names.join(", ")} | ${does} |`
}

describe("the functions of the sandbox", () => {
  it("the page of the sandbox has a row for each function, as the table of functions says it", () => {
    const rows = page
      .split("\n")
      .filter((line) => /^\| `(?:GET|POST) \w/.test(line))
      .map((line) => line.replaceAll(/ +/g, " "))
    assert.deepStrictEqual(
      rows,
      Object.entries<Untyped>(functions).map((entry) => rowOf(entry).replaceAll(/ +/g, " "))
    )
  })

  effect(
    "the service has each function under its own name, but for two: offline(effect) calls one, and a list has each row",
    Sandbox.layer,
    function* () {
      const sandbox = yield* Sandbox
      const missing = Object.keys(functions).filter((name) => !(name in sandbox))
      assert.deepStrictEqual(missing, ["setOffline", "transaction"])
    }
  )
})
