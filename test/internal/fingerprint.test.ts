import { assert, it } from "@effect/vitest"
import { IdempotencyKey } from "effect-pix"
import { fingerprint, lanes } from "../../src/internal/fingerprint.ts"

it("a fingerprint never changes: errors and rows hold it", () => {
  assert.strictEqual(fingerprint("invoice-42"), "65a992931d2ef34e860c3f122cac943a53f10262")
  assert.strictEqual(fingerprint(""), "cb72770f0c66c0248c03471fbcf5183711fd02eb")
})

it("texts that differ little share a lane no more often than chance has it, and never a fingerprint", () => {
  // As they are hashed: keys of references, client ids, JSON.
  const texts = Array.from({ length: 20_000 }, (_, at) => [`payout_${at}`, `{"id":"${at}"}`, `${at}-client`]).flat()
  const made = texts.map(fingerprint)
  assert.strictEqual(new Set(made).size, texts.length)
  for (let at = 0; at < 5; at++) {
    const lane = new Set(made.map((one) => one.slice(at * 8, at * 8 + 8)))
    // 60,000 random numbers of 32 bits: 0.4 pairs are expected.
    assert.isAtLeast(lane.size, texts.length - 8, `lane ${at}`)
  }
})

it("the name of a key or of a secret has no more bits than are asked for: too few to read it from them", () => {
  assert.strictEqual(IdempotencyKey.fingerprint("invoice-42"), "65a99293")
  assert.match(IdempotencyKey.fingerprint("maria@example.com"), /^[0-9a-f]{8}$/)
  assert.match(lanes("sk_live_0123456789abcdef", 1), /^[0-9a-f]{8}$/)
  assert.match(lanes("client", 2), /^[0-9a-f]{16}$/)
})
