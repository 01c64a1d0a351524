import { run } from "./program.ts"

export default { fetch: async () => new Response(await run()) }
