/** Valid documents and amounts for the tests of properties. */
import { Arbitrary, BigDecimal, Result, Schema } from "effect"
import * as Document from "../../src/pix/Document.ts"
import * as Money from "../../src/pix/Money.ts"

const text = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
const suffixes = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"))

/** Documents that begin with a text of the pattern, with the check digits that belong to it. */
const documents = <D extends string>(pattern: RegExp, is: (u: unknown) => u is D) =>
  Arbitrary.filterMap(Arbitrary.schema(text(pattern)), (base) => {
    const found = suffixes.map((suffix) => base + suffix).find(is)
    return found === undefined ? Result.fail(base) : Result.succeed(found)
  })

export const cpf = documents(/^\d{9}$/, Schema.is(Document.Cpf))

/** With letters, and without. */
export const cnpj = documents(/^(?:\d{12}|[0-9A-Z]{12})$/, Schema.is(Document.Cnpj))

/** Negative and positive amounts, whole and broken. */
export const reais = Arbitrary.map(
  Arbitrary.schema(Schema.Struct({ value: Schema.Int, scale: Schema.Literals([0, 1, 2, 2, 2, 3, 8]) })),
  ({ scale, value }) => Money.reais(BigDecimal.make(BigInt(value), scale))
)
