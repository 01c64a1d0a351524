/**
 * What a program that this machine lacks does to the tests that need it: they are skipped, and say so. Where `EFFECT_PIX_ALL=1`,
 * as on the host of the repository, they fail.
 */
export const missing = (program: string): string => {
  const reason = `no ${program} is installed: test/support/debian.ts says how to have one`
  if (process.env["EFFECT_PIX_ALL"] === "1") throw new Error(`${reason}; EFFECT_PIX_ALL=1 allows no skipped test`)
  return reason
}
