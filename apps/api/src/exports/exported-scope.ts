import type { Scope } from '@millrace/contracts';

/** What the files have is read with this elsewhere. Who has them written reads them, in a bucket that may be their own. */
export const EXPORTED: Scope = 'usage:read';

/** The same, for the descriptions of endpoints. */
export const NEEDS_EXPORTED = `Takes the scope \`${EXPORTED}\` as well.`;
