/**
 * The reference of an API as one page, made from its OpenAPI document: operations, parameters, fields, examples, and each
 * operation as a `curl` command. It needs no script, and loads nothing from other hosts.
 */
import type * as OpenApi from "effect/http-api/OpenApi"
import { type Content, curlOf, type Document, exampleOf, type JsonSchema, nameOf, type Operation } from "./example.ts"

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Paragraphs, `code` and links within the server. */
const prose = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) =>
      escape(paragraph)
        .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
        .replaceAll(/\[([^[\]]+)\]\((\/[^)]*)\)/g, '<a href="$2">$1</a>')
    )
    .map((paragraph) => `<p>${paragraph}</p>`)
    .join("")

const limitsOf = ({ exclusiveMinimum, format, maximum, minimum, pattern }: JsonSchema): string =>
  [
    format,
    minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `from ${minimum}` : undefined,
    exclusiveMinimum === undefined ? undefined : `over ${exclusiveMinimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `to ${maximum}` : undefined,
    pattern === undefined ? undefined : `as ${pattern}`
  ]
    .map((limit) => (limit === undefined ? "" : `, ${escape(limit)}`))
    .join("")

/** The type of a schema, in words. */
const typeOf = (schema: JsonSchema): string => {
  if (schema.$ref !== undefined) return `<a href="#${nameOf(schema.$ref)}">${nameOf(schema.$ref)}</a>`
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(" or ")
  }
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" or ")
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  return `${schema.type ?? "anything"}${limitsOf(schema)}`
}

const descriptionOf = ({ allOf = [], description }: JsonSchema): string =>
  [description, ...allOf.map((part) => part.description)].filter((text) => text !== undefined).join(". ")

const fieldOf = (name: string, schema: JsonSchema, isRequired: boolean, where = ""): string => {
  const description = descriptionOf(schema)
  return [
    `<li><code>${escape(name)}</code> ${where}${typeOf(schema)}, `,
    isRequired ? "<strong>required</strong>" : "optional",
    description === "" ? "" : `<br /><small>${escape(description)}</small>`,
    `${fieldsOf(schema)}</li>`
  ].join("")
}

/** The fields with one value only, by which a shape differs from the other shapes. */
const constantsOf = ({ properties = {} }: JsonSchema): string =>
  Object.entries(properties)
    .filter(([, field]) => field.enum?.length === 1)
    .map(([name, field]) => `${escape(name)} ${typeOf(field)}`)
    .join(", ")

/** The fields of a schema and of its parts, as nested lists. A choice of shapes can be unfolded. */
const fieldsOf = (schema: JsonSchema): string => {
  const own = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    fieldOf(name, field, schema.required?.includes(name) === true)
  )
  const shapes = (schema.anyOf ?? [])
    .map((shape) => ({ constants: constantsOf(shape), fields: fieldsOf(shape) }))
    .filter(({ fields }) => fields !== "")
  const unfolding = shapes.map(
    ({ constants, fields }) => `<details><summary>object ${constants}</summary>${fields}</details>`
  )
  const inner = [schema.items, schema.contentSchema].map((part) => (part === undefined ? "" : fieldsOf(part)))
  return [
    own.length === 0 ? "" : `<ul>${own.join("")}</ul>`,
    ...(shapes.length > 1 ? unfolding : shapes.map(({ fields }) => fields)),
    ...inner
  ].join("")
}

const block = (text: string) => `<pre>${escape(text)}</pre>`

const contentsOf = (document: Document, content: Content): string =>
  Object.entries(content)
    .map(([mediaType, { schema }]) =>
      [
        `<p><code>${escape(mediaType)}</code>, ${typeOf(schema)}</p>`,
        fieldsOf(schema),
        mediaType === "application/json" ? block(JSON.stringify(exampleOf(document, schema, "all"), undefined, 2)) : ""
      ].join("")
    )
    .join("")

const operationOf = (document: Document, baseUrl: string, method: string, path: string, operation: Operation) => {
  const parameters = operation.parameters.map((parameter) =>
    fieldOf(parameter.name, parameter.schema, parameter.required, `in the ${parameter.in}, `)
  )
  const responses = Object.entries(operation.responses).map(
    ([status, { content = {}, description }]) =>
      `<details><summary>${status} <small>${escape(description)}</small></summary>${contentsOf(document, content)}</details>`
  )
  return [
    `<article id="${escape(operation.operationId)}">`,
    `<h3><b>${method}</b> <code>${escape(path)}</code></h3>`,
    prose(operation.description ?? ""),
    block(curlOf(document, method, `${baseUrl}${path}`, operation)),
    parameters.length === 0 ? "" : `<h4>Parameters</h4><ul>${parameters.join("")}</ul>`,
    operation.requestBody === undefined ? "" : `<h4>Body</h4>${contentsOf(document, operation.requestBody.content)}`,
    `<h4>Answers</h4>${responses.join("")}`,
    "</article>"
  ].join("")
}

/** The page of a document. `baseUrl` is that of its paths. */
export const referenceOf = (spec: OpenApi.OpenAPISpec, baseUrl: string): string => {
  const document = spec as unknown as Document // the type of Effect does not describe its schemas
  const { components, info, paths, tags } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operation,
      link: `<li><a href="#${operation.operationId}">${method.toUpperCase()} ${escape(path)}</a></li>`,
      html: operationOf(document, baseUrl, method.toUpperCase(), path, operation)
    }))
  )
  const sections = tags.map(({ name }) => ({
    name: escape(name),
    of: operations.filter(({ operation }) => operation.tags.includes(name))
  }))
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<article id="${name}"><h3>${name}</h3>${prose(descriptionOf(schema))}<p>${typeOf(schema)}</p>${fieldsOf(schema)}</article>`
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>${escape(info.title)}</title>
<link rel="icon" href="data:," />
<link rel="stylesheet" href="/panel/panel.css" />
<link rel="stylesheet" href="/panel/reference.css" />
</head>
<body>
<header class="top"><div class="bar"><h1>${escape(info.title)}</h1><span class="grow"></span>
<a href="/">Panel</a> <a href="/docs">Steering</a> <a href="/docs/gateway">Gateway</a></div></header>
<main class="reference">
${prose(info.description ?? "")}
<nav aria-label="Operations">${sections.map(({ name, of }) => `<h2>${name}</h2><ul>${of.map(({ link }) => link).join("")}</ul>`).join("")}</nav>
${sections.map(({ name, of }) => `<section><h2>${name}</h2>${of.map(({ html }) => html).join("\n")}</section>`).join("\n")}
<section><h2>Schemas</h2>${schemas.join("\n")}</section>
</main>
</body>
</html>
`
}
