/**
 * Tests the checks before a release, the licences of the packages that a user installs, and the rights of the
 * workflows: the scripts of `npm publish` and `npm run check`, and .github/workflows/.
 */
import { assert, describe, test } from "@effect/vitest"
import { Schema } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isAllowed, installed } from "../.ci/licences.ts"
import { fillIn, obstacles } from "../.ci/publisher.ts"

const unfilled = { name: "effect-pix", version: "1.0.0", license: "MIT", type: "module" }
const filled = fillIn(unfilled, "https://git.example.com/owner/effect-pix", "security@example.com")
const changelog = "# effect-pix\n\n## 1.0.0\n\n### Major Changes\n"

describe("publishing", () => {
  test("a package with the fields of its publisher and a described version may be published", () => {
    assert.deepStrictEqual(obstacles({ manifest: filled, changelog, waiting: [] }), [])
  })

  test("one command fills in the three fields of the publisher, by any spelling of the address", () => {
    const url = "https://git.example.com/owner/effect-pix"
    const fields = {
      name: "effect-pix",
      version: "1.0.0",
      homepage: `${url}#readme`,
      bugs: { url: `${url}/issues`, email: "security@example.com" },
      license: "MIT",
      repository: { type: "git", url: `git+${url}.git` },
      type: "module"
    }
    for (const manifest of [filled, fillIn(filled, `git+${url}.git`, "security@example.com")])
      assert.strictEqual(JSON.stringify(manifest), JSON.stringify(fields))
  })

  test("a wrong address of a repository and a wrong e-mail address are refused", () => {
    for (const address of ["https://git.example.com", "git@example.com:owner/effect-pix"])
      assert.throws(() => fillIn(unfilled, address, "security@example.com"), "no https address")
    assert.throws(() => fillIn(unfilled, "https://git.example.com/owner/effect-pix", ""), "no e-mail address")
  })

  test("a package that does not say who publishes it is refused", () => {
    const other = fillIn(filled, "https://git.example.com/other/effect-pix", "security@example.com")
    for (const field of ["repository", "bugs", "homepage"] as const)
      for (const manifest of [unfilled, { ...filled, [field]: other[field] }, { ...filled, [field]: "" }])
        assert.match(obstacles({ manifest, changelog, waiting: [] }).join(), /who publishes it/)
  })

  test("a version that the changelog does not describe is refused, and so is a changeset that no version has", () => {
    const manifest = { ...filled, version: "1.0.1" }
    assert.match(obstacles({ manifest, changelog, waiting: [] }).join(), /no entry for 1\.0\.1/)
    assert.match(obstacles({ manifest: filled, changelog, waiting: [".changeset/a.md"] }).join(), /in no version/)
  })
})

describe("licences", () => {
  test("a licence of the list is allowed, alone or as a choice, and no other", () => {
    for (const licence of ["MIT", "ISC", "(GPL-3.0-only OR MIT)"]) assert.isTrue(isAllowed(licence), licence)
    for (const licence of [undefined, "", "UNLICENSED", "AGPL-3.0-only", "MIT AND GPL-3.0-only"])
      assert.isFalse(isAllowed(licence), licence)
  })

  test("a user installs the dependencies and peers with all their dependencies, and no development dependency", () => {
    const found = installed({
      "": { dependencies: { a: "1" }, peerDependencies: { b: "1" } },
      "node_modules/a": { license: "MIT", dependencies: { c: "1", b: "1" }, optionalDependencies: { absent: "1" } },
      "node_modules/a/node_modules/c": { license: "ISC", dependencies: { d: "1" } },
      "node_modules/b": { license: "MIT" },
      "node_modules/c": { license: "AGPL-3.0-only" },
      "node_modules/d": { license: "GPL-3.0-only" }
    })
    const names = ["a", "a/node_modules/c", "b", "d"].map((name) => `node_modules/${name}`)
    assert.sameMembers([...found.keys()], names)
  })
})

const Job = Schema.Struct({
  permissions: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  uses: Schema.optional(Schema.String),
  steps: Schema.optional(Schema.Array(Schema.Struct({ uses: Schema.optional(Schema.String) })))
})
const Workflow = Schema.Struct({
  permissions: Schema.Record(Schema.String, Schema.String),
  jobs: Schema.Record(Schema.String, Job)
})

describe("workflows", () => {
  const folder = join(import.meta.dirname, "../.github/workflows")
  const workflows = readdirSync(folder).map((name) => ({
    name,
    workflow: Schema.decodeUnknownSync(Workflow)(Yaml.parse(readFileSync(join(folder, name), "utf8")))
  }))

  test("each action is pinned by its commit", () => {
    const used = workflows.flatMap(({ workflow }) =>
      Object.values(workflow.jobs).flatMap(({ steps = [], uses }) => [uses, ...steps.map((step) => step.uses)])
    )
    for (const action of used) assert.match(action ?? "./", /^(\.\/|[\w-]+\/[\w-]+@[0-9a-f]{40}$)/)
  })

  test("a workflow may only read the repository, and only the job that publishes may get an identity token", () => {
    for (const { workflow } of workflows) assert.deepStrictEqual(workflow.permissions, { contents: "read" })
    const own = workflows.flatMap(({ name, workflow }) =>
      Object.entries(workflow.jobs).flatMap(([job, { permissions }]) =>
        permissions === undefined ? [] : [{ name, job, permissions }]
      )
    )
    assert.deepStrictEqual(own, [
      { name: "release.yml", job: "publish", permissions: { contents: "read", "id-token": "write" } }
    ])
  })
})
