import { Controller, Inject } from '@nestjs/common';
import { Refusal, type JobNodes } from '@millrace/contracts';
import {
  JobPolls,
  JobPresenter,
  JobReads,
  Lifecycle,
  SubmissionService,
  presentAttempts,
  presentLogs,
  showsLogs,
  type NodeTiming,
} from '@millrace/jobs';
import type { Target } from '@millrace/deployments';
import { JSON_TYPE, currentTraceparent, namesTag, sendText } from '@millrace/platform';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import {
  Serves,
  assertNoReuse,
  retryPolicyOf,
  reuseAnswer,
  reuseOf,
  spendLimitOf,
  spendWarning,
  type AnswerOf,
  type InputOf,
} from '../endpoints';
import { countAsPoll, holdBytes, inTurn, readBytes, senderOf } from '../http';
import { Destinations } from './destinations';
import { readMetadataFilter } from './job-query';
import {
  cancelJob,
  getJob,
  getJobAttempts,
  getJobLogs,
  getJobNodes,
  getJobStanding,
  getJobWorkflow,
  listJobs,
  postJobs,
} from './jobs.endpoints';

/**
 * No cache that several people share may keep a poll, and no other may show it without asking. No `Vary`: who asks is found out
 * before anything is compared.
 */
const POLL_CACHE = 'private, no-cache';

/** Jobs over HTTP (contract, section 4; wire supplement, section 1). */
@Controller()
export class JobsController {
  constructor(
    private readonly destinations: Destinations,
    private readonly submissions: SubmissionService,
    private readonly lifecycle: Lifecycle,
    private readonly reads: JobReads,
    private readonly polls: JobPolls,
    private readonly presenter: JobPresenter,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'maxWorkflowBytes'>,
  ) {}

  @Serves(postJobs)
  async submit(input: InputOf<typeof postJobs>): Promise<AnswerOf<typeof postJobs>> {
    const { visitor, idempotencyKey, request, response } = input;
    const { scope, surface, demo: unlisted } = visitor;
    const asked = await this.asked(input).catch(async (error: unknown) => {
      throw await this.submissions.preferKeyReuse({ caller: visitor.caller, idempotencyKey, unlisted }, error);
    });
    const { body } = asked;
    // A request that is repeated under its key asks for the same version of the deployment.
    const seed = idempotencyKey === undefined ? undefined : `${scope.accountId} ${idempotencyKey}`;
    const target = (): Promise<Target> => this.destinations.of(surface, { seed });
    const terms = { ...asked, scope, idempotencyKey, unlisted, traceparent: currentTraceparent() };
    const submission = { ...terms, target, sender: senderOf(request) };
    const accepted = await inTurn(request, body, (spend) =>
      this.submissions.submit({
        ...submission,
        spend,
        // With the limits of when it is recorded.
        get caller() {
          return visitor.caller;
        },
      }),
    );
    const { job, place } = accepted;
    if (accepted.reuse !== null) response.setHeader(...reuseAnswer(accepted.reuse.reason));
    const warning = spendWarning(accepted.spend);
    if (warning !== null) response.setHeader(...warning);
    return this.presenter.present(visitor, job, place);
  }

  /** What a submission asks for beside its key. @throws Refusal what is wrong with its headers, or its body as a whole. */
  private async asked({ visitor: { demo }, request }: InputOf<typeof postJobs>) {
    const retry = retryPolicyOf(request);
    // Callers of a demo from one network share an account: one would be shown the job of another.
    if (demo) assertNoReuse(request, 'demo deployments');
    const reuse = demo ? null : reuseOf(request);
    const spendLimitMicros = spendLimitOf(request);
    const body = await readBytes(request, this.settings.maxWorkflowBytes);
    return { retry, reuse, spendLimitMicros, body };
  }

  @Serves(listJobs)
  async list({ visitor, query, request }: InputOf<typeof listJobs>): Promise<AnswerOf<typeof listJobs>> {
    if (visitor.demo) throw noDemoList();
    const {
      limit,
      cursor,
      status = null,
      created_after: createdAfter = null,
      created_before: createdBefore = null,
    } = query;
    const metadata = readMetadataFilter(request.query);
    const filter = { limit, cursor, status, metadata, createdAfter, createdBefore };
    const { jobs, places, nextCursor } = await this.reads.list(visitor.scope, filter);
    const items = jobs.map((job) => this.presenter.item(visitor, job, places.get(job.id) ?? null));
    return nextCursor === undefined ? { jobs: items } : { jobs: items, next_cursor: nextCursor };
  }

  @Serves(getJob)
  async get({ visitor, params, request, response }: InputOf<typeof getJob>): Promise<AnswerOf<typeof getJob>> {
    const { scope } = visitor;
    const options = { withLogs: showsLogs(visitor) };
    countAsPoll(request);
    const known = request.headers['if-none-match'];
    response.setHeader('Cache-Control', POLL_CACHE);
    if (known !== undefined) {
      const etag = this.presenter.etag(visitor, await this.polls.version(scope, params.id, options));
      if (namesTag(known, etag)) {
        response.setHeader('ETag', etag).status(304);
        return undefined;
      }
    }
    const { job, place, version } = await this.polls.read(scope, params.id, options);
    response.setHeader('ETag', this.presenter.etag(visitor, version));
    return this.presenter.present(visitor, job, place, true);
  }

  /** The graph's own text, not a copy that went through a parser (wire supplement, section 4). */
  @Serves(getJobWorkflow)
  async workflow({ visitor, params, request, response }: InputOf<typeof getJobWorkflow>): Promise<void> {
    holdBytes(request, await this.reads.workflowBytes(visitor.scope, params.id));
    const workflow = await this.reads.workflow(visitor.scope, params.id);
    await sendText(response, JSON_TYPE, ['{"workflow":', workflow, ',"format":"api"}']);
  }

  /** What the run printed, once the job has ended (contract, 2.6). */
  @Serves(getJobLogs)
  async logs({ visitor, params, response }: InputOf<typeof getJobLogs>): Promise<AnswerOf<typeof getJobLogs>> {
    const logs = await this.reads.logs(visitor.scope, params.id);
    if (logs !== null && showsLogs(visitor)) return presentLogs(logs);
    response.status(204);
    return undefined;
  }

  /** Additive: how long each node of the ended attempt took. */
  @Serves(getJobNodes)
  async nodes({ visitor, params }: InputOf<typeof getJobNodes>): Promise<AnswerOf<typeof getJobNodes>> {
    return { nodes: (await this.reads.nodeTimings(visitor.scope, params.id)).map(presentTiming) };
  }

  /** Additive: every attempt, and how it ended. */
  @Serves(getJobAttempts)
  async attempts({ visitor, params }: InputOf<typeof getJobAttempts>): Promise<AnswerOf<typeof getJobAttempts>> {
    return presentAttempts(await this.reads.attempts(visitor.scope, params.id));
  }

  /** Additive: what it waits for. */
  @Serves(getJobStanding)
  async standing({ visitor, params }: InputOf<typeof getJobStanding>): Promise<AnswerOf<typeof getJobStanding>> {
    const { scope, demo } = visitor;
    const seesDeployment = !demo && scope.labels === null;
    const { id, status, waiting } = await this.reads.standing(scope, params.id, seesDeployment);
    return { id, status, waiting_reason: waiting };
  }

  @Serves(cancelJob)
  async cancel({ visitor, params, request }: InputOf<typeof cancelJob>): Promise<AnswerOf<typeof cancelJob>> {
    // What was done is not answered as refused.
    countAsPoll(request);
    const { id } = await this.reads.get(visitor.scope, params.id);
    await this.lifecycle.cancel(visitor.scope, id);
    const { job, place } = await this.polls.read(visitor.scope, id);
    return this.presenter.present(visitor, job, place);
  }
}

/** Callers of a demo deployment behind one address share an account, and a list would show each the jobs of all. */
function noDemoList(): Refusal {
  return new Refusal(
    'forbidden',
    'A demo deployment does not list jobs; keep the id of your job and read it by its id.',
  );
}

function presentTiming({ nodeId, classType, state, ms }: NodeTiming): JobNodes['nodes'][number] {
  return { node_id: nodeId, class_type: classType, state, ms };
}
