import { AccountsAdminController } from './accounts/accounts.admin-controller';
import { ApiKeysAdminController } from './api-keys/api-keys.admin-controller';
import { AuditAdminController } from './operations/audit.admin-controller';
import { AuditLogAdminController } from './operations/audit-log.admin-controller';
import { CreditsAdminController } from './credits/credits.admin-controller';
import { DeploymentsAdminController } from './deployments/deployments.admin-controller';
import { JobsAdminController } from './jobs/jobs.admin-controller';
import { QueuesAdminController } from './operations/queues.admin-controller';
import { WorkersAdminController } from './operations/workers.admin-controller';

/** Whatever the admin API serves; its document is made from these. */
export const ADMIN_CONTROLLERS = [
  AccountsAdminController,
  ApiKeysAdminController,
  CreditsAdminController,
  DeploymentsAdminController,
  JobsAdminController,
  QueuesAdminController,
  WorkersAdminController,
  AuditLogAdminController,
  AuditAdminController,
];
