#!/usr/bin/env node
/** The entry of the command: it asks for the Node that the rest needs, before the rest is loaded. */
import process from "node:process"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`effect-pix needs Node 22.19 or newer. This is Node ${process.versions.node}.\n`)
  process.exitCode = 1
} else {
  const { run } = await import("./program.ts")
  run()
}
