/** `@effect/platform-node` for a program of the docs that is played: see `world.ts`. */
import { runMain } from "./world.ts"

export * from "@effect/platform-node"
export const NodeRuntime = { runMain }
