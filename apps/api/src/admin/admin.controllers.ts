import { AccountsAdminController } from './accounts.admin-controller';
import { ApiKeysAdminController } from './api-keys.admin-controller';
import { AuditAdminController } from './audit.admin-controller';
import { AuditLogAdminController } from './audit-log.admin-controller';
import { CreditsAdminController } from './credits.admin-controller';
import { DeploymentsAdminController } from './deployments.admin-controller';
import { JobsAdminController } from './jobs.admin-controller';
import { QueuesAdminController } from './queues.admin-controller';
import { WorkersAdminController } from './workers.admin-controller';

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
