import { Readable } from 'node:stream';
import { z } from 'zod';
import { BlobStoreError, type StoredOutput } from '@millrace/assets';
import {
  GatewayCredentialsSchema,
  GatewayDoubtSchema,
  GatewayEndAnswerSchema,
  GatewayHeartbeatAnswerSchema,
  GatewayInputSchema,
  GatewayRecordedSchema,
  type GatewayEnd,
  type GatewayEvent,
  type GatewayOutput,
  type Preview,
  type Progress,
} from '@millrace/contracts';
import type { AttemptLoss, AttemptResult, Fence, OutputDraft } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';
import type { AttemptParts } from '../attempt';
import type { EventPause } from './event-pause';
import { GatewayUnreachable, isNotHeld, type GatewayClient, type GatewayRequest } from './gateway.client';
import { uploadOutput, type RemoteBlob } from './output-upload';
import { retried } from './retried';
import type { StoreLinks } from './store-links';

/** Events under way at most: one that comes while the gateway is slow is dropped, since a later one says more. */
const MAX_EVENTS = 4;

type Recorded = AttemptParts['jobs'] & AttemptParts['assets'];
type Answer<K extends keyof Recorded, M extends keyof Recorded[K]> = Recorded[K][M] extends (
  ...given: never[]
) => infer R
  ? R
  : never;

/** What the attempts of a worker share. */
export interface AttemptAccess {
  client: GatewayClient;
  /** Size of the parts in which outputs are sent. */
  partBytes: number;
  eventPause: EventPause;
  links: StoreLinks;
  logger: Pick<Logger, 'debug'>;
}

/** Where one attempt of a worker outside the cluster is recorded, and where its bytes lie: all of it by the gateway. */
export class RemoteAttempt {
  private readonly client: GatewayClient;
  private eventsUnderWay = 0;

  constructor(
    private readonly access: AttemptAccess,
    private readonly claimed: Fence,
  ) {
    this.client = access.client;
  }

  /** As the parts of an attempt. */
  get parts(): Pick<AttemptParts, 'jobs' | 'assets'> {
    return {
      jobs: {
        lifecycle: {
          heartbeat: (_fence, run, signal) => this.heartbeat(run, signal),
          finish: (_fence, result) => this.finish(result).then(() => null),
          handBack: () => this.end({ kind: 'handed_back' }).then(() => null),
          lackRoom: (_fence, lack) => this.end({ kind: 'handed_back', lack }).then(() => null),
          giveUp: (_fence, loss) => this.giveUp(loss).then(() => null),
          keepLog: (_fence, log) => this.keepLog(log),
        },
        outputs: {
          record: (_fence, draft) => this.record(draft),
          finish: (_fence, result, last) => this.finish(result, last),
        },
        events: {
          progressed: (_jobId, _attempt, progress) => this.progressed(progress),
          previewed: (_jobId, _attempt, preview) => this.previewed(preview),
        },
        secrets: { get: (_of, signal) => this.credentials(signal) },
      },
      assets: {
        assets: { storeOutput: (_accountId, source, options) => this.storeOutput(source, options) },
        content: {
          openInput: (_accountId, id, from, signal) => this.openInput(id, from, signal),
          doubtInput: (_accountId, id) => this.doubtInput(id),
        },
      },
    };
  }

  private async heartbeat(
    body: { progress: Progress | null; engineMs: number },
    signal: AbortSignal,
  ): Promise<Awaited<Answer<'lifecycle', 'heartbeat'>>> {
    const request = { method: 'POST', path: 'heartbeats', fence: this.claimed, body, signal } as const;
    return (await this.client.ask(GatewayHeartbeatAnswerSchema, request)).answer;
  }

  private finish(result: AttemptResult, last: OutputDraft | null = null): Promise<boolean> {
    return this.end({ kind: 'finished', result, last: last && wireOf(last) });
  }

  private giveUp(loss: AttemptLoss): Promise<boolean> {
    return this.end({ kind: 'given_up', loss });
  }

  private async end(end: GatewayEnd): Promise<boolean> {
    return (await this.ask(GatewayEndAnswerSchema, 'POST', 'ends', end)).recorded;
  }

  private async keepLog(log: { text: string; truncated: boolean }): Promise<void> {
    await this.ask(z.object({}), 'PUT', 'log', log);
  }

  private progressed(progress: Progress): void {
    this.publish({ kind: 'progress', progress });
  }

  private previewed(preview: Preview): void {
    this.publish({ kind: 'preview', preview });
  }

  private publish(event: GatewayEvent): void {
    const { eventPause, logger } = this.access;
    if (this.eventsUnderWay >= MAX_EVENTS || eventPause.isOn) return;
    this.eventsUnderWay += 1;
    void this.ask(z.object({}), 'POST', 'events', event)
      .catch((error: unknown) => {
        eventPause.follow(error);
        logger.debug({ err: error }, 'an event of a run was lost');
      })
      .finally(() => (this.eventsUnderWay -= 1));
  }

  private async record(draft: OutputDraft): Promise<boolean> {
    return (await this.ask(GatewayRecordedSchema, 'POST', 'outputs', wireOf(draft))).recorded;
  }

  private async credentials(signal: AbortSignal): Promise<Record<string, string> | null> {
    const request = { method: 'GET', path: 'credentials', fence: this.claimed, signal } as const;
    return (await retried(() => this.client.ask(GatewayCredentialsSchema, request), { signal })).credentials;
  }

  /** A lost link is no fault of the store: it is tried for as long as the lease holds. */
  private async storeOutput(
    source: Readable,
    { name, signal }: { name: string; signal?: AbortSignal | undefined },
  ): Promise<StoredOutput> {
    const { client } = this;
    const { links, partBytes } = this.access;
    try {
      return await uploadOutput(client, this.claimed, source, { name, partBytes, links, signal });
    } catch (error) {
      source.destroy();
      // The upload was completed, and its answer lost; or the lease is lost, which the next heartbeat finds out.
      if (isNotHeld(error) || (error instanceof BlobStoreError && error.fault === 'missing')) {
        throw new GatewayUnreachable('the output has to be sent again', { cause: error });
      }
      throw error;
    }
  }

  private async openInput(
    id: string,
    from = 0,
    signal?: AbortSignal,
  ): Promise<Awaited<Answer<'content', 'openInput'>>> {
    const request = { method: 'GET', path: `inputs/${id}`, fence: this.claimed, signal } as const;
    const asset = await retried(() => this.client.ask(GatewayInputSchema, request), { signal });
    const isAtEnd = from > 0 && from >= asset.sizeBytes;
    const body = isAtEnd ? Readable.from([]) : await this.bytesOf(id, asset.url, from, signal);
    return { asset: { ...asset, blob: { hash: asset.hash ?? null } }, body };
  }

  private bytesOf(id: string, url: string | null, from: number, signal?: AbortSignal): Promise<Readable> {
    const request = { method: 'GET', path: `inputs/${id}/content`, fence: this.claimed, from, signal } as const;
    return this.access.links.readOrGateway(url, { from, signal }, () => this.client.download(request));
  }

  private async doubtInput(id: string): Promise<boolean> {
    return (await this.ask(GatewayDoubtSchema, 'POST', `inputs/${id}/doubts`, {}, 'bytes')).damaged;
  }

  private ask<T extends z.ZodType>(
    schema: T,
    method: GatewayRequest['method'],
    path: string,
    body?: object,
    takes: GatewayRequest['takes'] = 'short',
  ): Promise<z.output<T>> {
    return this.client.ask(schema, { method, path, fence: this.claimed, takes, ...(body && { body }) });
  }
}

function wireOf({ blob, ...draft }: OutputDraft): GatewayOutput {
  return { ...draft, receipt: (blob as RemoteBlob).receipt };
}
