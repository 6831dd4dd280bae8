import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { JobStreams, type StreamItem } from '@millrace/jobs';
import { joinSignals } from '@millrace/platform';
import { API_SETTINGS, type ApiSettings } from '../api.config';
import { OpenStreams, holderOf } from '../streams';
import type { ToolCall } from './tool';

/** Many clients give up a call after a minute. */
const WAIT_SECONDS = 50;

/** How long a call waits; the service has a limit, and a longer wait ends there. */
export const waitSeconds = z
  .int()
  .min(0)
  .max(3_600)
  .default(WAIT_SECONDS)
  .describe(
    'How long to wait for the end of the job, in seconds; 0 answers at once. Call wait_for_job to go on waiting.',
  );

/** Waits for the ends of jobs. A wait takes one of the places that event streams have, so that no account takes all of them. */
@Injectable()
export class JobWatch {
  constructor(
    private readonly jobStreams: JobStreams,
    private readonly open: OpenStreams,
    @Inject(API_SETTINGS) private readonly settings: Pick<ApiSettings, 'mcpWaitSeconds'>,
  ) {}

  /**
   * Wait until a job has ended, the time is over, the client is gone, its access has ended, or the process stops; report the
   * progress meanwhile.
   *
   * @throws Refusal `not_found`, `too_many_streams`.
   */
  async wait({ visitor, signal, progress }: ToolCall, jobId: string, seconds: number): Promise<void> {
    const waitMs = Math.min(seconds, this.settings.mcpWaitSeconds) * 1_000;
    if (waitMs === 0) return;
    const { caller, scope } = visitor;
    const place = await this.open.enter(holderOf(caller, scope.deploymentId, 'jobs:read'));
    const ends = joinSignals(place.ending.signal, signal, AbortSignal.timeout(waitMs));
    try {
      let fraction = 0;
      for await (const item of this.jobStreams.open(scope, jobId, ends.signal)) {
        if (item.kind === 'progress') fraction = item.progress.value;
        const message = messageOf(item);
        if (message !== null) await progress.report(fraction, message, item.kind === 'status');
      }
    } finally {
      ends.release();
      this.open.leave(place);
    }
  }
}

/** What a person reads of it; null where there is nothing to say. */
function messageOf(item: StreamItem): string | null {
  if (item.kind === 'status') {
    const { job, place } = item;
    return `Job ${job.id} is ${job.status}${place === null ? '' : `, at place ${place.position}`}.`;
  }
  if (item.kind === 'output') return `Output ${item.output.name} of node ${item.output.nodeId} is there.`;
  if (item.kind === 'preview') return null;
  const { nodes_done: done, nodes_total: total, current_node: node, current_node_class: className } = item.progress;
  const at = node === null || node === undefined ? '' : `, at node ${node}${className ? ` (${className})` : ''}`;
  return `${done} of ${total} nodes are done${at}.`;
}
