import { StorageAuditor, assetSettings, composeAssets, openBlobStore } from '@millrace/assets';
import { composeBilling } from '@millrace/billing';
import { Database, assertSchema, databaseSettings } from '@millrace/database';
import { JobAudit, jobSettings } from '@millrace/jobs';
import { Metrics, createLogger, readSettings, type Auditor } from '@millrace/platform';

/** A whole ledger is read at once; that may take longer than anything a customer waits for. */
const TIMEOUT_MS = 600_000;

/** Every audit that can be made with what an environment names, and how to end it. */
export interface OpenAudit {
  auditors: Auditor[];
  close(): Promise<void>;
}

/**
 * Open what an audit from a terminal needs: a database, and the bytes where the environment says where they are.
 *
 * @throws SettingsError, BootError with a sentence for the operator.
 */
export async function openAudit(env: NodeJS.ProcessEnv): Promise<OpenAudit> {
  const shape = { ...databaseSettings, ...assetSettings, ...jobSettings };
  const settings = { ...readSettings(shape, env), databaseTimeoutMs: TIMEOUT_MS };
  const database = new Database(settings, 'millrace-audit');
  try {
    await assertSchema(database);
    const logger = createLogger('audit', 'fatal');
    const { audit } = composeBilling({ database, logger, metrics: new Metrics('audit'), settings });
    const auditors: Auditor[] = [audit, new JobAudit(database)];
    if (settings.blobDir === undefined && settings.s3Bucket === undefined) {
      return { auditors, close: () => database.close() };
    }
    const store = await openBlobStore(settings);
    const assets = composeAssets({ database, store, settings });
    auditors.push(new StorageAuditor(assets.audit, false), assets.countAuditor);
    return {
      auditors,
      close: async () => {
        store.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}
