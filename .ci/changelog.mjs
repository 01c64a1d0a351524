/**
 * Writes an entry of CHANGELOG.md: the unchanged text of its changeset, without a commit.
 */
export default {
  getReleaseLine: ({ summary }) => `\n\n${summary}\n\n`,
  getDependencyReleaseLine: () => ""
}
