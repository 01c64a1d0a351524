/**
 * A key and a self-signed certificate for `localhost`, made anew by `openssl` for a run of the bench.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

export interface Certificate {
  /** The paths of the files. */
  readonly key: string
  readonly cert: string
}

/** The files are removed with the scope. */
export const makeCertificate = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "effect-pix-bench-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  ),
  (folder): Certificate => {
    const files = { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") }
    const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    const named = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    execFileSync("openssl", ["req", "-x509", ...made, ...named, "-keyout", files.key, "-out", files.cert], {
      stdio: "ignore"
    })
    return files
  }
)
