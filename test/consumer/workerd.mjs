import { Miniflare } from "miniflare"

const workerd = new Miniflare({
  modules: [{ type: "ESModule", path: "worker.js" }],
  compatibilityDate: "2026-07-01"
})
const response = await workerd.dispatchFetch("http://worker.example")
console.log(await response.text())
await workerd.dispose()
