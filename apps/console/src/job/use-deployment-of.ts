import { useEffect } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { asApiError } from '../api/api-error';
import { jobDeploymentQuery } from '../api/deployments';
import type { JobPlace } from '../api/jobs';

const route = getRouteApi('/jobs/$jobId');

/**
 * Go on at the deployment of a job that is not on the account's own surface: links from the ledger and from assets do not name it.
 *
 * @param error of reading the job where the address says.
 * @returns true while it is looked for.
 */
export function useDeploymentOf({ id, deployment }: JobPlace, error: Error | null): boolean {
  const navigate = route.useNavigate();
  const isLost = deployment === undefined && error !== null && asApiError(error).status === 404;
  const found = useQuery({ ...jobDeploymentQuery(id), enabled: isLost });
  const foundAt = isLost ? found.data : null;
  useEffect(() => {
    if (typeof foundAt === 'string') void navigate({ search: { deployment: foundAt }, replace: true });
  }, [foundAt, navigate]);
  return isLost && (found.isLoading || typeof foundAt === 'string');
}
