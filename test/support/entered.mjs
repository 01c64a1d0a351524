/**
 * `node --import` of this file: each function of `src` says when it is entered. `globalThis.walked` has the functions, and the pairs of files of
 * which the second was entered right after the first.
 */
import { readFileSync } from "node:fs"
import { registerHooks, stripTypeScriptTypes } from "node:module"
import { join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { transformSync } from "@babel/core"

const root = join(import.meta.dirname, "../..")
const source = join(root, "src")
const { exports: doors } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

let last = ""
globalThis.walked = { functions: new Set(), hops: new Set() }
globalThis.enter = (file, place) => {
  const { functions, hops } = globalThis.walked
  functions.add(`${file}:${place}`)
  if (last !== "" && file !== last) hops.add(`${last} ${file}`)
  last = file
}

/** Each function calls `enter` first. */
const entering = ({ types }, { file }) => ({
  visitor: {
    Function: ({ node }) => {
      if (node.loc == null) return
      const { column, line } = node.loc.start
      const place = types.stringLiteral(`${line}:${column}`)
      const call = types.callExpression(types.identifier("enter"), [types.stringLiteral(file), place])
      if (types.isBlockStatement(node.body)) node.body.body.unshift(types.expressionStatement(call))
      else node.body = types.sequenceExpression([call, node.body])
    }
  }
})

registerHooks({
  resolve: (specifier, context, next) => {
    const door = specifier.startsWith("effect-pix") ? doors[specifier.replace("effect-pix", ".")] : undefined
    return door === undefined
      ? next(specifier, context)
      : next(pathToFileURL(join(root, door.replace("dist", "src").replace(/js$/, "ts"))).href, context)
  },
  load: (url, context, next) => {
    const path = url.startsWith("file:") ? fileURLToPath(url) : ""
    if (!path.startsWith(source) || !path.endsWith(".ts")) return next(url, context)
    const plugins = [[entering, { file: relative(source, path) }]]
    const code = stripTypeScriptTypes(readFileSync(path, "utf8"))
    return { format: "module", shortCircuit: true, source: transformSync(code, { configFile: false, plugins }).code }
  }
})
