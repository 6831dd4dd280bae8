import { Refusal } from '@millrace/contracts';
import { statementPart, type StatementPart } from '@millrace/database';

/*
 * Where a job runs is looked up before it is recorded, which may take minutes. A deployment that was deleted meanwhile has no workers any more: the job
 * would wait until its deadline, and hold credits. So the statement that has it count locks the deployment against its deletion, and looks again.
 */

/** The reason with which a statement refuses itself when the deployment of a job is deleted. */
export const DEPLOYMENT_DELETED = 'deployment_deleted';
/** The reason with which a statement refuses itself when the deployment of a job takes no more, because it is to be deleted. */
export const DEPLOYMENT_DELETING = 'deployment_deleting';

/**
 * Refuse the statement when the deployment is deleted or being deleted, and let nobody delete it until the transaction ends: its deletion then finds the job.
 * Submissions share the lock, and other changes of the deployment do not wait for it: none of its columns that change is in a full unique index, by which
 * PostgreSQL would count it as a key. Costs a job without a deployment nothing.
 *
 * @param after a part that must have yielded its row first.
 */
export function openDeploymentPart(deploymentId: string | null, after: StatementPart): StatementPart {
  if (deploymentId === null) return after;
  const kept = statementPart('kept_deployment')`
    SELECT d.deleted_at, d.deleting_at FROM ${after}, deployments d WHERE d.id = ${deploymentId}::uuid FOR KEY SHARE OF d`;
  return statementPart('open_deployment')`
    SELECT FROM ${after} LEFT JOIN ${kept} k ON true
    WHERE CASE WHEN k.deleted_at IS NOT NULL THEN refuse(${DEPLOYMENT_DELETED})
               WHEN k.deleting_at IS NOT NULL THEN refuse(${DEPLOYMENT_DELETING}) ELSE true END`;
}

/** The same of many jobs: `draft` has the deployment of each, null for none. @param after a part that must have run first. */
export function openDeploymentsPart(
  drafts: readonly { deploymentId: string | null }[],
  draft: StatementPart<'deployment_id'>,
  after: StatementPart,
): StatementPart {
  if (drafts.every(({ deploymentId }) => deploymentId === null)) return after;
  const kept = statementPart('kept_deployments')`
    SELECT d.deleted_at, d.deleting_at FROM deployments d, (SELECT count(*) FROM ${after}) AS done
    WHERE d.id IN (SELECT deployment_id FROM ${draft}) ORDER BY d.id FOR KEY SHARE OF d`;
  return statementPart('open_deployments')`
    SELECT FROM ${kept} k
    WHERE CASE WHEN k.deleted_at IS NOT NULL THEN refuse(${DEPLOYMENT_DELETED})
               WHEN k.deleting_at IS NOT NULL THEN refuse(${DEPLOYMENT_DELETING}) ELSE true END`;
}

/** What a request for a deployment that is being deleted is refused with. */
export function deploymentDeleting(): Refusal {
  return new Refusal('deployment_stopped', 'This deployment is being deleted; it takes no more jobs.');
}
