import { Controller, Get, HttpCode, Post, Put, UseGuards } from '@nestjs/common';
import {
  GATEWAY_PATH,
  GatewayEndSchema,
  GatewayEventSchema,
  GatewayHeartbeatSchema,
  GatewayLogSchema,
  Refusal,
  type GatewayEnd,
  type GatewayEvent,
  type GatewayHeartbeatAnswer,
  type Progress,
} from '@millrace/contracts';
import { type WorkerTokenHolder } from '@millrace/deployments';
import {
  JobEvents,
  Lifecycle,
  OutputRecorder,
  RemoteAttempts,
  REPORTED_ENDINGS,
  type AttemptResult,
  type RemoteAttempt,
  type ReportedEnding,
} from '@millrace/jobs';
import { EphemeralSecrets } from '@millrace/messaging';
import { GatewayRules } from '../gateway-rules';
import {
  BodyOf,
  END,
  Holder,
  Json,
  LOG,
  LargeJson,
  Lossy,
  Vital,
  WorkerTokenGuard,
  type LargeBody,
  type RequestBody,
} from '../http';
import { Fenced, HeldAttempts, type NamedFence } from './held-attempts';
import { OutputReceipts } from './output-receipts';
import { Renewals } from './renewals';

type HeartbeatAnswer = NonNullable<Awaited<ReturnType<Lifecycle['heartbeat']>>>;
type Lack = Extract<GatewayEnd, { kind: 'handed_back' }>['lack'];

/** What a worker says of the attempt that it holds. The statements that write compare the fence once more, as a worker's own do. */
@Controller(`${GATEWAY_PATH}/jobs/:job/attempts/:attempt`)
@UseGuards(WorkerTokenGuard)
export class AttemptsController {
  private readonly renewals = new Renewals<HeartbeatAnswer | null>();

  constructor(
    private readonly held: HeldAttempts,
    private readonly attempts: RemoteAttempts,
    private readonly lifecycle: Lifecycle,
    private readonly outputs: OutputRecorder,
    private readonly events: JobEvents,
    private readonly secrets: EphemeralSecrets,
    private readonly receipts: OutputReceipts,
    private readonly rules: GatewayRules,
  ) {}

  /** The graph, which a claim leaves out where it is large. */
  @Get('graph')
  async graph(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @BodyOf() body: RequestBody,
  ): Promise<{ workflow: string }> {
    const { jobId } = await this.held.get(fence, holder);
    const workflow = await body.answer(() => this.attempts.workflowOf(jobId));
    if (workflow === null) throw new Refusal('not_found', `Job ${jobId} has no graph any more: stop working on it.`);
    return { workflow };
  }

  /** Renew the lease, for as long as leases are of this gateway, which need not be that of the claim. Null: it is lost. */
  @Post('heartbeats')
  @HttpCode(200)
  @Vital()
  async heartbeat(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayHeartbeatSchema) run: { progress: Progress | null; engineMs: number },
  ): Promise<GatewayHeartbeatAnswer> {
    const { jobId, attempt, leaseToken } = fence;
    const answer = await this.renewals.renew([holder.tokenId, jobId, attempt, leaseToken].join(' '), async () => {
      const held = await this.held.find(fence, holder);
      return held && this.lifecycle.heartbeat(held, run);
    });
    return { answer: answer && { ...answer, leaseSeconds: this.rules.of.leaseSeconds } };
  }

  /** Progress and previews, published as they come. They may be lost. */
  @Post('events')
  @HttpCode(200)
  @Lossy()
  async publish(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @Json(GatewayEventSchema) event: GatewayEvent,
  ): Promise<object> {
    const { jobId, attempt } = await this.held.getRecent(fence, holder);
    if (event.kind === 'progress') this.events.progressed(jobId, attempt, event.progress);
    else this.events.previewed(jobId, attempt, event.preview);
    return {};
  }

  /** What the run has printed so far. */
  @Put('log')
  async keepLog(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @LargeJson(GatewayLogSchema, LOG) body: LargeBody<{ text: string; truncated: boolean }>,
  ): Promise<object> {
    const held = await this.held.get(fence, holder);
    await this.lifecycle.keepLog(held, await body.read());
    return {};
  }

  /** The credentials that were sent with the job; null when they were lost. */
  @Get('credentials')
  async credentials(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
  ): Promise<{ credentials: Record<string, string> | null }> {
    const { accountId, jobId, hasSecrets } = await this.held.get(fence, holder);
    return { credentials: hasSecrets ? await this.secrets.get({ accountId, jobId }) : {} };
  }

  /** How the attempt ended. An end that was recorded before, or whose lease is lost, changes nothing. */
  @Post('ends')
  @HttpCode(200)
  @Vital()
  async end(
    @Holder() holder: WorkerTokenHolder,
    @Fenced() fence: NamedFence,
    @LargeJson(GatewayEndSchema, END) body: LargeBody<GatewayEnd>,
  ): Promise<{ recorded: boolean }> {
    const held = await this.held.find(fence, holder);
    if (held === null) {
      body.drop();
      return { recorded: true };
    }
    const end = await body.read();
    if (end.kind === 'handed_back') await this.handBack(held, end.lack);
    else if (end.kind === 'given_up') await this.lifecycle.giveUp(held, end.loss);
    else {
      const result: AttemptResult = { ...end.result, ending: endingOf(end.result.ending) };
      if (end.last !== null)
        return { recorded: await this.outputs.finish(held, result, this.receipts.draftOf(held, end.last)) };
      await this.lifecycle.finish(held, result);
    }
    return { recorded: true };
  }

  private async handBack(held: RemoteAttempt, lack: Lack): Promise<void> {
    if (lack === undefined) await this.lifecycle.handBack(held);
    else await this.lifecycle.lackRoom(held, { ...lack, isPassing: lack.isPassing ?? false });
  }
}

function endingOf(text: string): ReportedEnding {
  const ending = REPORTED_ENDINGS.find((one) => one === text);
  if (ending !== undefined) return ending;
  throw Refusal.ofFields([{ field: 'result.ending', reason: `must be one of ${REPORTED_ENDINGS.join(', ')}` }]);
}
