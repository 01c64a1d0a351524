import { assert, describe, it } from "@effect/vitest"
import { IdempotencyKey } from "effect-pix"
import { fingerprint, lanes } from "../../src/internal/fingerprint.ts"

/** Texts as they are hashed: keys of references, client ids, JSON. They differ little. */
const texts = Array.from({ length: 20_000 }, (_, at) => [`payout_${at}`, `{"id":"${at}"}`, `${at}-client`]).flat()

describe("fingerprint", () => {
  it("a fingerprint never changes: errors and rows hold it", () => {
    assert.strictEqual(fingerprint("invoice-42"), "65a992931d2ef34e860c3f122cac943a53f10262")
    assert.strictEqual(fingerprint(""), "cb72770f0c66c0248c03471fbcf5183711fd02eb")
    assert.strictEqual(IdempotencyKey.fingerprint("invoice-42"), "65a99293")
  })

  it("texts that differ little share a lane no more often than chance has it, and never a fingerprint", () => {
    const made = texts.map(fingerprint)
    assert.strictEqual(new Set(made).size, texts.length)
    for (let at = 0; at < 5; at++) {
      const lane = new Set(made.map((one) => one.slice(at * 8, at * 8 + 8)))
      // 60,000 random numbers of 32 bits: 0.4 pairs are expected.
      assert.isAtLeast(lane.size, texts.length - 8, `lane ${at}`)
    }
  })

  it("one character changes about half of the bits, in each lane", () => {
    const bits = (hex: string) =>
      Array.from(hex, (digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0")).join("")
    for (let at = 0; at < 5; at++) {
      const changes = Array.from({ length: 1000 }, (_, n) => {
        const [one, other] = [`key-${n}-a`, `key-${n}-b`].map((text) =>
          bits(fingerprint(text).slice(at * 8, at * 8 + 8))
        )
        return Array.from(one ?? "").filter((bit, place) => bit !== other?.[place]).length
      })
      const mean = changes.reduce((sum, count) => sum + count, 0) / changes.length
      assert.isTrue(mean > 14 && mean < 18, `lane ${at}: ${mean}`)
    }
  })

  it("the name of a key, which may be a person's e-mail, has 32 bits: too few to read the key from it", () => {
    for (const key of ["maria@example.com", "52998224725", "wd_0198"])
      assert.match(IdempotencyKey.fingerprint(key), /^[0-9a-f]{8}$/)
  })

  it("a share of a secret has no more bits than are asked for", () => {
    assert.match(lanes("sk_live_0123456789abcdef", 1), /^[0-9a-f]{8}$/)
    assert.match(lanes("client", 2), /^[0-9a-f]{16}$/)
  })
})
