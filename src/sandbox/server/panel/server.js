/** Calls the steering API. */

/** Sends a request. A refusal is an error with the message of the answer. */
export const ask = async (method, path, body) => {
  const sent = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const response = await fetch(`/_sandbox${path}`, body === undefined ? { method } : { method, ...sent })
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(
    answer.message ?? `${answer.subject} ${answer.id}: ${answer.status ?? answer._tag} → ${answer.asked ?? "?"}`
  )
}

/** Listens to changes, and finds out whether some were missed while the connection was lost. */
export const listen = ({ onLive, onLost, onChange, onMissed }) => {
  const source = new EventSource("/_sandbox/changes")
  let last
  source.addEventListener("ready", (event) => {
    const now = Number(event.data)
    onLive()
    if (last !== now) onMissed()
    last = now
  })
  source.addEventListener("message", (event) => {
    const change = JSON.parse(event.data)
    if (last !== undefined && change.sequence !== last + 1) onMissed()
    last = change.sequence
    onChange(change._tag)
  })
  source.addEventListener("error", onLost)
}
