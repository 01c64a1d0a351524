/**
 * Tests the text that an editor shows for each public name. A namespace shows the docstring of the `declare module` in
 * its file, which is the file's head; a call of a function that is an interface shows the docstring of the call
 * signature.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { API, type Symbol, SymbolFlags } from "typescript/unstable/sync"

const root = resolve(import.meta.dirname, "..")

/** The modules that the package exports, by their names in an import. */
const entries: Readonly<Record<string, readonly [file: string]>> = JSON.parse(
  readFileSync(resolve(root, "tsconfig.json"), "utf8")
).compilerOptions.paths

interface Hover {
  /** Its path, such as `effect-pix Money centavos`. */
  readonly name: string
  readonly text: string
  /** The type, or the result type of a function. */
  readonly type: string
}

const noTruncation = 1

/** Whether this package declares it, and not Effect. */
const isOwn = ({ declarations }: Symbol) => declarations.some(({ path }) => String(path).startsWith(`${root}/src/`))

/** All public names: exports, the members of namespaces and services, and the fields of options. */
const readHovers = (): ReadonlyArray<Hover> => {
  const api = new API({ cwd: root })
  try {
    const config = resolve(root, "src/tsconfig.json")
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (project === undefined) throw new Error("The compiler opens no project.")
    const { checker, program } = project
    const found: Array<Hover> = []

    const typeOf = (symbol: Symbol) =>
      (symbol.flags & SymbolFlags.Value) === 0
        ? checker.getDeclaredTypeOfSymbol(symbol)
        : checker.getTypeOfSymbol(symbol)

    const add = (name: string, symbol: Symbol) => {
      const type = typeOf(symbol)
      // At a call, an editor shows the documentation of the call signature.
      const call = type
        ?.getSymbol()
        ?.getMembers()
        .get("__call" as never)
      const hover = {
        name,
        text: symbol.getDocumentationComment(checker),
        type: type === undefined ? "" : checker.typeToString(type, undefined, noTruncation)
      }
      found.push(hover)
      if (call !== undefined && isOwn(call) && type?.getSymbol()?.name !== "__type") {
        found.push({ ...hover, name: `${name}()`, text: call.getDocumentationComment(checker) })
      }
      return type
    }

    const addMembers = (name: string, members: ReadonlyArray<Symbol>) => {
      for (const member of members) {
        // A field `_tag` needs no documentation.
        if (isOwn(member) && member.name !== "prototype" && member.name !== "_tag")
          add(`${name} ${member.name}`, member)
      }
    }

    const addExports = (name: string, module: Symbol) => {
      for (const exported of checker.getExportsOfModule(module)) {
        const symbol = (exported.flags & SymbolFlags.Alias) === 0 ? exported : checker.getAliasedSymbol(exported)
        const path = `${name} ${exported.name}`
        if ((symbol.flags & SymbolFlags.ValueModule) !== 0) {
          found.push({ name: path, text: symbol.getDocumentationComment(checker), type: "namespace" })
          addExports(path, symbol)
          continue
        }
        const type = add(path, symbol)
        const declared = checker.getDeclaredTypeOfSymbol(symbol)
        if ((symbol.flags & SymbolFlags.Class) !== 0 && type !== undefined) {
          addMembers(
            path,
            checker.getPropertiesOfType(type).filter(({ name: of }) => of !== "Service")
          )
          const service = checker.getPropertyOfType(declared, "Service")
          const shape = service && checker.getTypeOfSymbol(service)
          if (shape !== undefined) addMembers(path, checker.getPropertiesOfType(shape))
        }
        // The fields of a schema are documented at the schema, and the fields of options are added here.
        if ((symbol.flags & SymbolFlags.Interface) !== 0 && (symbol.flags & SymbolFlags.Value) === 0) {
          addMembers(path, checker.getPropertiesOfType(declared))
        }
      }
    }

    for (const [name, [file]] of Object.entries(entries)) {
      const source = program.getSourceFile(resolve(root, file))
      const module = source && checker.getSymbolAtLocation(source)
      if (module === undefined) throw new Error(`The compiler has no module ${name}.`)
      addExports(name, module)
    }
    return found
  } finally {
    api.close()
  }
}

/** What the compiler says of a mistake in a program that is in no file. */
const readMistakes = (program: string): ReadonlyArray<string> => {
  const config = resolve(root, "mistakes.json")
  const file = resolve(root, "mistakes.ts")
  const files: Readonly<Record<string, string>> = {
    [config]: JSON.stringify({ extends: "./tsconfig.json", include: [], files: [file] }),
    [file]: program
  }
  const fs = {
    fileExists: (name: string) => (name in files ? true : undefined),
    readFile: (name: string) => files[name]
  }
  const api = new API({ cwd: root, fs })
  try {
    const diagnostics = api.updateSnapshot({ openProjects: [config] }).getProject(config)?.program
    return (diagnostics?.getSemanticDiagnostics(file) ?? []).map((diagnostic) => JSON.stringify(diagnostic))
  } finally {
    api.close()
  }
}

const hovers = readHovers()
const namesOf = (wrong: (hover: Hover) => boolean) => hovers.filter(wrong).map(({ name }) => name)

describe("the hover of a public name", () => {
  it("the hover of every export, member of a namespace, operation of a service and field of options has documentation", () => {
    assert.isAbove(hovers.length, 500)
    for (const name of ["effect-pix Money", "effect-pix Payments createTransaction()", "effect-pix/sandbox Fault"]) {
      expect(hovers.map((hover) => hover.name)).toContain(name)
    }
    expect(namesOf(({ text }) => text.trim() === "")).toEqual([])
  })

  it("the hover refers to no head of a module, no section of another document, and no file that is not in the package", () => {
    expect(namesOf(({ text }) => /\bhead of\b|service interface|\bsections? \d/i.test(text))).toEqual([])
    const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly files: ReadonlyArray<string> }
    expect(files).toContain("docs")
    expect(namesOf(({ text }) => /`(?!docs\/)[\w/.]+\.(?:ts|md)`/.test(text))).toEqual([])
  })

  it("the hover says whether an amount is in centavos or in reais", () => {
    const amounts = hovers.filter(({ type }) => /Centavos|Reais/.test(type))
    assert.isAbove(amounts.length, 40)
    expect(amounts.filter(({ text }) => !/centavos|reais|R\$/i.test(text)).map(({ name }) => name)).toEqual([])
  })

  it("the hover shows a report by its name, and not the structure of its results", () => {
    const types = (name: string) => hovers.find((hover) => hover.name === `effect-pix/payouts ${name}`)?.type
    expect(types("Payouts run")).toContain("Effect<PayoutReport, ")
  })
})

it("the compiler's message about a plain value in place of a checked one names the function that makes it", () => {
  const messages = readMistakes(`
    import { type Customer, Money, Payments } from "effect-pix"
    import { PayoutQueue } from "effect-pix/payouts"

    declare const customer: Customer
    export const amounts = (payments: typeof Payments.Service, queue: typeof PayoutQueue.Service) => [
      payments.createTransaction({ amount: 2500, paymentMethod: "PIX", customer }),
      payments.requestWithdrawal({ amount: 2500 }),
      queue.submit({ reference: "invoice-42", amount: 2500 }),
      Money.split(2500, [1, 1])
    ]
  `)
  assert.lengthOf(messages, 4)
  for (const message of messages) assert.include(message, "use Money.centavos")
})

it("the compiler's message about a key alone shows the words of its past, and `after`", () => {
  const messages = readMistakes(`
    import { type Customer, Money, Payments } from "effect-pix"

    declare const customer: Customer
    declare const payments: typeof Payments.Service
    const amount = Money.centavos(2500)
    const idempotencyKey = "payout-42"
    export const calls = [
      payments.createTransaction({ amount, paymentMethod: "PIX", customer }, { idempotencyKey }),
      payments.requestWithdrawal({ amount }, { idempotencyKey })
    ]
  `)
  assert.lengthOf(messages, 2)
  for (const message of messages.map((text) => text.replaceAll("\\", ""))) {
    assert.include(message, "Property 'earlier' is missing")
    assert.include(message, 'earlier: "None" | "Unknown"; readonly after?')
  }
})
