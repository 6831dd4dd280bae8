/**
 * What an operator may do. `viewer` reads. `operator` also acts on accounts, keys, jobs, deployments and machines, `finance` on
 * money. `admin` does everything, and alone says who else is an operator.
 */
export const OPERATOR_ROLES = ['viewer', 'operator', 'finance', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** Whether an operator of a role may do what needs another. */
export function roleCovers(role: OperatorRole, needed: OperatorRole): boolean {
  return needed === 'viewer' || role === needed || role === 'admin';
}
