import type { JobStreams, StreamItem } from '@millrace/jobs';
import type { SharedSlots } from '@millrace/messaging';
import { Metrics } from '@millrace/platform';
import { collectGarbage, followersOf } from '@millrace/testing';
import { OpenStreams } from '../streams';
import { JobWatch } from './job-watch';
import { ProgressReports } from './progress';
import type { ToolCall } from './tool';

/** A job that goes on for as long as anybody looks. */
const streams = {
  async *open(_scope: unknown, _jobId: string, signal: AbortSignal): AsyncGenerator<StreamItem, void, void> {
    yield* [];
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  },
} as unknown as JobStreams;

function watchOf(mcpWaitSeconds: number): JobWatch {
  const away = (): Promise<never> => Promise.reject(new Error('Redis is away'));
  const places = { take: away, release: away } as unknown as SharedSlots;
  return new JobWatch(streams, new OpenStreams(new Metrics('api'), { maxStreamsPerAccount: 1 }, places), {
    mcpWaitSeconds,
  });
}

const callOf = (signal: AbortSignal): ToolCall =>
  ({
    visitor: { caller: { accountId: 'a', limits: { streamLimit: null } }, scope: { deploymentId: null } },
    signal,
    progress: new ProgressReports(undefined),
  }) as unknown as ToolCall;

describe('a wait for the end of a job', () => {
  it('ends when its time is over, also where it could be collected meanwhile, and leaves nothing on its call', async () => {
    const { signal } = new AbortController();
    const over = watchOf(0.3).wait(callOf(signal), 'job', 60);
    await collectGarbage();
    await over;
    expect(followersOf(signal)).toBe(0);
  });

  it('ends when its client is gone', async () => {
    const gone = new AbortController();
    const over = watchOf(600).wait(callOf(gone.signal), 'job', 600);
    gone.abort();
    await over;
  });
});
