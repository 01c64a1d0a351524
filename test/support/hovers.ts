/**
 * Reads the text that an editor shows for each public name: its documentation and its type. One process of the compiler
 * reads the sources once.
 */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { API, type Checker, SignatureKind, type Symbol, SymbolFlags, type Type } from "typescript/unstable/sync"

const root = resolve(import.meta.dirname, "../..")

/** The modules that the package exports, by their names in an import. */
const entries: Readonly<Record<string, readonly [file: string]>> = JSON.parse(
  readFileSync(resolve(root, "tsconfig.json"), "utf8")
).compilerOptions.paths

export interface Hover {
  /** Its path, such as `effect-pix Money centavos`. */
  readonly name: string
  readonly text: string
  /** The type, or the result type of a function. */
  readonly type: string
  /** The error type of a function: `never` if it cannot fail, absent if it does not return an effect. */
  readonly error?: string | undefined
}

const noTruncation = 1

/** Whether this package declares it, and not Effect. */
const isOwn = ({ declarations }: Symbol) => declarations.some(({ path }) => String(path).startsWith(`${root}/src/`))

/** The error type of a value that is an effect, a stream or a layer, or of a function that returns one. */
const errorOf = (checker: Checker, type: Type): string | undefined => {
  const shown = checker.typeToString(type, undefined, noTruncation)
  if (!/^(?:Effect\.Effect|Effect|Stream\.Stream|Stream|Layer\.Layer|Layer)</.test(shown)) return undefined
  const variance = checker.getPropertiesOfType(type).find(({ name }) => /^~effect\/(?:Effect|Stream|Layer)$/.test(name))
  const of = variance && checker.getTypeOfSymbol(variance)
  const error = of && checker.getPropertyOfType(of, "_E")
  const brand = error && checker.getTypeOfSymbol(error)
  const [signature] = brand === undefined ? [] : checker.getSignaturesOfType(brand, SignatureKind.Call)
  const given = signature && checker.getReturnTypeOfSignature(signature)
  return given && checker.typeToString(given, undefined, noTruncation)
}

/** All public names: exports, the members of namespaces and services, and the fields of options. */
export const readHovers = (): ReadonlyArray<Hover> => {
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
      const signatures = type === undefined ? [] : checker.getSignaturesOfType(type, SignatureKind.Call)
      const results = signatures.map((signature) => checker.getReturnTypeOfSignature(signature))
      const errors = (results.length === 0 ? [type] : results).map((result) => result && errorOf(checker, result))
      // At a call, an editor shows the documentation of the call signature.
      const call = type
        ?.getSymbol()
        ?.getMembers()
        .get("__call" as never)
      const hover = {
        name,
        text: symbol.getDocumentationComment(checker),
        type: type === undefined ? "" : checker.typeToString(type, undefined, noTruncation),
        error: errors.find((error) => error !== undefined)
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
