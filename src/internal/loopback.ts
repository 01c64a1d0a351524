/** Whether a URL's host name is this machine's own: where http is allowed, and where a sandbox may send. */
export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
