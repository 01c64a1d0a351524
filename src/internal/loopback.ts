/** Whether a URL's host name is this machine's own: where http is allowed, and where a sandbox may send. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)

/** The URL of a target of webhooks: `http` or `https`, on this machine or on an allowed host. `undefined` for any other. */
export const parseLocalUrl = (target: string | URL, allowedHosts: ReadonlyArray<string>): URL | undefined => {
  if (!URL.canParse(target)) return undefined
  const url = new URL(target)
  const isAllowed = isLoopback(url.hostname) || allowedHosts.includes(url.hostname)
  return isAllowed && /^https?:$/.test(url.protocol) ? url : undefined
}
