/** Made-up secrets and personal data, which are searched for in every shown text. */
export const secrets = { apiKey: "sk-CanaryKey-9f3b7c21", clientId: "canary-client-4d2e8a" }

export const person = {
  cpf: "52998224725",
  email: "zulmira.canary@correio-zz.example",
  phone: "5511987654321",
  evp: "7d9f0335-8dcc-4054-9bf9-0dbd61d36906",
  name: "Zulmira Canária Quixadá",
  customerId: "cust-canary-77120",
  reference: "ref-canary-55011",
  item: "Canary item of a cart",
  ip: "203.0.113.177",
  description: "aluguel-canary do apartamento",
  metadata: "metadata-canary-3301"
}

/** Folds a text to letters and digits, so that no punctuation, case, accent or escape hides a value. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")

const unescape = (text: string): string =>
  text
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"))
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))

const needles = Object.entries({ ...secrets, ...person }).map(([name, value]) => [name, fold(value)] as const)

/** The names of the values of which the text holds eight letters or digits in a row, in whatever spelling. */
export const leaksIn = (text: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const hay of new Set([fold(text), fold(unescape(text))])) {
    for (const [name, needle] of needles) {
      for (let at = 0; at + 8 <= needle.length; at++) {
        if (hay.includes(needle.slice(at, at + 8))) {
          found.add(name)
          break
        }
      }
    }
  }
  return [...found].toSorted()
}
