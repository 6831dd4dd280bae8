import { Controller, Get, HttpCode, Param, Post, Put, UseGuards } from '@nestjs/common';
import { RateLimiter } from '@millrace/accounts';
import { OutputUploads } from '@millrace/assets';
import {
  GATEWAY_PATH,
  GATEWAY_PROTOCOL,
  GatewayCatalogueSchema,
  GatewayRegistrationSchema,
  GatewayReportSchema,
  Refusal,
  type GatewayRegistration,
  type GatewayReport,
  type GatewayTerms,
  type NodeCatalogue,
} from '@millrace/contracts';
import { Database, type Statements } from '@millrace/database';
import {
  CatalogueStore,
  WorkerStartStore,
  WorkerStore,
  WorkerTokens,
  type WorkerState,
  type WorkerTokenHolder,
} from '@millrace/deployments';
import { VERSION } from '@millrace/platform';
import { GatewayRules } from '../gateway-rules';
import {
  BodyOf,
  CATALOGUE,
  Holder,
  IdPipe,
  Json,
  LargeJson,
  Vital,
  WorkerTokenGuard,
  type LargeBody,
  type RequestBody,
} from '../http';

/** How often workers of one token may join in a minute, where it may have few: of many, each twice. */
const JOINS_PER_MINUTE = 20;

/** How a worker outside the cluster joins its pool, says how it is, and what it can run. */
@Controller(GATEWAY_PATH)
@UseGuards(WorkerTokenGuard)
export class WorkersController {
  constructor(
    private readonly database: Database,
    private readonly tokens: WorkerTokens,
    private readonly workers: WorkerStore,
    private readonly starts: WorkerStartStore,
    private readonly catalogues: CatalogueStore,
    private readonly uploads: OutputUploads,
    private readonly rules: GatewayRules,
    private readonly limiter: RateLimiter,
  ) {}

  /** What a worker must know before it joins. */
  @Get('terms')
  async terms(@Holder() { poolId }: WorkerTokenHolder, @BodyOf() body: RequestBody): Promise<GatewayTerms> {
    const { leaseSeconds, maxOutputsPerJob, logTailBytes } = this.rules.of;
    const { partBytes } = this.uploads;
    const warmUp = await body.answer(() => this.starts.warmUp(this.database, poolId));
    return {
      ...{ protocol: GATEWAY_PROTOCOL, version: VERSION, pool: poolId },
      ...{ leaseSeconds, maxOutputsPerJob, logTailBytes, partBytes, servesModels: true, servesWarmUpModels: true },
      warmUp: warmUp?.workflow ?? null,
    };
  }

  /**
   * Join, with an id that the worker chose: again is harmless.
   *
   * @throws Refusal `forbidden` when the token has too many; `rate_limited` when too many join and stop.
   */
  @Put('workers/:worker')
  async register(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Json(GatewayRegistrationSchema) registration: GatewayRegistration,
  ): Promise<object> {
    this.assertFewJoin(holder);
    await this.tokens.join(holder, this.rules.of.workersPerToken, { ...registration, id });
    return {};
  }

  /** Each that joins leaves a record for a day, also of one that stops at once. */
  private assertFewJoin({ tokenId }: WorkerTokenHolder): void {
    const most = Math.max(JOINS_PER_MINUTE, 2 * this.rules.of.workersPerToken);
    const { allowed, retryAfterSeconds } = this.limiter.take(`worker-joins:${tokenId}`, most);
    if (allowed) return;
    const message = `Workers of this token joined ${most} times within a minute, which is the limit; a worker joins once, when it starts.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds });
  }

  /** How a worker is. The answer says whether it is to drain. */
  @Post('workers/:worker/reports')
  @HttpCode(200)
  @Vital()
  async report(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Json(GatewayReportSchema) { attemptMs = null, capacity, start, ...report }: GatewayReport,
  ): Promise<{ state: WorkerState | null }> {
    const whole = { ...report, attemptMs, ...(capacity !== undefined && { capacity }), ...(start && { start }) };
    if (report.state === 'stopped') {
      // It gives its place away, and needs none.
      await this.tokens.assertWorker(holder, id);
      return { state: await this.workers.heartbeat(this.database, id, whole) };
    }
    const record = (tx: Statements, options: { onlyLive: boolean }): Promise<WorkerState | null> =>
      this.workers.heartbeat(tx, id, whole, options);
    return { state: await this.tokens.report(holder, this.rules.of.workersPerToken, id, record) };
  }

  /** What a worker can run becomes what its pool offers. It is read once the worker is known. */
  @Put('workers/:worker/catalogue')
  async publish(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @LargeJson(GatewayCatalogueSchema, CATALOGUE) body: LargeBody<{ engine: string; catalogue: NodeCatalogue }>,
  ): Promise<{ digest: string }> {
    await this.tokens.assertWorker(holder, id);
    return body.use(async ({ engine, catalogue }) => ({
      digest: await this.catalogues.publish(this.database, holder.poolId, engine, catalogue),
    }));
  }
}
