import { Miniflare } from "miniflare"

const workerd = new Miniflare({
  modules: [{ type: "ESModule", path: "webhookWorker.js" }],
  compatibilityDate: "2026-07-01"
})
const get = (path) => workerd.dispatchFetch(`http://worker.example${path}`).then((response) => response.json())
const post = (transactionId) =>
  workerd.dispatchFetch("http://worker.example/webhook", { method: "POST", body: JSON.stringify({ transactionId }) })

const { paid } = await get("/start")
// A burst, each call twice, and then all of them again: what was answered with 503 is sent until it is not. A webhook that stores
// nothing ships at least once.
let waiting = [...paid, ...paid]
for (let round = 0; round < 20 && waiting.length > 0; round++) {
  const answers = await Promise.all(waiting.map((id) => post(id).then(({ status }) => ({ id, status }))))
  const { shipped } = await get("/")
  const early = answers.filter(({ id, status }) => status === 200 && !shipped.includes(id))
  if (early.length > 0) throw new Error(`${early.length} calls were answered before they were handed out`)
  waiting = answers.filter(({ status }) => status !== 200).map(({ id }) => id)
}
const { shipped } = await get("/")
console.log(`${waiting.length} refused, ${new Set(shipped).size} shipped`)
await workerd.dispose()
