import { useQuery } from '@tanstack/react-query';
import { roleCovers, type OperatorRole } from '@millrace/contracts';
import { sessionQuery } from './session';

/** Whether the role of the session covers what an act needs: what the service would refuse is not offered. */
export function useMay(needed: OperatorRole): boolean {
  const role = useQuery(sessionQuery).data?.role;
  return role !== undefined && roleCovers(role, needed);
}
