/** Runs before all tests: bundles the command as the package does, since a bundle starts in a third of the time. */
import { cpSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { rolldown } from "rolldown"

const root = resolve(import.meta.dirname, "../..")

/** As deep as dist/cli, for the package.json that the command reads. */
export const folder = join(root, "test/.command")

export const setup = async () => {
  // Both projects of a run have it: one bundles.
  const bundled = statSync(join(folder, "main.js"), { throwIfNoEntry: false })
  if (bundled !== undefined && bundled.mtimeMs > performance.timeOrigin) return
  const bundle = await rolldown({ input: join(root, "src/cli/main.ts"), platform: "node" })
  await bundle.write({ dir: folder, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name].js" })
  await bundle.close()
  cpSync(join(root, "src/panel/internal/assets"), join(folder, "assets"), { recursive: true })
}
