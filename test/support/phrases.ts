import { readFileSync } from "node:fs"

/** The phrases of a file of `test/client/words`, which has one in each line. */
export const phrases = (name: string): ReadonlyArray<string> =>
  readFileSync(new URL(`../client/words/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n")
