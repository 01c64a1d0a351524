/** Folds the name of a field: `error_code` and `errorCode` become the same name. */
export const foldName = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "")
