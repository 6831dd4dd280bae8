import type { AccountSubmissionDefaults } from '@millrace/accounts';
import type { AssetSettings } from '@millrace/assets';
import type { BillingSettings, LedgerStore } from '@millrace/billing';
import type { Database } from '@millrace/database';
import type { Metrics } from '@millrace/platform';
import type { Dispatcher } from '../dispatch';
import type { SubmissionExaminer } from '../examination';
import type { JobReads, JobStore } from '../follow';
import type { JobSettings } from '../job.settings';
import type { Lifecycle } from '../lifecycle';
import type { AccountQueueStore } from '../rotation';
import type { SubmissionChecks } from '../submission';
import { overlapMsOf } from './batch-follow.store';
import { BatchExaminer } from './batch-examiner';
import { BatchFitter } from './batch-fitter';
import { BatchJobStore } from './batch-job.store';
import { BatchRecorder } from './batch-recorder';
import { BatchRetries } from './batch-retries.service';
import { BatchRetryStore } from './batch-retry.store';
import { BatchStreams } from './batch-streams';
import { BatchSubmissions } from './batch-submissions.service';
import { BatchStore } from './batch.store';
import { Batches } from './batches.service';

/** What batches are built on. */
interface BatchParts {
  database: Database;
  ledger: LedgerStore;
  queues: AccountQueueStore;
  checks: SubmissionChecks;
  examiner: SubmissionExaminer;
  dispatcher: Dispatcher;
  defaults: Pick<AccountSubmissionDefaults, 'of'>;
  metrics: Metrics;
  settings: JobSettings & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>;
  jobs: JobStore;
  reads: JobReads;
  lifecycle: Lifecycle;
}

/** What accepts batches, tries their jobs again and shows them. */
export interface ComposedBatches {
  batchSubmissions: BatchSubmissions;
  batchRetries: BatchRetries;
  batches: Batches;
  batchStreams: BatchStreams;
}

/** Wire what accepts batches and shows them. */
export function composeBatches(parts: BatchParts): ComposedBatches {
  const { database, ledger, queues, checks, examiner, dispatcher, defaults, metrics, settings } = parts;
  const store = new BatchStore();
  const batches = new Batches(database, store, parts.jobs, parts.reads, parts.lifecycle, overlapMsOf(database));
  const fitter = new BatchFitter(database, ledger, queues, checks);
  const recorder = new BatchRecorder(new BatchJobStore(settings));
  const both = [recorder, fitter, new BatchExaminer(examiner, checks), dispatcher] as const;
  return {
    batchSubmissions: new BatchSubmissions(database, store, ...both, defaults, metrics, settings),
    batchRetries: new BatchRetries(database, store, new BatchRetryStore(), ...both, settings),
    batches,
    batchStreams: new BatchStreams(batches),
  };
}
