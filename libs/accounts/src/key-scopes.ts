import { SCOPES, scopesOfRole, type JobMetadata, type MemberRole, type Scope } from '@millrace/contracts';
import { scopesOf } from './key-labels';

/** What decides what a key may do, as it is stored. */
export interface StoredRights {
  scopes: readonly string[];
  labels: JobMetadata | null;
  isSessionKey: boolean;
  /** Null for a key of the account itself. */
  memberRole: MemberRole | null;
}

/**
 * What a key may do now, no matter how it is presented. A key of a member does no more than the member's role, also where that changed
 * after it was made; the key as which the sessions of a member act has all scopes of the role, and none of its own.
 */
export function scopesNow({ scopes, labels, isSessionKey, memberRole }: StoredRights): Scope[] {
  const own = scopesOf(SCOPES, scopes, labels);
  if (memberRole === null) return own;
  const allowed = scopesOfRole(memberRole);
  return isSessionKey ? allowed : own.filter((scope) => allowed.includes(scope));
}
