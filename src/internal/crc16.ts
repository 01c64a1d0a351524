/**
 * CRC-16/CCITT-FALSE, the checksum of a BR Code: polynomial 0x1021, initial value 0xFFFF, nothing reflected.
 */
const utf8 = new TextEncoder()

/** The checksum of the text's UTF-8 bytes, as four capital hexadecimal digits. */
export const crc16 = (text: string): string => {
  let crc = 0xffff
  for (const byte of utf8.encode(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? (crc << 1) & 0xffff : ((crc << 1) ^ 0x1021) & 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, "0")
}
