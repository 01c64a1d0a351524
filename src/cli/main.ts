#!/usr/bin/env node
/** The entry of the command. It checks the version of Node before it loads code that an older version cannot read. */
import process from "node:process"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(`effect-pix needs Node 22.19 or newer. This is Node ${process.versions.node}.\n`)
  process.exitCode = 1
} else {
  const { run } = await import("./program.ts")
  run()
}
