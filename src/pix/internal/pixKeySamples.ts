/**
 * Valid pairs of key and kind. Property tests generate them from the schema of a key.
 */
import * as Schema from "effect/Schema"
import * as Document from "../Document.ts"
import { evpPattern, type kinds } from "./pixKeyKinds.ts"

const pattern = (regexp: RegExp) => Schema.String.check(Schema.isPattern(regexp))

const sample = <const Type extends keyof typeof kinds>(type: Type, pixKey: Schema.Codec<string>) =>
  Schema.Struct({ pixKey, pixKeyType: Schema.Literal(type) })

export const samples = Schema.Union([
  sample("CPF", Schema.toType(Document.Cpf)),
  sample("CNPJ", Schema.toType(Document.Cnpj)),
  sample("EMAIL", pattern(/^[a-z0-9._+-]{1,24}@[a-z0-9]{1,16}(\.[a-z]{2,8}){1,2}$/)),
  sample("PHONE", pattern(/^\+(55(11|21|47|61|85)9\d{8}|[1-46-9]\d{7,14})$/)),
  sample("EVP", pattern(evpPattern))
])
