import type { Prisma } from '@prisma/client';
import { openAccountsPart } from '@millrace/accounts';
import { storagesNotFullPart } from '@millrace/assets';
import { holdsPart } from '@millrace/billing';
import { claimKeysPart, composeStatement, statementPart, type Statements } from '@millrace/database';
import { openDeploymentsPart } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import { countLabelsParts } from '../labels';
import { joinRotationsPart } from '../rotation';
import { draftsPart, firstRowsParts, graphsPart, jobsPart } from './drafts.store';
import { useModelsOfAllPart } from './library-models.store';
import type { JobDraft } from './submission';
import type { RecordedJob } from './submission.store';

/** The SQL that records a group of submissions. */
export class GroupStore {
  constructor(private readonly settings: JobSettings) {}

  /**
   * Record jobs in one statement, all or none: what `SubmissionStore.record` would leave of them one after the other. Its
   * refusals are those of that statement, in any order: who gets one cannot know whose it is.
   *
   * Two such statements, or one and that of a single submission, never wait for each other in a circle: keys, then deployments, then models, then queues, then
   * labels, then balances are locked, each of them in the order of their primary keys. Other statements that lock several queues do so in any
   * order. A wait of at most `lockWaitMs` ends a circle with one of those before PostgreSQL would (`deadlock_timeout`), and here.
   *
   * One text for any number of jobs, so that it is prepared once; the drafts are one value, as JSON, so that PostgreSQL expects
   * the same number of them each time and keeps its plan.
   *
   * @param drafts in the order of their arrival: the order of their ids. No two have the same account and key.
   * @returns the jobs in the order of `drafts`.
   * @throws RefusedError, ConstraintError, or an error with SQLSTATE 55P03 when a row was locked for too long: see `isUndone`.
   */
  async record(statements: Statements, drafts: readonly JobDraft[], lockWaitMs: number): Promise<RecordedJob[]> {
    const recorded = await statements.rows<RecordedJob>(this.recordSql(drafts, lockWaitMs));
    if (recorded.length !== drafts.length) throw new Error('a group of submissions was not recorded whole');
    return recorded;
  }

  /** The statement of `record`, whose plan a test checks. */
  recordSql(drafts: readonly JobDraft[], lockWaitMs: number): Prisma.Sql {
    const draft = draftsPart(drafts, lockWaitMs);
    const lifetimeSeconds = this.settings.idempotencySeconds;
    const open = openAccountsPart(draft, claimKeysPart({ operation: 'postJobs', lifetimeSeconds }, draft));
    const storages = storagesNotFullPart(draft, openDeploymentsPart(drafts, draft, open));
    const library = useModelsOfAllPart(drafts, draft, storages);
    const joined = joinRotationsPart(draft, graphsPart(draft, library));
    const { counted, standing, allowed } = countLabelsParts(draft, joined);
    const admitted = statementPart('admitted')`
      SELECT FROM (SELECT count(*) FROM ${joined}) AS placed, (SELECT count(*) FROM ${allowed}) AS allowed,
        (SELECT count(*) FROM ${holdsPart(draft, allowed)}) AS held`;
    const jobs = jobsPart(this.settings, draft, counted, admitted);
    return composeStatement(firstRowsParts(draft, jobs))`
      SELECT job.id, joined.ahead, job.created_at, job.deadline_at, job.expires_at, standing.spend
      FROM ${jobs} job JOIN ${draft} d ON d.id = job.id JOIN ${joined} joined ON joined.place = d.place
      LEFT JOIN ${standing} standing ON standing.place = d.place ORDER BY d.place`;
  }
}
