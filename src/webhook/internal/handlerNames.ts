/** The pieces of the user's code. */
export const handlerNames = [
  "onPaid",
  "onRefunded",
  "onClosed",
  "onStatus",
  "onWithdrawal",
  "onUnconfirmed",
  "expectedAmount",
  "isKnown"
] as const
