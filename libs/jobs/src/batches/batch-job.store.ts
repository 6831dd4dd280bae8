import { openAccountPart } from '@millrace/accounts';
import { storageNotFullPart } from '@millrace/assets';
import { coversHoldPart, holdEntriesPart, setAsidePart } from '@millrace/billing';
import { composeStatement, statementPart, type Statements } from '@millrace/database';
import { openDeploymentPart } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import { countLaterParts, labelCountsParts, type LabelCount } from '../labels';
import type { SpendStanding } from '../spend';
import { joinRotationPart, keepRotationPart } from '../rotation';
import { draftsPart, firstRowsParts, graphsPart, jobsPart, useModelsOfAllPart, type JobDraft } from '../submission';

/** Jobs that were written and are not counted yet. */
export interface WrittenJobs {
  jobs: number;
  /** The id of the first: they are in the order of their ids. */
  firstId: string;
  /** What they hold together, in decimal. */
  holdMicros: string;
  counts: LabelCount[];
}

/**
 * The SQL that records the jobs of a batch, in one transaction. To write 10,000 takes seconds, in which other jobs of the account are
 * submitted, run and end: so what those change, that is the account's queue, the counts of its labels and its balance, is locked
 * by the last statement alone.
 */
export class BatchJobStore {
  constructor(private readonly settings: JobSettings) {}

  /**
   * See that the account has a queue in the pool, in which nothing more waits by this. Once before the transaction, so that a queue that is made is there for
   * all; and once in it, so that it stays.
   */
  async open(statements: Statements, draft: JobDraft): Promise<void> {
    await statements.execute(composeStatement([keepRotationPart(draft)])`SELECT`);
  }

  /**
   * Look, without a lock, whether a batch will be refused for its credits or its storage: `count` decides on the first.
   *
   * @param draft one of its jobs; all of them hold as much.
   * @throws RefusedError INSUFFICIENT_CREDITS, STORAGE_FULL.
   */
  async assertAffordable(tx: Statements, draft: JobDraft, jobs: number): Promise<void> {
    const { accountId, holdMicros } = draft;
    const stored = storageNotFullPart(draft, statementPart('begin')`SELECT`);
    const covered =
      holdMicros === 0n ? stored : coversHoldPart({ accountId, amountMicros: holdMicros * BigInt(jobs) }, stored);
    await tx.rows(composeStatement([])`SELECT FROM ${covered}`);
  }

  /**
   * Write jobs of one account and pool that no queue, no limit of a label and no balance counts yet: `count` must follow in the transaction.
   *
   * @param drafts in the order of their ids.
   * @throws RefusedError, ConstraintError.
   */
  async write(tx: Statements, drafts: readonly JobDraft[], lockWaitMs: number): Promise<WrittenJobs> {
    const draft = draftsPart(drafts, lockWaitMs);
    const { counted, counts } = labelCountsParts(draft);
    const graphs = graphsPart(draft, useModelsOfAllPart(drafts, draft, statementPart('begin')`SELECT`));
    const jobs = jobsPart(this.settings, draft, counted, graphs);
    const holds = holdEntriesPart(draft, jobs);
    const [written] = await tx.rows<WrittenJobs>(composeStatement([...firstRowsParts(draft, jobs), holds])`
      SELECT count(*)::int AS jobs, min(job.id::text) AS "firstId", (SELECT sum(hold_micros)::text FROM ${draft}) AS "holdMicros",
        (SELECT counts FROM ${counts}) AS counts FROM ${jobs} job`);
    if (written?.jobs !== drafts.length) throw new Error('jobs of a batch were not written whole');
    return written;
  }

  /**
   * Have what was written count: in the queue, for the labels, and with its holds.
   *
   * @param draft one of the jobs.
   * @returns how much of the account's caps is used, once that was warned of.
   * @throws RefusedError ACCOUNT_CLOSED, SUB_KEY_REVOKED, DEPLOYMENT_DELETED, DEPLOYMENT_DELETING, QUEUE_FULL, INSUFFICIENT_CREDITS, or a limit of a label, an account or a key; an error with SQLSTATE 55P03 when a row was locked for
   * longer than `write` may wait.
   */
  async count(tx: Statements, draft: JobDraft, written: WrittenJobs): Promise<SpendStanding[]> {
    const { accountId } = draft;
    const { jobs, firstId, holdMicros, counts } = written;
    const first = statementPart<'id'>('first')`SELECT ${firstId}::uuid AS id`;
    const open = openDeploymentPart(draft.deploymentId, openAccountPart(draft, statementPart('begin')`SELECT`));
    const queue = joinRotationPart(draft, first, open, jobs);
    const { standing, allowed } = countLaterParts(accountId, counts, queue);
    const hold = statementPart<'account_id' | 'hold_micros'>('batch_hold')`
      SELECT ${accountId}::uuid AS account_id, ${BigInt(holdMicros)}::bigint AS hold_micros`;
    const held = setAsidePart(hold, allowed);
    const [counted] = await tx.rows<{ spend: SpendStanding[] }>(composeStatement([])`
      SELECT standing.spend FROM ${standing} standing, (SELECT count(*) FROM ${allowed}) AS allowed, (SELECT count(*) FROM ${held}) AS held`);
    return counted?.spend ?? [];
  }
}
