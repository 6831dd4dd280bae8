import { Controller, Get, HttpCode, Param, Post, Put, UseGuards } from '@nestjs/common';
import { OutputUploads } from '@millrace/assets';
import {
  GATEWAY_PATH,
  GATEWAY_PROTOCOL,
  GatewayCatalogueSchema,
  GatewayRegistrationSchema,
  GatewayReportSchema,
  type GatewayRegistration,
  type GatewayReport,
  type GatewayTerms,
  type NodeCatalogue,
} from '@millrace/contracts';
import { Database } from '@millrace/database';
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
import { CATALOGUE, Holder, IdPipe, Json, LargeJson, WorkerTokenGuard, type LargeBody } from '../http';

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
  ) {}

  /** What a worker must know before it joins. */
  @Get('terms')
  async terms(@Holder() { poolId }: WorkerTokenHolder): Promise<GatewayTerms> {
    const { leaseSeconds, maxOutputsPerJob, logTailBytes } = this.rules.of;
    const { partBytes } = this.uploads;
    const warmUp = await this.starts.warmUp(this.database, poolId);
    return {
      ...{ protocol: GATEWAY_PROTOCOL, version: VERSION, pool: poolId },
      ...{ leaseSeconds, maxOutputsPerJob, logTailBytes, partBytes, servesModels: true, servesWarmUpModels: true },
      warmUp: warmUp?.workflow ?? null,
    };
  }

  /** Join, with an id that the worker chose: again is harmless. @throws Refusal `forbidden` when the token has too many. */
  @Put('workers/:worker')
  async register(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Json(GatewayRegistrationSchema) registration: GatewayRegistration,
  ): Promise<object> {
    await this.tokens.join(holder, this.rules.of.workersPerToken, { ...registration, id });
    return {};
  }

  /** How a worker is. The answer says whether it is to drain. */
  @Post('workers/:worker/reports')
  @HttpCode(200)
  async report(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Json(GatewayReportSchema) { attemptMs = null, capacity, start, ...report }: GatewayReport,
  ): Promise<{ state: WorkerState | null }> {
    await this.tokens.assertWorker(holder, id);
    const whole = { ...report, attemptMs, ...(capacity !== undefined && { capacity }), ...(start && { start }) };
    return { state: await this.workers.heartbeat(this.database, id, whole) };
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
