import { Refusal, type JobMetadata, type Scope } from '@millrace/contracts';

/** What a sub-key can be granted: its own jobs, assets and usage. Nothing of the account itself is among them. */
const SUB_KEY_SCOPES: readonly Scope[] = ['jobs:read', 'jobs:write', 'assets:read', 'assets:write', 'usage:read'];

/**
 * In the name of a stored scope of a sub-key: a process of a version without sub-keys knows no such scope, and so lets the key do
 * nothing, instead of all that its account may do.
 */
const OF_OWN = 'own:';

/** How the scopes of a key are stored. @param labels null: of a key that is no sub-key. */
export function storedScopes(scopes: readonly Scope[], labels: JobMetadata | null): string[] {
  return labels === null ? [...scopes] : scopes.map((scope) => OF_OWN + scope);
}

/** The scopes of a stored key: of a sub-key those that are stored as such, and none beyond `SUB_KEY_SCOPES`. */
export function scopesOf(known: readonly Scope[], stored: readonly string[], labels: JobMetadata | null): Scope[] {
  if (labels === null) return known.filter((scope) => stored.includes(scope));
  return SUB_KEY_SCOPES.filter((scope) => stored.includes(OF_OWN + scope));
}

/** Labels as one text, in which their order does not matter: names those who see the same. */
export function labelsText(labels: JobMetadata): string {
  return Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key] ?? ''}`)
    .join(', ');
}

/**
 * The scopes of a new sub-key.
 *
 * @param asked undefined: all that its maker may grant, and that a sub-key can have.
 * @throws Refusal `invalid_request` for one that no sub-key can have, or when none is left.
 */
export function subKeyScopes(asked: readonly Scope[] | undefined, grantable: ReadonlySet<Scope>): Scope[] {
  const beyond = asked?.filter((scope) => !SUB_KEY_SCOPES.includes(scope)) ?? [];
  const scopes = asked ?? SUB_KEY_SCOPES.filter((scope) => grantable.has(scope));
  if (beyond.length === 0 && scopes.length > 0) return [...scopes];
  const known = SUB_KEY_SCOPES.join(', ');
  const reason =
    beyond.length === 0
      ? `cannot be left out: your key has none of ${known} to grant`
      : `a key with labels can have ${known}; leave out ${beyond.join(', ')}`;
  throw Refusal.ofFields([{ field: 'scopes', reason }]);
}
