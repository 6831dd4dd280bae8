import { AccountErasureStore, AccountStore, ApiKeyStore, OwnerRights, type AuditLog } from '@millrace/accounts';
import type { AssetEraser, ContentService, NoteStore } from '@millrace/assets';
import { BookErasureStore } from '@millrace/billing';
import type { Database } from '@millrace/database';
import { DeploymentLifeStore } from '@millrace/deployments';
import { JobErasureStore, type JobEraser } from '@millrace/jobs';
import { ModelErasureStore } from '@millrace/models';
import type { Auditor, KeyRing, Loop } from '@millrace/platform';
import { WebhookErasureStore } from '@millrace/webhooks';
import { CarryOutErasuresLoop, ErasureRunner, ErasureSteps, ErasureStore, Erasures } from './erasure';
import { AccountExportStore, AccountExports } from './export';
import {
  ErasureAuditor,
  ErasureNotes,
  ReappliedErasures,
  ResealErasureNotesLoop,
  SweepErasureNotesLoop,
  UnknownErasures,
} from './notes';
import type { PrivacySettings } from './privacy.settings';

/** Wire what accounts and operators ask for. @param onClose called after keys have ended. */
export function composeErasures(database: Database, audit: AuditLog, onClose: () => void): Erasures {
  const jobs = new JobErasureStore();
  return new Erasures(
    database,
    new ErasureStore(),
    {
      accounts: new AccountErasureStore(),
      webhooks: new WebhookErasureStore(),
      deployments: new DeploymentLifeStore(),
    },
    (tx, accountId, jobId) => jobs.isKnown(tx, accountId, jobId),
    audit,
    new OwnerRights(new AccountStore(), new ApiKeyStore()),
    onClose,
  );
}

/** Wire what hands an account all that it has. */
export function composeAccountExports(database: Database, content: Pick<ContentService, 'openInput'>): AccountExports {
  return new AccountExports(database, new AccountExportStore(), content);
}

/** Wire what finds erasures that a restore of the database has taken back. */
export function composeErasureAudit(database: Database, notes: NoteStore): Auditor {
  return new ErasureAuditor(new UnknownErasures(database, new ErasureStore(), notes));
}

/** Wire what asks again for erasures that a restore of the database has taken back. */
export function composeReappliedErasures(
  { database, notes, secretKey }: { database: Database; notes: NoteStore; secretKey: KeyRing },
  audit: AuditLog,
): ReappliedErasures {
  const unknown = new UnknownErasures(database, new ErasureStore(), notes);
  return new ReappliedErasures(
    unknown,
    new ErasureNotes(notes, secretKey),
    composeErasures(database, audit, () => undefined),
  );
}

/** What carries erasures out is built on, made by the process that runs chores. */
interface ErasureParts {
  database: Database;
  jobs: JobEraser;
  assets: AssetEraser;
  notes: NoteStore;
  secretKey: KeyRing;
  settings: PrivacySettings;
}

/** Wire what carries erasures out. */
export function composeErasureChores({ database, jobs, assets, notes: files, secretKey, settings }: ErasureParts): {
  runner: ErasureRunner;
  loops: Loop[];
} {
  const notes = new ErasureNotes(files, secretKey);
  const steps = new ErasureSteps({
    notes,
    jobs,
    assets,
    models: new ModelErasureStore(),
    webhooks: new WebhookErasureStore(),
    deployments: new DeploymentLifeStore(),
    books: new BookErasureStore(),
    accounts: new AccountErasureStore(),
  });
  const runner = new ErasureRunner(database, new ErasureStore(), steps, settings.erasureSettleSeconds);
  return {
    runner,
    loops: [
      new CarryOutErasuresLoop(runner),
      new SweepErasureNotesLoop(notes, settings.backupRetentionDays),
      new ResealErasureNotesLoop(notes),
    ],
  };
}
