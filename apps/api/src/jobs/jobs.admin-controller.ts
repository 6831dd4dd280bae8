import { Controller, Inject } from '@nestjs/common';
import { AccountsService, AuditLog, assertScope, callerOfAccount, type Act, type Caller } from '@millrace/accounts';
import type { Statements } from '@millrace/database';
import { JobHistories, OperatorJobs, type OperatorJob } from '@millrace/jobs';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { Serves, presentPage, type AnswerOf, type InputOf } from '../endpoints';
import { Destinations } from './destinations';
import { presentFailure, presentHistory } from './job-history.presenter';
import { cancelJob, listFailures, readJob, redriveJob } from './jobs.admin-endpoints';

/** Jobs, as operators manage them. */
@Controller()
export class JobsAdminController {
  constructor(
    private readonly audit: AuditLog,
    private readonly accounts: AccountsService,
    private readonly jobs: OperatorJobs,
    private readonly destinations: Destinations,
    private readonly histories: JobHistories,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'demoRetentionSeconds'>,
  ) {}

  @Serves(readJob)
  async read({ operator, params }: InputOf<typeof readJob>): Promise<AnswerOf<typeof readJob>> {
    const history = await this.histories.get(params.id);
    await this.audit.noteOnceAnHour(operator, [actOn(history, 'job.read')]);
    return presentHistory(history);
  }

  @Serves(listFailures)
  async failures({ operator, query }: InputOf<typeof listFailures>): Promise<AnswerOf<typeof listFailures>> {
    const page = await this.histories.failures(query);
    const accounts = new Set(page.items.map(({ accountId }) => accountId));
    await this.audit.noteOnceAnHour(operator, [...accounts].map(failuresReadOf));
    return presentPage('failures', page, presentFailure);
  }

  @Serves(cancelJob)
  async cancel({ operator, params }: InputOf<typeof cancelJob>): Promise<AnswerOf<typeof cancelJob>> {
    const job = await this.jobs.get(params.id);
    const moved = await this.audit.record(operator, async (tx, note) => {
      note({ ...actOn(job, 'job.cancel'), details: { found: job.status } });
      return this.jobs.cancel(tx, job);
    });
    return { id: job.id, account_id: job.accountId, status: await this.jobs.announce(job, moved) };
  }

  @Serves(redriveJob)
  async redrive(input: InputOf<typeof redriveJob>): Promise<AnswerOf<typeof redriveJob>> {
    const { operator, params, idempotencyKey } = input;
    const record = <T>(accountId: string, details: object, act: (tx: Statements) => Promise<T>): Promise<T> =>
      this.audit.record(operator, async (tx, note) => {
        note({ ...actOn({ id: params.id, accountId }, 'job.redrive'), details: { ...details } });
        return act(tx);
      });
    const made = await this.jobs.redrive(params.id, {
      idempotencyKey,
      caller: (job) => this.submitterOf(job),
      target: (job) => this.destinations.of(job),
      within: (job) => (recordJob, newJobId) => record(job.accountId, { newJobId }, recordJob),
    });
    const { id, accountId, status, repeated } = made;
    if (repeated) await record(accountId, { newJobId: id, repeated }, () => Promise.resolve());
    return { id, redriven_from: params.id, account_id: accountId, status };
  }

  /** A job of a network at a demo is kept as long as its others are. */
  private async submitterOf({ accountId, apiKeyId }: OperatorJob): Promise<Caller> {
    const account = await this.accounts.getAccount(accountId);
    const caller = callerOfAccount(account, apiKeyId);
    assertScope(caller, 'jobs:write');
    return account.kind === 'demo_network'
      ? { ...caller, retentionSeconds: this.settings.demoRetentionSeconds }
      : caller;
  }
}

/** Errors of jobs may say what customers wrote: each account that has one on the page reads of it. */
function failuresReadOf(accountId: string): Act {
  return { action: 'job.list_failures', subjectType: 'account', subjectId: accountId, accountId };
}

function actOn({ id, accountId }: Pick<OperatorJob, 'id' | 'accountId'>, action: string): Act {
  return { action, subjectType: 'job', subjectId: id, accountId };
}
