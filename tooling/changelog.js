// Changesets looks its changelog module up from .changeset/, which does not see the packages of this folder.
export { default } from '@changesets/cli/changelog'
