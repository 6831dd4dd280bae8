import type { Scope } from './access';
import { SCOPES } from './access';

/** What a person of an account may do, from all to nothing but reading. */
export const MEMBER_ROLES = ['owner', 'developer', 'finance', 'viewer'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

const READS: readonly Scope[] = ['jobs:read', 'assets:read', 'usage:read', 'webhooks:read'];

/** The scopes that each role comes to. A key of a member never does more than the role of its member. */
const SCOPES_OF: Record<MemberRole, readonly Scope[]> = {
  owner: SCOPES,
  developer: [...READS, 'jobs:write', 'assets:write', 'deployments:write', 'webhooks:write', 'keys:admin'],
  finance: ['usage:read', 'credits:write'],
  viewer: READS,
};

/** What someone of a role may do, in the order of `SCOPES`. */
export function scopesOfRole(role: MemberRole): Scope[] {
  return SCOPES.filter((scope) => SCOPES_OF[role].includes(scope));
}

/** Whether these scopes are an owner's: only who may do everything decides who else may do anything. */
export function isOwners(scopes: ReadonlySet<Scope>): boolean {
  return SCOPES.every((scope) => scopes.has(scope));
}
