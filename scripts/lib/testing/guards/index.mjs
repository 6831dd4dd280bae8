import { AUDIT_LOG_GUARDS } from './audit-log.mjs';
import { DAMAGE_GUARDS } from './damage.mjs';
import { DATABASE_GUARDS } from './database.mjs';
import { FLEET_GUARDS } from './fleet.mjs';
import { GATEWAY_GUARDS } from './gateway.mjs';
import { JOB_GUARDS } from './jobs.mjs';
import { LABEL_GUARDS } from './labels.mjs';
import { MAIL_GUARDS } from './mail.mjs';
import { MEMBER_GUARDS } from './members.mjs';
import { LOOP_GUARDS } from './loops.mjs';
import { MODEL_GUARDS } from './models.mjs';
import { MODEL_CACHE_GUARDS } from './model-cache.mjs';
import { SESSION_GUARDS } from './sessions.mjs';
import { BATCH_GUARDS, RETRY_GUARDS } from './retries.mjs';
import { TURN_GUARDS } from './turns.mjs';
import { PRIVACY_GUARDS } from './privacy.mjs';
import { REUSE_GUARDS } from './reuse.mjs';
import { CREDIT_GUARDS, SETTLEMENT_GUARDS } from './settlement.mjs';
import { SUB_KEY_GUARDS } from './sub-keys.mjs';
import { UPLOAD_GUARDS } from './uploads.mjs';
import { EXPORT_GUARDS } from './exports.mjs';
import { WEBHOOK_GUARDS } from './webhooks.mjs';
import { WORKER_GUARDS } from './workers.mjs';

/** Every guard that is removed in turn. */
export const GUARDS = [
  ...JOB_GUARDS,
  ...TURN_GUARDS,
  ...SETTLEMENT_GUARDS,
  ...RETRY_GUARDS,
  ...REUSE_GUARDS,
  ...WORKER_GUARDS,
  ...LOOP_GUARDS,
  ...FLEET_GUARDS,
  ...GATEWAY_GUARDS,
  ...UPLOAD_GUARDS,
  ...CREDIT_GUARDS,
  ...DAMAGE_GUARDS,
  ...SESSION_GUARDS,
  ...SUB_KEY_GUARDS,
  ...MAIL_GUARDS,
  ...MEMBER_GUARDS,
  ...LABEL_GUARDS,
  ...MODEL_GUARDS,
  ...MODEL_CACHE_GUARDS,
  ...WEBHOOK_GUARDS,
  ...EXPORT_GUARDS,
  ...BATCH_GUARDS,
  ...PRIVACY_GUARDS,
  ...AUDIT_LOG_GUARDS,
  ...DATABASE_GUARDS,
];
