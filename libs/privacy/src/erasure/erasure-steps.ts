import type { AccountErasureStore } from '@millrace/accounts';
import type { AssetEraser } from '@millrace/assets';
import type { BookErasureStore } from '@millrace/billing';
import type { ErasureSubject, ErasureSubjectKind } from '@millrace/contracts';
import { forgetKeysOf, type Statements } from '@millrace/database';
import type { DeploymentLifeStore } from '@millrace/deployments';
import type { JobEraser } from '@millrace/jobs';
import type { ModelErasureStore } from '@millrace/models';
import type { WebhookErasureStore } from '@millrace/webhooks';
import type { ErasureCounts, ErasureLease } from './erasure';

/** Rows of one kind that a step deletes at most, and rows that it reads. */
const DELETED = 200;
const READ = 2_000;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** What a step came to. */
export interface Outcome {
  /** `wait`: something has to end first; `over`: nothing of its kind is left. */
  next: 'again' | 'wait' | 'over';
  /** Where it goes on, if it is to go on. */
  place?: string | null;
  counts?: ErasureCounts;
}

/** What is to be written in the transaction that notes how far the erasure is. */
type Write = (tx: Statements) => Promise<Outcome>;
type Many = Exclude<ErasureSubject, { kind: 'job' }>;
type LabelValue = Extract<ErasureSubject, { kind: 'label' }>;

/** The libs that erase, each what it keeps. */
export interface Erasers {
  jobs: JobEraser;
  assets: AssetEraser;
  models: ModelErasureStore;
  webhooks: WebhookErasureStore;
  deployments: DeploymentLifeStore;
  books: BookErasureStore;
  accounts: AccountErasureStore;
  /** Where it is noted what was erased, out of reach of a restore of the database. Keeping it twice is keeping it once. */
  notes: { keep(erasure: ErasureLease): Promise<void>; dropOthers(erasure: ErasureLease): Promise<number> };
}

/**
 * The steps of each kind, in their order: first the note by which it is done again after a restore, then what makes more (jobs, uploads),
 * then what names others, then the books and the log, and at last the bytes, whose records say what is left to remove. An upload that
 * the store refuses to drop is tried again before the bytes: until it is gone the erasure is not done, and a label's may have become an asset
 * meanwhile. Bytes that wait for it are removed by `sweep-blobs`. The last are the notes of an account's other erasures, of which there may be a million.
 */
const ORDER = {
  job: ['note', 'jobs', 'usage', 'bytes'],
  label: [
    'note',
    'jobs',
    'uploads',
    'assets',
    'batches',
    'refusals',
    'labels',
    'usage',
    'notices',
    'log',
    'keys',
    'uploads-again',
    'assets-again',
    'bytes',
  ],
  account: [
    'note',
    'close',
    'jobs',
    'close-again',
    'uploads',
    'models',
    'assets',
    'batches',
    'labels',
    'messages',
    'usage',
    'reasons',
    'log',
    'account',
    'uploads-again',
    'bytes',
    'notes',
  ],
} as const satisfies Record<ErasureSubjectKind, readonly string[]>;

/** The step after one; null: the first one asks with null, and after the last there is none. */
export function nextStep(kind: ErasureSubjectKind, step: string | null): string | null {
  const steps: readonly string[] = ORDER[kind];
  return steps[step === null ? 0 : steps.indexOf(step) + 1] ?? null;
}

/** What is done in each step of an erasure. */
export class ErasureSteps {
  constructor(private readonly erasers: Erasers) {}

  /** Do what of a step is done outside of a transaction. @returns what it came to, or what is to be written. */
  async run(step: string, lease: ErasureLease): Promise<Outcome | Write> {
    const { accountId, subject, pseudonym, place } = lease;
    const { assets, books, accounts, deployments, jobs, models, webhooks } = this.erasers;
    switch (step) {
      case 'note':
        await this.erasers.notes.keep(lease);
        return { next: 'over' };
      case 'notes':
        return { next: (await this.erasers.notes.dropOthers(lease)) > 0 ? 'again' : 'over' };
      case 'close':
      // What was accepted by processes that had the account's keys cached: by the end of `jobs` none has.
      case 'close-again':
        return async (tx) => {
          await accounts.forgetWritten(tx, accountId);
          await webhooks.closeEndpoints(tx, accountId);
          await deployments.closeAll(tx, accountId, pseudonym);
          await books.closeExports(tx, accountId);
          return { next: 'over' };
        };
      case 'jobs':
        return this.eraseJobs(lease);
      case 'uploads':
      case 'uploads-again': {
        const { uploads, refusal } = await assets.dropUploads(accountId, many(subject));
        if (uploads > 0) return { next: 'again', counts: { uploads } };
        // What is refused keeps nothing else from being erased.
        if (refusal !== null && step === 'uploads-again') throw refusal;
        return { next: (await assets.hasHeldUpload(accountId, many(subject))) ? 'wait' : 'over' };
      }
      case 'models':
        return async (tx) => {
          const gone = await models.delete(tx, accountId, DELETED);
          const ids = gone.flatMap((id) => id ?? []);
          return {
            next: goOn(gone.length, DELETED),
            counts: { models: gone.length, assets: await assets.delete(tx, accountId, ids) },
          };
        };
      case 'assets':
      case 'assets-again':
        return async (tx) => {
          const page = await assets.list(tx, accountId, many(subject), place, DELETED);
          const gone = await assets.delete(
            tx,
            accountId,
            page.map(({ id }) => id),
          );
          return { next: goOn(page.length, DELETED), place: page.at(-1)?.place ?? null, counts: { assets: gone } };
        };
      case 'batches':
        return async (tx) => {
          const batchIds = await jobs.deleteBatches(tx, accountId, many(subject), DELETED);
          const messages = await webhooks.deleteOf(tx, accountId, { jobIds: [], batchIds });
          return {
            next: goOn(batchIds.length, DELETED),
            counts: { batches: batchIds.length, webhook_messages: messages },
          };
        };
      case 'refusals':
        return async (tx) => {
          const { last } = await jobs.forgetRefusals(tx, accountId, labelOf(subject), pageAfter(place));
          return { next: last === null ? 'over' : 'again', place: last };
        };
      case 'labels':
        return async (tx) => {
          const gone = await jobs.forgetLabels(tx, accountId, many(subject), READ);
          return { next: goOn(gone, READ), counts: { label_rules: gone } };
        };
      case 'messages':
        return async (tx) => {
          const gone = await webhooks.deleteMessages(tx, accountId, READ);
          const keys = await forgetKeysOf(tx, accountId, READ);
          return { next: goOn(Math.max(gone, keys), READ), counts: { webhook_messages: gone } };
        };
      case 'usage':
        return async (tx) => {
          const page = await books.forgetUsage(tx, accountId, subject, { pseudonym, place, limit: READ });
          // Messages, and keys of requests, may be kept longer than their job.
          const messages = await webhooks.deleteOf(tx, accountId, { jobIds: page.jobIds, batchIds: [] });
          await jobs.forgetKeys(tx, accountId, page.jobIds);
          return {
            next: page.place === null ? 'over' : 'again',
            place: page.place,
            counts: { usage_records: page.changed, webhook_messages: messages },
          };
        };
      case 'reasons':
        return async (tx) => {
          await books.forgetCheckouts(tx, accountId);
          const page = await books.forgetReasons(tx, accountId, { place, limit: READ });
          return {
            next: page.place === null ? 'over' : 'again',
            place: page.place,
            counts: { ledger_reasons: page.changed },
          };
        };
      case 'notices':
        return (tx) => this.eraseNotices(tx, lease, labelOf(subject));
      case 'log':
        return (tx) => this.redactLog(tx, lease);
      case 'keys':
        return async (tx) => {
          const keys = await accounts.forgetSubKeys(tx, accountId, labelOf(subject), pseudonym);
          return { next: 'over', counts: { api_keys: keys } };
        };
      case 'account':
        return async (tx) => {
          await assets.condemnAll(tx, accountId);
          return { next: 'over', counts: { api_keys: await accounts.forget(tx, accountId, pseudonym) } };
        };
      case 'bytes': {
        const blobs = await assets.removeBytes(accountId);
        return { next: blobs > 0 ? 'again' : 'over', counts: { blobs } };
      }
      default:
        throw new Error(`there is no step ${step}`);
    }
  }

  /** Over when none is left in whichever state, and none can come that was under way when the erasure was asked for. */
  private async eraseJobs({ accountId, subject, settlesAt, isSettled }: ErasureLease): Promise<Outcome | Write> {
    const { assets, jobs, webhooks } = this.erasers;
    const canceled = await jobs.cancelSome(accountId, subject);
    const jobIds = await jobs.listEnded(accountId, subject, DELETED);
    if (jobIds.length > 0) {
      return async (tx) => {
        const { outputIds, batchIds } = await jobs.delete(tx, accountId, jobIds);
        const outputs = await assets.delete(tx, accountId, outputIds);
        const messages = await webhooks.deleteOf(tx, accountId, { jobIds, batchIds });
        const counts = { jobs: jobIds.length, batches: batchIds.length, assets: outputs };
        return { next: 'again', counts: { ...counts, webhook_messages: messages } };
      };
    }
    if (canceled > 0) return { next: 'again' };
    const mayCome = subject.kind !== 'job' && (!isSettled || (await assets.hasUploadBefore(accountId, settlesAt)));
    return async (tx) => ({ next: mayCome || (await jobs.hasAny(tx, accountId, subject)) ? 'wait' : 'over' });
  }

  private async eraseNotices(tx: Statements, { accountId, place }: ErasureLease, of: LabelValue): Promise<Outcome> {
    const keyIds = await this.erasers.accounts.subKeys(tx, accountId, of);
    const named = { label: of.label, value: of.value, keyIds };
    const { deleted, last } = await this.erasers.webhooks.deleteNotices(tx, accountId, named, pageAfter(place));
    return { next: last === null ? 'over' : 'again', place: last, counts: { webhook_messages: deleted } };
  }

  /** Of a label: what names it with its value, or is about one of its sub-keys. */
  private async redactLog(tx: Statements, { accountId, subject, place }: ErasureLease): Promise<Outcome> {
    const { accounts } = this.erasers;
    // What is refused from now on is not in the log: its end is not read again.
    if (subject.kind === 'label') await accounts.forgetHashes(tx, accountId, subject);
    const of = subject.kind === 'label' ? { ...subject, keyIds: await accounts.subKeys(tx, accountId, subject) } : null;
    const { redacted, last } = await accounts.redactLog(tx, accountId, of, pageAfter(place));
    return { next: last === null ? 'over' : 'again', place: last, counts: { audit_entries: redacted } };
  }
}

const pageAfter = (place: string | null): { after: string; limit: number } => ({
  after: place ?? BEFORE_ALL,
  limit: READ,
});
const goOn = (done: number, limit: number): Outcome['next'] => (done < limit ? 'over' : 'again');

function many(subject: ErasureSubject): Many {
  if (subject.kind === 'job') throw new Error('a job is erased alone');
  return subject;
}

function labelOf(subject: ErasureSubject): LabelValue {
  if (subject.kind !== 'label') throw new Error('only a label has sub-keys');
  return subject;
}
