/**
 * Words as rules are tested on them: in lower case and without accents.
 */
import { withoutAccents } from "../../../internal/withoutAccents.ts"

/** The words; and once more with the words of a code apart: `ALREADY_PAID`. */
export const foldWords = (text: string): string => {
  const plain = withoutAccents(text)
  const apart = plain.replaceAll(/([a-z\d])(?=[A-Z])|[_-]/g, "$1 ")
  return (apart === plain ? plain : `${plain}\n${apart}`).toLowerCase()
}

/** The name of a field, without separators: `error_code` and `errorCode` are one name. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "")
