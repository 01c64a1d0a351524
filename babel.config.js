/**
 * Marks calls that bundlers may drop. Of the comments only such marks and licences stay: docstrings are in the types and
 * in the sources, which are in the package too.
 */
export default {
  plugins: ["annotate-pure-calls"],
  shouldPrintComment: (comment) => /[#@]__PURE__|@license|^!/.test(comment)
}
