/** The version in `package.json`, which is two folders above this file, and above the bundle in dist/cli. */
import * as Fs from "node:fs"

export const { version } = JSON.parse(Fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string // npm publishes no package without one
}
