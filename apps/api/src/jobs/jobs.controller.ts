import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Refusal, type Job, type JobNodes, type JobPage } from '@millrace/contracts';
import { JobReads, Lifecycle, SubmissionService, type JobRecord, type NodeTiming } from '@millrace/jobs';
import { currentTraceparent } from '@millrace/platform';
import { readText } from '../http/body';
import { Callers } from '../endpoints/callers';
import { parseJobQuery } from './job-query';
import { idempotencyKeyOf } from '../endpoints/idempotency-key';
import { JobPresenter, presentLogs, showsLogs } from './job.presenter';
import { contextOf } from '../http/request-context';
import { Destinations } from './destinations';

export const MAX_WORKFLOW_BYTES = Symbol('MAX_WORKFLOW_BYTES');

/** Jobs over HTTP (contract, section 4; wire supplement, section 1). */
@Controller('api/v2/jobs')
export class JobsController {
  constructor(
    @Inject(Callers) private readonly callers: Callers,
    @Inject(Destinations) private readonly destinations: Destinations,
    @Inject(SubmissionService) private readonly submissions: SubmissionService,
    @Inject(Lifecycle) private readonly lifecycle: Lifecycle,
    @Inject(JobReads) private readonly reads: JobReads,
    @Inject(JobPresenter) private readonly presenter: JobPresenter,
    @Inject(MAX_WORKFLOW_BYTES) private readonly maxWorkflowBytes: number,
  ) {}

  @Post()
  @HttpCode(201)
  async submit(@Req() request: Request): Promise<Job> {
    const { caller, scope } = await this.callers.admit(request, 'jobs:write');
    const { surface } = contextOf(request);
    const idempotencyKey = idempotencyKeyOf(request);
    const { job, place } = await this.submissions.submit({
      caller,
      scope,
      target: () => this.destinations.of(surface),
      body: await readText(request, this.maxWorkflowBytes),
      idempotencyKey,
      traceparent: currentTraceparent(),
    });
    return this.presenter.present(surface, job, place);
  }

  @Get()
  async list(@Req() request: Request, @Query() query: Record<string, unknown>): Promise<JobPage> {
    const { scope } = await this.callers.admit(request, 'jobs:read');
    const { surface } = contextOf(request);
    if (surface.demo) throw noDemoList();
    const { jobs, nextCursor } = await this.reads.list(scope, parseJobQuery(query));
    const places = await this.reads.queuePlaces(scope, jobs);
    const items = jobs.map((job) => this.presenter.item(surface, job, places.get(job.id) ?? null));
    return nextCursor === undefined ? { jobs: items } : { jobs: items, next_cursor: nextCursor };
  }

  @Get(':id')
  async get(@Req() request: Request, @Param('id') id: string): Promise<Job> {
    const { scope } = await this.callers.admit(request, 'jobs:read');
    const job = await this.reads.getLive(scope, id, { withLogs: showsLogs(contextOf(request).surface) });
    return this.present(request, job, true);
  }

  /** The graph's own text, not a copy that went through a parser (wire supplement, section 4). */
  @Get(':id/workflow')
  async workflow(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { scope } = await this.callers.admit(request, 'jobs:read');
    const workflow = await this.reads.workflow(scope, id);
    response.type('application/json').send(`{"workflow":${workflow},"format":"api"}`);
  }

  /** What the run printed, once the job has ended (contract, 2.6); 204 where there is nothing to show, for whatever reason. */
  @Get(':id/logs')
  async logs(@Req() request: Request, @Res() response: Response, @Param('id') id: string): Promise<void> {
    const { scope } = await this.callers.admit(request, 'jobs:read');
    const logs = await this.reads.logs(scope, id);
    if (logs === null || !showsLogs(contextOf(request).surface)) response.status(204).end();
    else response.json(presentLogs(logs));
  }

  /** Additive: what each node of the finished attempt took. */
  @Get(':id/nodes')
  async nodes(@Req() request: Request, @Param('id') id: string): Promise<JobNodes> {
    const { scope } = await this.callers.admit(request, 'jobs:read');
    return { nodes: (await this.reads.nodeTimings(scope, id)).map(presentTiming) };
  }

  @Post(':id/cancel')
  @HttpCode(200)
  async cancel(@Req() request: Request, @Param('id') id: string): Promise<Job> {
    const { scope } = await this.callers.admit(request, 'jobs:write');
    const { id: known } = await this.reads.get(scope, id);
    await this.lifecycle.cancel(scope, known);
    return this.present(request, await this.reads.getLive(scope, known), false);
  }

  private async present(request: Request, job: JobRecord, withLogs: boolean): Promise<Job> {
    const place = await this.reads.queuePlace(job);
    return this.presenter.present(contextOf(request).surface, job, place, withLogs);
  }
}

/** Callers of a demo deployment share one account, and a list would show each the jobs of all. */
function noDemoList(): Refusal {
  return new Refusal('forbidden', 'A demo deployment lists no jobs; keep the id of yours, and read the job by it.');
}

function presentTiming({ nodeId, classType, state, ms }: NodeTiming): JobNodes['nodes'][number] {
  return { node_id: nodeId, class_type: classType, state, ms };
}
