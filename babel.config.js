/**
 * Marks calls that bundlers may drop. Of the comments only such marks and licences stay: docstrings are in the types and
 * in the sources, which are in the package too. No source maps are made: what is left is the source without its types and
 * comments, under the same names, so a stack is read as it is.
 */
export default {
  plugins: ["annotate-pure-calls"],
  shouldPrintComment: (comment) => /[#@]__PURE__|@license|^!/.test(comment)
}
