/**
 * The seal key of the documentation. Everybody knows it, so a worker with it starts on a sandbox alone: see `sender.ts`.
 */
import { makeMember } from "../../../internal/member.ts"

/** The id of that key. */
export const docsKeyId = "3eb1bd43"

/** What a seal has that opens with that key. */
export const HasDocsKey = makeMember<true>("HasDocsKey")
