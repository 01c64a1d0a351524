/** What the page uses of `preact.js`, which is served beside the scripts of `assets/`. */
export type Html = { readonly props: object }
export declare const html: (strings: TemplateStringsArray, ...values: ReadonlyArray<unknown>) => Html
export declare const render: (page: Html, parent: Element) => void
