import {
  SegmentStore,
  archivedLines,
  auditArchiveSettings,
  composeAuditChainAuditor,
  openAuditArchive,
} from '@millrace/accounts';
import { StorageAuditor, assetSettings, composeArchiveBucket, composeAssets, openBlobStore } from '@millrace/assets';
import { composeBilling } from '@millrace/billing';
import { Database, assertSchema, databaseSettings } from '@millrace/database';
import { JobAudit, jobSettings } from '@millrace/jobs';
import { BootError, Metrics, createLogger, readSettings, type Auditor } from '@millrace/platform';
import { composeErasureAudit } from '@millrace/privacy';

/** A whole ledger is read at once; that may take longer than anything a customer waits for. */
const TIMEOUT_MS = 600_000;

/** Every audit that can be made with what an environment names, and how to end it. */
export interface OpenAudit {
  auditors: Auditor[];
  /**
   * The entries of a segment of the audit log as its object has them, a line of JSON each.
   *
   * @throws BootError where no bucket is named; an Error with a sentence when it has none or does not answer.
   */
  archivedSegment(no: bigint): AsyncIterable<string>;
  close(): Promise<void>;
}

/**
 * Open what an audit from a terminal needs: a database, and the bytes where the environment says where they are.
 *
 * @param archived which segments of the audit log are compared with their objects, where a bucket is named.
 * @throws SettingsError, BootError with a sentence for the operator.
 */
export async function openAudit(env: NodeJS.ProcessEnv, archived: 'newest' | 'all' = 'newest'): Promise<OpenAudit> {
  const shape = { ...databaseSettings, ...assetSettings, ...auditArchiveSettings, ...jobSettings };
  const settings = { ...readSettings(shape, env), databaseTimeoutMs: TIMEOUT_MS };
  const archive = openAuditArchive(settings, (bucket, days) => composeArchiveBucket(settings, bucket, days));
  const database = new Database(settings, 'millrace-audit');
  const close = async (): Promise<void> => {
    archive?.archive.close();
    await database.close();
  };
  try {
    await assertSchema(database);
    const logger = createLogger('audit', 'fatal');
    const { audit } = composeBilling({ database, logger, metrics: new Metrics('audit'), settings });
    const log = composeAuditChainAuditor(database, archive, archived);
    const auditors: Auditor[] = [audit, new JobAudit(database), log];
    const archivedSegment = (no: bigint): AsyncIterable<string> => {
      if (archive === null) throw new BootError('MILLRACE_AUDIT_BUCKET is not set: nothing is exported.');
      return archivedLines(database, new SegmentStore(), archive, no);
    };
    if (settings.blobDir === undefined && settings.s3Bucket === undefined) return { auditors, archivedSegment, close };
    const store = await openBlobStore(settings);
    const assets = composeAssets({ database, store, settings });
    auditors.push(
      new StorageAuditor(assets.audit, false),
      assets.countAuditor,
      composeErasureAudit(database, store.notes),
    );
    return {
      auditors,
      archivedSegment,
      close: async () => {
        store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
