/**
 * The functions of brazilian-utils that this library uses: check digits and punctuation of documents, area codes of
 * phones. The build copies their code in place of these imports, so that users do not install the rest of the package
 * (megabytes). Its types are not installed either, so they are written out here.
 */

import * as Cnpj from "@brazilian-utils/brazilian-utils/format-cnpj"
import * as Cpf from "@brazilian-utils/brazilian-utils/format-cpf"
import * as ValidCnpj from "@brazilian-utils/brazilian-utils/is-valid-cnpj"
import * as ValidCpf from "@brazilian-utils/brazilian-utils/is-valid-cpf"
import * as Landline from "@brazilian-utils/brazilian-utils/is-valid-landline-phone"
import * as Mobile from "@brazilian-utils/brazilian-utils/is-valid-mobile-phone"

export const isValidCpf = (text: string): boolean => ValidCpf.isValidCpf(text)

/** Accepts numeric and alphanumeric documents. */
export const isValidCnpj = (text: string): boolean => ValidCnpj.isValidCnpj(text, { version: 2 })

export const formatCpf = (cpf: string): string => Cpf.formatCpf(cpf)
export const formatCnpj = (cnpj: string): string => Cnpj.formatCnpj(cnpj, { version: 2 })

/** Masks the first group and the check digits. */
export const obfuscateCpf = (cpf: string): string => Cpf.formatCpf(cpf, { obfuscate: true })
export const obfuscateCnpj = (cnpj: string): string => Cnpj.formatCnpj(cnpj, { version: 2, obfuscate: true })

/** Version 2 has today's numbering, and refuses area codes that do not exist. */
export const isValidMobilePhone = (text: string): boolean => Mobile.isValidMobilePhone(text, { version: 2 })
export const isValidLandlinePhone = (text: string): boolean => Landline.isValidLandlinePhone(text)
