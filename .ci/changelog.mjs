/**
 * How an entry of CHANGELOG.md is written: the text of its changeset as it is, without a commit.
 */
export default {
  getReleaseLine: ({ summary }) => `\n\n${summary}\n\n`,
  getDependencyReleaseLine: () => ""
}
