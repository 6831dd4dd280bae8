import { loadBuilt } from '../../scripts/lib/system/index.mjs';

/**
 * What the load generators use of the libs, by the path of the source, so that tsc fails when one of them moves or changes.
 *
 * @typedef {{
 *   'libs/billing/src/audit/index': typeof import('../../libs/billing/src/audit/index'),
 *   'libs/billing/src/index': typeof import('../../libs/billing/src/index'),
 *   'libs/contracts/src/index': typeof import('../../libs/contracts/src/index'),
 *   'libs/database/src/index': typeof import('../../libs/database/src/index'),
 *   'libs/deployments/src/index': typeof import('../../libs/deployments/src/index'),
 *   'libs/jobs/src/batches/batch-groups': typeof import('../../libs/jobs/src/batches/batch-groups'),
 *   'libs/jobs/src/batches/batch.store': typeof import('../../libs/jobs/src/batches/batch.store'),
 *   'libs/platform/src/string-methods': typeof import('../../libs/platform/src/string-methods'),
 *   'libs/jobs/src/dispatch/dispatcher': typeof import('../../libs/jobs/src/dispatch/dispatcher'),
 *   'libs/jobs/src/follow/job.store': typeof import('../../libs/jobs/src/follow/job.store'),
 *   'libs/jobs/src/index': typeof import('../../libs/jobs/src/index'),
 *   'libs/jobs/src/job.settings': typeof import('../../libs/jobs/src/job.settings'),
 *   'libs/jobs/src/lifecycle/claim.store': typeof import('../../libs/jobs/src/lifecycle/claim.store'),
 *   'libs/jobs/src/lifecycle/end.store': typeof import('../../libs/jobs/src/lifecycle/end.store'),
 *   'libs/jobs/src/lifecycle/renew.store': typeof import('../../libs/jobs/src/lifecycle/renew.store'),
 *   'libs/jobs/src/rotation/index': typeof import('../../libs/jobs/src/rotation/index'),
 *   'libs/jobs/src/submission/group.store': typeof import('../../libs/jobs/src/submission/group.store'),
 *   'libs/jobs/src/submission/submission.store': typeof import('../../libs/jobs/src/submission/submission.store'),
 *   'libs/messaging/src/index': typeof import('../../libs/messaging/src/index'),
 *   'libs/platform/src/index': typeof import('../../libs/platform/src/index'),
 *   'libs/testing/src/comfyui-simulator/index': typeof import('../../libs/testing/src/comfyui-simulator/index'),
 * }} Modules
 */

/**
 * A module of the built libs: load generators run as they are, without the compiler and its path aliases.
 *
 * @template {keyof Modules} P
 * @param {P} path
 * @returns {Modules[P]}
 */
export function built(path) {
  return /** @type {Modules[P]} */ (loadBuilt(path));
}
