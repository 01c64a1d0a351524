/** BR Codes of documents and of gateways. Our reader must read them like other readers. */

/** Examples of the manuals and of bacen/pix-api, and a community example. All checksums are correct. */
export const published = {
  "a static key":
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D",
  "a dynamic URL":
    "00020101021226700014br.gov.bcb.pix2548pix.example.com/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***630464E4",
  "PIX among other accounts":
    "00020104141234567890123426580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-42665544000027300012BR.COM.OUTRO011001234567895204000053039865406123.455802BR5917NOME DO RECEBEDOR6008BRASILIA61087007490062190515RP12345678-201980390012BR.COM.OUTRO01190123.ABCD.3456.WXYZ6304AD38",
  "a recurrence alone":
    "00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/2353c790eefb11eaadc10242ac120002630462C9",
  "a URL and a recurrence":
    "00020101021226760014br.gov.bcb.pix2554pix.example.com/qr/v2/8b3da2f39a4140d1a91abd93113bd4415204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/94ed2badcbc04c15b0bb7fa35319489063047741",
  "a due charge and a recurrence":
    "00020101021226810014br.gov.bcb.pix2559pix.example.com/qr/v2/cobv/1e6c54d3ec9449b7a7fc53b6b0f998e75204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80800014br.gov.bcb.pix2558pix.example.com/qr/v2/rec/3ffa640fa4f14080adccb949fa2dc0d06304A441",
  "a key and a recurrence":
    "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865406100.505802BR5913Fulano de Tal6008BRASILIA62070503***80740014br.gov.bcb.pix2552pix.example.com/rec/2353c790eefb11eaadc10242ac12000263042875",
  "a city that is too long":
    "00020126580014br.gov.bcb.pix0136bee05743-4291-4f3c-9259-595df1307ba1520400005303986540510.005802BR5914Alexandre Lima6019Presidente Prudente62180514Um-Id-Qualquer6304D475"
} as const satisfies Readonly<Record<string, string>>

/** Codes from the answers of gateways and their test environments, with correct checksums, and the content of each. */
export const answered: Readonly<
  Record<string, { readonly payload: string; readonly says: Readonly<Record<string, unknown>> }>
> = {
  "Banco Inter's sandbox, its merchant's name a star": {
    payload:
      "00020101021226960014BR.GOV.BCB.PIX2574cdpj-sandbox.partners.uatinter.co/pj-s/v2/96382fbb70ad4a628b011163d6bac7985204000053039865802BR5901*6013BELO HORIZONT61089999999962070503***6304F157",
    says: {
      kind: "dynamic",
      merchantName: "*",
      merchantCity: "BELO HORIZONT",
      postalCode: "99999999",
      url: "cdpj-sandbox.partners.uatinter.co/pj-s/v2/96382fbb70ad4a628b011163d6bac798"
    }
  },
  "OpenPix's test account, dynamic with an amount and a txid": {
    payload:
      "00020101021226910014br.gov.bcb.pix2569localhost:5001/api/testaccount/qr/v1/ab683b8f0e45482fb33154ba80f36354520400005303986540550.005802BR5904demo6009SAO_PAULO61080455630062290525ab683b8f0e45482fb33154ba863040A26",
    says: {
      kind: "dynamic",
      merchantName: "demo",
      merchantCity: "SAO_PAULO",
      postalCode: "04556300",
      amount: 5000,
      txid: "ab683b8f0e45482fb33154ba8",
      url: "localhost:5001/api/testaccount/qr/v1/ab683b8f0e45482fb33154ba80f36354"
    }
  },
  "Woovi's sandbox": {
    payload:
      "00020101021226980014br.gov.bcb.pix2576api.woovi-sandbox.com/api/testaccount/qr/v1/8db0a8b89d3c4660ab14242a77565d64520400005303986540515.005802BR5915Pro_Hero_Sports6009Sao_Paulo622905258db0a8b89d3c4660ab14242a763044014",
    says: {
      kind: "dynamic",
      merchantName: "Pro_Hero_Sports",
      merchantCity: "Sao_Paulo",
      amount: 1500,
      txid: "8db0a8b89d3c4660ab14242a7",
      url: "api.woovi-sandbox.com/api/testaccount/qr/v1/8db0a8b89d3c4660ab14242a77565d64"
    }
  },
  "EBANX, for Google": {
    payload:
      "00020101021226740014br.gov.bcb.pix2552pix.ebanx.com/qr/v2/1945050BBBDA9347ADD89F019566952E5204000053039865802BR5924Google Brasil Pagamentos6009SAO PAULO62070503***63044A78",
    says: {
      kind: "dynamic",
      merchantName: "Google Brasil Pagamentos",
      merchantCity: "SAO PAULO",
      url: "pix.ebanx.com/qr/v2/1945050BBBDA9347ADD89F019566952E"
    }
  },
  "PayZu's documentation, a static e-mail key": {
    payload:
      "00020126400014br.gov.bcb.pix0118fulano@exemplo.com520400005303986540525.005802BR5913FULANO DE TAL6009SAO PAULO62140510PEDIDO482163048572",
    says: {
      kind: "static",
      merchantName: "FULANO DE TAL",
      merchantCity: "SAO PAULO",
      amount: 2500,
      txid: "PEDIDO4821",
      key: "fulano@exemplo.com"
    }
  },
  "the BR Code manual of 2019, with a template inside field 62": {
    payload:
      "00020126440014BR.GOV.BCB.PIX0122FULANO2019 EXAMPLE.COM5204000053039865802BR5913FULANO DE TAL6008BRASILIA62410503***50300017BR.GOV.BCB.BRCODE01051.0.0630427E9",
    says: {
      kind: "static",
      merchantName: "FULANO DE TAL",
      merchantCity: "BRASILIA",
      key: "FULANO2019 EXAMPLE.COM"
    }
  },
  "a dynamic code with an amount and a hyphen in its txid": {
    payload:
      "00020101021226720014br.gov.bcb.pix2550bx.com.br/pix/8b3da2f3-9a41-40d1-a91a-bd93113bd4415204000053039865406123.455802BR5913Fulano de Tal6008BRASILIA62190515RP12345678-2019630445C8",
    says: {
      kind: "dynamic",
      merchantName: "Fulano de Tal",
      merchantCity: "BRASILIA",
      amount: 12345,
      txid: "RP12345678-2019",
      url: "bx.com.br/pix/8b3da2f3-9a41-40d1-a91a-bd93113bd441"
    }
  }
}

/** Codes in documentation that cannot be paid: they have a placeholder in place of the checksum. */
export const placeholders: Readonly<Record<string, string>> = {
  "AdoPay's documentation":
    "00020126580014br.gov.bcb.pix0136a629532e-7693-4846-852d-1bbff6b2f8cd520400005303986540510.005802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D",
  "Lerian's documentation":
    "00020126580014br.gov.bcb.Pix0136123e4567-e12b-12d1-a456-426655440000520400005303986540510.005802BR5913TESTE ACCOUNT6008BRASILIA62070503***630445C8",
  "a public listing of the fields":
    "00020126360014BR.GOV.BCB.PIX0114+5511943214321520400005303986540566.665802BR5907EMPRESA6008BRASILIA62070503***6304170E"
}

/** Codes in documentation with wrong lengths. */
export const broken: Readonly<Record<string, string>> = {
  "SimPay's documentation":
    "00020126360014br.gov.bcb.pix0114+55119999999995204000053039865406100.505802BR5925FULANO DE TAL6014BELO HORIZONTE62070503***63041D3D",
  "Banco Inter's sandbox, an account of 101 characters":
    "000201010212261010014BR.GOV.BCB.PIX2579cdpj-sandbox.partners.uatinter.co/pj-s/v2/cobv/afad912c569348b6b6a3476ca4579a6d52040000530398654042.505802BR5901*6013Belo Horizont61089999999962070503***6304A5CC"
}
