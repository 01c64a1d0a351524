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
import { fillIn, obstacles, withAddress } from "../.ci/publisher.ts"

const unfilled = { name: "effect-pix", version: "1.0.0", license: "MIT", type: "module" }
const filled = fillIn(unfilled, "https://git.example.com/owner/effect-pix", "security@example.com")
const security = withAddress(readFileSync(join(import.meta.dirname, "../SECURITY.md"), "utf8"), "security@example.com")
const changelog = "# effect-pix\n\n## 1.0.0\n\n### Major Changes\n"

describe("publishing", () => {
  test("a package with the fields of its publisher and a described version may be published", () => {
    assert.deepStrictEqual(obstacles({ manifest: filled, changelog, security, waiting: [] }), [])
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
        assert.match(obstacles({ manifest, changelog, security, waiting: [] }).join(), /who publishes it/)
  })

  test("SECURITY.md says where to report a vulnerability, in its text, and a package without that is refused", () => {
    assert.match(security, /Write to <!-- address -->security@example\.com<!-- \/address -->/)
    for (const page of [withAddress(security, "other@example.com"), ""])
      assert.match(
        obstacles({ manifest: filled, changelog, security: page, waiting: [] }).join(),
        /not have the address/
      )
    assert.throws(() => withAddress("", "security@example.com"), "no place for the address")
  })

  test("a version that the changelog does not describe is refused, and so is a changeset that no version has", () => {
    const manifest = { ...filled, version: "1.0.1" }
    assert.match(obstacles({ manifest, changelog, security, waiting: [] }).join(), /no entry for 1\.0\.1/)
    assert.match(
      obstacles({ manifest: filled, changelog, security, waiting: [".changeset/a.md"] }).join(),
      /in no version/
    )
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
  needs: Schema.optional(Schema.String),
  steps: Schema.optional(
    Schema.Array(Schema.Struct({ uses: Schema.optional(Schema.String), run: Schema.optional(Schema.String) }))
  )
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
    assert.deepStrictEqual(own, [{ name: "release.yml", job: "publish", permissions: { "id-token": "write" } }])
  })

  test("what publishes runs no code of the repository or of its tools: it gets the package of a tag on main", () => {
    const { pack, publish } = workflows.find(({ name }) => name === "release.yml")!.workflow.jobs
    const stepsOf = (job = pack) => (job?.steps ?? []).map(({ run, uses }) => run ?? uses?.split("@")[0])
    assert.deepStrictEqual([publish?.needs, pack?.needs], ["pack", "test"])
    const [download, node, run = "", ...rest] = stepsOf(publish)
    assert.deepStrictEqual([download, node, rest], ["actions/download-artifact", "actions/setup-node", []])
    const npm = run.match(/\b(?:npm|npx|node)\b.*/g)
    assert.deepStrictEqual(
      [...(npm ?? [])],
      ['npm publish ./effect-pix-*.tgz --ignore-scripts --provenance --tag "$tag"']
    )
    assert.match(run, /^sha256sum --check/)
    assert.include(stepsOf(pack).join("\n"), 'git merge-base --is-ancestor "$GITHUB_SHA" origin/main')
  })
})
