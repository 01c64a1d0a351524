/**
 * Folds texts before rules test them: lower case, no accents.
 */
import { withoutAccents } from "../../../internal/withoutAccents.ts"

/** Folds words. A code such as `ALREADY_PAID` is added once more as separate words. */
export const foldWords = (text: string): string => {
  const plain = withoutAccents(text)
  const separated = plain.replaceAll(/([a-z\d])(?=[A-Z])|[_-]/g, "$1 ")
  return (separated === plain ? plain : `${plain}\n${separated}`).toLowerCase()
}

/** Folds the name of a field: `error_code` and `errorCode` become the same name. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "")
