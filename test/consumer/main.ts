import { run } from "./program.ts"

console.log(await run())
