import { Controller, Inject } from '@nestjs/common';
import { Refusal } from '@millrace/contracts';
import type { Target } from '@millrace/deployments';
import { BatchRetries, BatchSubmissions, Batches, JobPresenter, presentBatch } from '@millrace/jobs';
import { currentTraceparent } from '@millrace/platform';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import {
  Serves,
  assertNoReuse,
  presentPage,
  retryPolicyOf,
  spendLimitOf,
  spendWarning,
  type AnswerOf,
  type InputOf,
} from '../endpoints';
import { heldBytesOf, readBytes, senderOf } from '../http';
import { Destinations } from '../jobs';
import { presentBatchJob } from './batch.presenter';
import { cancelBatch, getBatch, listBatchJobs, listBatches, postBatches, retryBatch } from './batches.endpoints';

/** Many jobs under one id. */
@Controller()
export class BatchesController {
  constructor(
    private readonly destinations: Destinations,
    private readonly submissions: BatchSubmissions,
    private readonly retries: BatchRetries,
    private readonly batches: Batches,
    private readonly presenter: JobPresenter,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'maxBatchBytes'>,
  ) {}

  @Serves(postBatches)
  async submit(input: InputOf<typeof postBatches>): Promise<AnswerOf<typeof postBatches>> {
    const { visitor, idempotencyKey, request, response } = input;
    const { scope, surface, demo } = visitor;
    if (demo) throw new Refusal('forbidden', 'A demo deployment takes no batches; submit single jobs.');
    assertNoReuse(request, 'batches');
    const retry = retryPolicyOf(request);
    const spendLimitMicros = spendLimitOf(request) ?? null;
    const body = await readBytes(request, this.settings.maxBatchBytes);
    const traceparent = currentTraceparent();
    const asked = { scope, body, idempotencyKey, retry, spendLimitMicros, traceparent };
    const target = (): Promise<Target> => this.destinations.of(surface);
    const submission = {
      ...asked,
      ...{ target, sender: senderOf(request) },
      // With the limits of when its turn comes.
      get caller() {
        return visitor.caller;
      },
    };
    const { batch, isRepeat, spend } = await heldBytesOf(request).during(() => this.submissions.submit(submission));
    response.status(isRepeat ? 200 : 201);
    const warning = spendWarning(spend);
    if (warning !== null) response.setHeader(...warning);
    return presentBatch(visitor.surface, batch);
  }

  @Serves(listBatches)
  async list({ visitor, query }: InputOf<typeof listBatches>): Promise<AnswerOf<typeof listBatches>> {
    const page = await this.batches.list(visitor.scope, query);
    return presentPage('batches', page, (batch) => presentBatch(visitor.surface, batch));
  }

  @Serves(getBatch)
  async get({ visitor, params }: InputOf<typeof getBatch>): Promise<AnswerOf<typeof getBatch>> {
    return presentBatch(visitor.surface, await this.batches.get(visitor.scope, params.id));
  }

  @Serves(listBatchJobs)
  async jobs({ visitor, params, query }: InputOf<typeof listBatchJobs>): Promise<AnswerOf<typeof listBatchJobs>> {
    const { status = null, ...page } = query;
    const jobs = await this.batches.listJobs(visitor.scope, params.id, { ...page, status });
    return presentPage('jobs', jobs, (job) => presentBatchJob(this.presenter, visitor, job));
  }

  @Serves(retryBatch)
  async retry({
    visitor,
    params,
    body,
    idempotencyKey,
    request,
    response,
  }: InputOf<typeof retryBatch>): Promise<AnswerOf<typeof retryBatch>> {
    const { scope, surface } = visitor;
    const target = (): Promise<Target> => this.destinations.of(surface);
    const asked = { ...body, batchId: params.id, idempotencyKey, traceparent: currentTraceparent() };
    const { spend } = await this.retries.retry({
      ...asked,
      ...{ scope, target, sender: senderOf(request) },
      get caller() {
        return visitor.caller;
      },
    });
    const warning = spendWarning(spend);
    if (warning !== null) response.setHeader(...warning);
    return presentBatch(surface, await this.batches.getChanged(scope, params.id));
  }

  @Serves(cancelBatch)
  async cancel({ visitor, params }: InputOf<typeof cancelBatch>): Promise<AnswerOf<typeof cancelBatch>> {
    return presentBatch(visitor.surface, await this.batches.cancel(visitor.scope, params.id));
  }
}
