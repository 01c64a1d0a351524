/**
 * The sender of a request: the base URL, the client id and the company under which it is sent. An idempotency key
 * belongs to a sender, so a write in doubt is sent again only under the same one.
 */

/** Under whom a request is sent. No secret can be read from it. */
export interface Sender {
  readonly baseUrl: string
  /** The client's own company. */
  readonly companyId: number | undefined
  /**
   * A hash of base URL, client id and company: the client's own company, else `companyId`. With no known company the
   * secret is hashed too, since it is then the secret that decides which company pays.
   */
  readonly fingerprint: (companyId?: number) => string
}
