import { createHmac } from 'node:crypto';
import { Controller, HttpCode, Param, Post, UseGuards } from '@nestjs/common';
import {
  GATEWAY_PATH,
  GatewayClaimSchema,
  GatewayLeftSchema,
  type DispatchMessage,
  type GatewayAttempt,
  type GatewayClaim,
} from '@millrace/contracts';
import { WorkerTokens, type WorkerTokenHolder } from '@millrace/deployments';
import { WarmClaims, type ClaimedAttempt } from '@millrace/jobs';
import { KeyRing } from '@millrace/platform';
import { GatewayRules } from '../gateway-rules';
import { BodyOf, Gone, Holder, IdPipe, Json, RequestsUnderWay, WorkerTokenGuard, type RequestBody } from '../http';
import { WorkerControls, WorkerLanes } from '../lanes';

/** A longer graph is left out of the answer for a worker that reads it apart. */
const GRAPH_WITH_CLAIM_CHARACTERS = 262_144;

/**
 * What waits for a worker: messages of its pool's lane, which it claims or leaves, and jobs of its own that are to be canceled.
 * Each is a request that is answered when there is something.
 */
@Controller(GATEWAY_PATH)
@UseGuards(WorkerTokenGuard)
export class MessagesController {
  private readonly scopeKey: Buffer;

  constructor(
    private readonly tokens: WorkerTokens,
    private readonly lanes: WorkerLanes,
    private readonly controls: WorkerControls,
    private readonly claims: WarmClaims,
    private readonly underWay: RequestsUnderWay,
    private readonly rules: GatewayRules,
    ring: KeyRing,
  ) {
    this.scopeKey = ring.for('remote scopes')[0].secret;
  }

  /** Wait for a message: a worker asks once for each engine that is free. */
  @Post('workers/:worker/offers')
  @HttpCode(200)
  async offer(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Gone() gone: AbortSignal,
  ): Promise<{ message: DispatchMessage | null }> {
    await this.tokens.assertLiveWorker(holder, id);
    const message = await this.underWay.wait(holder.tokenId, () => this.lanes.next(holder, id, gone));
    // The worker will never learn of it.
    if (message !== null && gone.aborted) this.lanes.done(holder, id, message, message);
    return { message };
  }

  /** Leave a message to other workers. */
  @Post('workers/:worker/offers/left')
  @HttpCode(200)
  async leave(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Json(GatewayLeftSchema) { message }: { message: DispatchMessage },
  ): Promise<object> {
    await this.tokens.assertWorker(holder, id);
    this.lanes.done(holder, id, message, message);
    return {};
  }

  /** Wait for jobs of the worker that are to be canceled. */
  @Post('workers/:worker/controls')
  @HttpCode(200)
  async control(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Gone() gone: AbortSignal,
  ): Promise<{ cancel: string[] }> {
    await this.tokens.assertLiveWorker(holder, id);
    const next = (): Promise<string[]> => this.controls.next(holder.poolId, id, gone);
    return { cancel: await this.underWay.wait(holder.tokenId, next) };
  }

  /** Claim the attempt of a message, or one that suits the worker better. Of several requests with one claim id, each is answered the same. */
  @Post('workers/:worker/claims')
  @HttpCode(200)
  async claim(
    @Holder() holder: WorkerTokenHolder,
    @Param('worker', IdPipe) id: string,
    @Json(GatewayClaimSchema) { message, disk = [], lacking = [], graphApart = false, ...claim }: GatewayClaim,
    @BodyOf() body: RequestBody,
    @Gone() gone: AbortSignal,
  ): Promise<{ claimed: GatewayAttempt | null; left: DispatchMessage | null }> {
    await this.tokens.assertLiveWorker(holder, id);
    const worker = { id, poolId: holder.poolId, disk, lacking, gone, ...claim };
    const { claimed, left } = await body.answer(() => this.claims.take(message, worker));
    // Of one that went away, another request may be on its way here, or to another gateway.
    if (gone.aborted) return { claimed: null, left: null };
    this.lanes.done(holder, id, message, left);
    // What was left is offered again from here.
    return { claimed: claimed && this.present(claimed, graphApart), left: null };
  }

  /** Which account it is, a worker need not know; which of its attempts are one account's, an engine with a cache must. */
  private present({ accountId, deadlineAt, ...attempt }: ClaimedAttempt, graphApart: boolean): GatewayAttempt {
    const { jobId, leaseToken, poolId, status, workflow, hasSecrets, models, progress, traceparent } = attempt;
    return {
      ...{
        jobId,
        attempt: attempt.attempt,
        leaseToken,
        poolId,
        status,
        ...(!(graphApart && workflow.length > GRAPH_WITH_CLAIM_CHARACTERS) && { workflow }),
        hasSecrets,
        models,
        progress,
        traceparent,
      },
      keepsLogs: attempt.keepsLogs,
      isHoldShort: attempt.isHoldShort,
      leaseSeconds: this.rules.of.leaseSeconds,
      scope: createHmac('sha256', this.scopeKey).update(accountId).digest('hex'),
      deadlineAt: deadlineAt.toISOString(),
    };
  }
}
