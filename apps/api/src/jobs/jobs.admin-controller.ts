import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { AccountsService, AuditLog, assertScope, callerOfAccount } from '@millrace/accounts';
import { JobStatusSchema } from '@millrace/contracts';
import { OperatorJobs, type OperatorJob } from '@millrace/jobs';
import { Serves, defineEndpoint } from '../endpoints/endpoint';
import { Destinations } from './destinations';
import { AdminDoor, type AdminInput } from '../endpoints/admin-door';

const tag = 'jobs';

const CanceledJobSchema = z
  .object({ id: z.uuid(), account_id: z.uuid(), status: JobStatusSchema })
  .meta({ id: 'CanceledJob', description: 'A job, and what it is now.' });

const RedrivenJobSchema = z
  .object({
    id: z.uuid().meta({ description: 'The new job.' }),
    redriven_from: z.uuid(),
    account_id: z.uuid(),
    status: JobStatusSchema,
  })
  .meta({ id: 'RedrivenJob', description: 'A new job that runs the graph of one that has ended.' });

const cancelJob = defineEndpoint({
  id: 'cancelJob',
  method: 'post',
  path: '/admin/v1/jobs/{id}/cancel',
  tag,
  summary: 'Cancel a job',
  description: 'As its owner would. Canceling twice is canceling once.',
  answer: { status: 200, description: 'The job.', schema: CanceledJobSchema },
});

const redriveJob = defineEndpoint({
  id: 'redriveJob',
  method: 'post',
  path: '/admin/v1/jobs/{id}/redrive',
  tag,
  summary: 'Run an ended job again',
  description:
    'An end is an end: this makes a new job of the same account and surface from the stored graph and labels, at the price ' +
    'and against the limits of now. A job that was given credentials for its run is refused, because they are kept nowhere.',
  answer: { status: 201, description: 'The new job.', schema: RedrivenJobSchema },
  errors: [
    'invalid_field',
    'invalid_workflow',
    'missing_asset',
    'insufficient_credits',
    'queue_full',
    'deployment_stopped',
    'deployment_not_ready',
  ],
});

/** Jobs, as operators manage them. */
@Controller()
export class JobsAdminController {
  constructor(
    @Inject(AdminDoor) readonly door: AdminDoor,
    @Inject(AuditLog) private readonly audit: AuditLog,
    @Inject(AccountsService) private readonly accounts: AccountsService,
    @Inject(OperatorJobs) private readonly jobs: OperatorJobs,
    @Inject(Destinations) private readonly destinations: Destinations,
  ) {}

  @Serves(cancelJob)
  async cancel({ operator, params }: AdminInput<typeof cancelJob>): Promise<object> {
    const job = await this.jobs.get(params.id);
    const moved = await this.audit.record(operator, async (tx, note) => {
      note({ ...actOn(job, 'job.cancel'), details: { found: job.status } });
      return this.jobs.cancel(tx, job);
    });
    return { id: job.id, account_id: job.accountId, status: await this.jobs.announce(job, moved) };
  }

  @Serves(redriveJob)
  async redrive({ operator, params }: AdminInput<typeof redriveJob>): Promise<object> {
    const job = await this.jobs.get(params.id);
    this.jobs.assertRedrivable(job);
    const caller = callerOfAccount(await this.accounts.getAccount(job.accountId), job.apiKeyId);
    assertScope(caller, 'jobs:write');
    const { job: made } = await this.audit.record(operator, async (tx, note) => {
      const accepted = await this.jobs.redrive(tx, job, caller, () => this.destinations.of(job));
      note({ ...actOn(job, 'job.redrive'), details: { newJobId: accepted.job.id } });
      return accepted;
    });
    return { id: made.id, redriven_from: job.id, account_id: job.accountId, status: made.status };
  }
}

function actOn(
  job: OperatorJob,
  action: string,
): { action: string; subjectType: string; subjectId: string; accountId: string } {
  return { action, subjectType: 'job', subjectId: job.id, accountId: job.accountId };
}
