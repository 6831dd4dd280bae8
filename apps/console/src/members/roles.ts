import type { MemberRole } from '@millrace/contracts';

/** What each role may do. The types refuse a list that differs from the contract's. */
export const ROLE_TEXTS: Record<MemberRole, string> = {
  owner: 'Everything, and alone decides about members',
  developer: 'Jobs, assets, deployments, webhooks and API keys',
  finance: 'Usage, credits and spend caps',
  viewer: 'Reads jobs, assets, usage and webhooks',
};

export const ROLES = Object.keys(ROLE_TEXTS) as MemberRole[];
