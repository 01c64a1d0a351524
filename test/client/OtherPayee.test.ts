/** Whether a key that a withdrawal's record has is another payee's than the one that was asked for. */
import { assert, it } from "@effect/vitest"
import { PixKey } from "effect-pix"
import { isOtherKey } from "../../src/pix/OtherKey.ts"
import { phrases } from "../support/phrases.ts"

const uuid = "123e4567-e12b-12d1-a456-426655440000"
const bare = uuid.replaceAll("-", "")

/** Keys, and the texts as which a service may write each of them. */
const spellings: ReadonlyArray<readonly [asked: PixKey.PixKey, row: string]> = [
  [PixKey.phone("+5511912345684"), "+5511912345684|5511912345684|11912345684|(11) 91234-5684|+55 (11) 91234-5684"],
  [PixKey.phone("+5511912345684"), "+55 11 91234 5684|55 11 91234-5684|11 91234.5684|011912345684|tel:+5511912345684"],
  [PixKey.phone("+12025550123"), "+12025550123|12025550123|+1 202 555-0123|+1 (202) 555 0123"],
  // Eleven digits that are a Brazilian mobile number too.
  [PixKey.phone("+13955550123"), "13955550123|+1 395 555 0123"],
  [PixKey.cpf("529.982.247-25"), "52998224725|529.982.247-25| 529 982 247 25 |CPF 529.982.247-25"],
  // A CPF that is a mobile number too, and one whose zeros may be left out.
  [PixKey.cpf("11912345684"), "11912345684|119.123.456-84"],
  [PixKey.cpf("00000000191"), "191|00000000191|000.000.001-91"],
  [PixKey.cnpj("11222333000181"), "11222333000181|11.222.333/0001-81|11222333/0001-81"],
  [PixKey.cnpj("00000000000191"), "191|00.000.000/0001-91"],
  [PixKey.cnpj("12ABC34501DE35"), "12ABC34501DE35|12abc34501de35|12.abc.345/01de-35"],
  [PixKey.email("maria@example.com"), "maria@example.com|Maria@Example.COM| MARIA@EXAMPLE.COM|<maria@example.com>"],
  [PixKey.evp(uuid), `${uuid}|${uuid.toUpperCase()}|${bare}|${bare.toUpperCase()}|{${uuid}}| ${uuid} |urn:uuid:${uuid}`]
]

it.each(spellings)("the key of a record is the %s that was asked for, however it is written: %s", (asked, row) => {
  for (const text of row.split("|")) assert.isFalse(isOtherKey(text, PixKey.toPair(asked)), text)
})

it.each([...phrases("silentKeys"), "", " "])(
  "a text that is masked, empty or no key is no other payee's: %j",
  (text) => {
    for (const [asked] of spellings) assert.isFalse(isOtherKey(text, PixKey.toPair(asked)), String(asked))
  }
)

it.each(phrases("otherKeys"))("the key %s is another payee's", (text) => {
  for (const [asked] of spellings) assert.isTrue(isOtherKey(text, PixKey.toPair(asked)), String(asked))
})

it("a key that only reads as the asked one by another kind is another payee's", () => {
  assert.isTrue(isOtherKey("+5511912345684", PixKey.toPair(PixKey.cpf("11912345684"))))
})
