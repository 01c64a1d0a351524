/**
 * The seal key of the documentation. Everybody knows it, so a worker with it starts on a sandbox alone: on this machine, or in memory.
 */
import * as Effect from "effect/Effect"
import { settingError } from "../../../contract/ConfigurationError.ts"
import { isLoopback } from "../../../internal/loopback.ts"
import { makeMember } from "../../../internal/member.ts"
import type { Seal } from "../../Seal.ts"
import { currentSender } from "./sender.ts"

/** The id of that key. */
export const docsKeyId = "3eb1bd43"

/** What a seal has that opens with that key. */
export const HasDocsKey = makeMember<true>("HasDocsKey")

const isSandbox = (baseUrl: string) => {
  const { hostname } = new URL(baseUrl)
  // Nobody has a host under `.example`: in memory a sandbox has one.
  return isLoopback(hostname) || hostname.endsWith(".example")
}

/** Fails where a seal has that key, and the worker's client is of no sandbox. */
export const refuseDocsKey = Effect.fnUntraced(function* (seal: Seal, client: object) {
  const sender = yield* currentSender(client)
  if (HasDocsKey.of(seal) === undefined || sender === undefined || isSandbox(sender.baseUrl)) return
  return yield* settingError(
    "seal",
    `has the key ${docsKeyId} of the documentation, which everybody knows: make your own with openssl rand -base64 32`
  )
})
