/** Runs before all tests: starts one PostgreSQL, on which each test makes a database of its own. */
import type { TestProject } from "vitest/node"
import { noPostgres, type Postgres, startPostgres } from "./postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the server; `undefined` where PostgreSQL is not installed. */
    postgres: string | undefined
  }
}

let server: Postgres | undefined

export const setup = async (project: TestProject) => {
  if (noPostgres() === undefined) server = await startPostgres()
  project.provide("postgres", server?.url)
}

export const teardown = async () => server?.stop()
