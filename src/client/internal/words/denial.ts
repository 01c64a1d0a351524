/**
 * Finds a documented status that says that the operation failed: the documented words for it, and "rejected".
 */
import { foldWords } from "./fold.ts"

const failed = /(?<!\b(?:no|non|not|nao) )\b(?:failed|cancell?ed|refunded|rejected)\b/

/** A word for failure, or a sign that folding may change. Any other status is not folded. */
const suspect = /fail|cancel|refund|reject|[^ -~]/i

/** Whether a status has a word for failure, as a whole word in any case. */
export const meansFailure = (status: string): boolean => suspect.test(status) && failed.test(foldWords(status))
