/** Runs before each fast test file, and forbids sockets, processes and databases. */
import childProcess from "node:child_process"
import { syncBuiltinESMExports } from "node:module"
import net from "node:net"
import sqlite from "node:sqlite"

const refuse = (resource: string) =>
  // It is a function that can also be called with `new`.
  function () {
    throw new Error(`A fast test opens ${resource}: name what it imports for it in vitest.config.ts.`)
  }

net.Server.prototype.listen = refuse("a port")
net.Socket.prototype.connect = refuse("a connection")
Object.assign(sqlite, { DatabaseSync: refuse("a database") })
for (const start of ["exec", "execFile", "fork", "spawn", "spawnSync"])
  Object.assign(childProcess, { [start]: refuse("a process") })
syncBuiltinESMExports()
