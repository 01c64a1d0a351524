/** The version of this package. Written by .ci/llms.ts. */
export const version = "0.1.0"
