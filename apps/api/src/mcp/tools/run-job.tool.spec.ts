import { Logger } from '@nestjs/common';
import { Refusal } from '@millrace/contracts';
import type { SubmissionService } from '@millrace/jobs';
import { BodiesInFlight } from '@millrace/platform';
import { withContext } from '../../fixtures/with-context';
import type { Destinations } from '../../jobs';
import type { JobViews } from '../job-views';
import type { JobWatch } from '../job-watch';
import type { OutputContent } from '../output-content';
import { ProgressReports } from '../progress';
import { resultOf, type ToolCall } from '../tool';
import { RunJobTool } from './run-job.tool';

const ID = '00000000-0000-7000-8000-000000000001';
const GRAPH = { '1': { class_type: 'A', inputs: {} } };
const BUSY = new Refusal('rate_limited', 'Too many readings wait.', { retryAfterSeconds: 1 });

/** What may fail once the job is recorded. */
interface After {
  wait?: () => Promise<void>;
  read?: () => Promise<object>;
  report?: () => Promise<void>;
}

/** Of a process that has something in memory, and room for nothing large beside it. */
function busyBodies(): BodiesInFlight {
  const bodies = new BodiesInFlight({ bytes: 10_000, bytesPerPayer: 10_000 });
  bodies.take('another', 1);
  return bodies;
}

const callOf = (report: After['report']): ToolCall =>
  ({
    visitor: { caller: { accountId: 'a' }, scope: {}, surface: {}, requestId: 'request-1' },
    request: withContext({}, { bodies: busyBodies() }),
    signal: new AbortController().signal,
    spendLimitMicros: 1n,
    graphText: JSON.stringify(GRAPH),
    maxWorkflowBytes: 1_024,
    progress: new ProgressReports(report),
  }) as unknown as ToolCall;

/** Runs a job that is recorded with this status. */
async function runJob(status: 'queued' | 'succeeded', { wait, read, report }: After) {
  const waits: string[] = [];
  const submissions = { submit: () => Promise.resolve({ job: { id: ID, status }, spend: [] }) };
  const watch = { wait: (_call: unknown, id: string) => (waits.push(id), wait?.() ?? Promise.resolve()) };
  const views = { read: read ?? (() => Promise.resolve({ id: ID, status, outputs: [] })) };
  const tool = new RunJobTool(
    {} as Destinations,
    submissions as unknown as SubmissionService,
    watch as unknown as JobWatch,
    views as unknown as JobViews,
    { blocksOf: () => Promise.resolve([]) } as unknown as OutputContent,
  );
  const call = callOf(report);
  const input = { workflow: GRAPH, wait_seconds: 50 } as Parameters<RunJobTool['run']>[0];
  return { waits, result: resultOf(await tool.run(input, call), call) };
}

// Each failure is logged with its cause.
beforeAll(() => {
  Logger.overrideLogger(false);
});

describe('a job that is recorded is answered with its id', () => {
  const broken = (): Promise<never> => Promise.reject(new Error('the database is away: secret detail'));
  const busy = (): Promise<never> => Promise.reject(BUSY);

  it.each<[string, After, string]>([
    ['its wait is refused', { wait: busy }, 'rate_limited: Too many readings wait.'],
    ['its wait fails', { wait: broken }, 'upstream_error (request id request-1)'],
    ['it cannot be read now', { read: busy }, 'rate_limited: Too many readings wait.'],
    ['reading it fails', { read: broken }, 'upstream_error (request id request-1)'],
    ['its progress cannot be sent', { report: broken }, 'upstream_error (request id request-1)'],
  ])('though %s', async (_name, after, reason) => {
    const { result } = await runJob('queued', after);
    expect(result.isError).toBeUndefined();
    const { notice, ...job } = result.structuredContent as { notice: string };
    expect(job).toEqual({ id: ID, status: 'queued' });
    expect(notice).toContain(reason);
    expect(notice).toContain('wait_for_job');
    expect(notice).not.toContain('secret detail');
  });

  it('though there is no memory now for all that there is to say of it', async () => {
    const view = { id: ID, status: 'failed', outputs: [], error: { message: 'x'.repeat(300_000) } };
    const { result } = await runJob('queued', { read: () => Promise.resolve(view) });
    expect(result.structuredContent).toMatchObject({
      id: ID,
      notice: expect.stringContaining('wait_for_job') as string,
    });
  });

  it('without a wait when it has ended at once, with the outputs of an earlier one', async () => {
    const { waits, result } = await runJob('succeeded', { wait: busy });
    expect(waits).toEqual([]);
    expect(result.structuredContent).toEqual({ id: ID, status: 'succeeded', outputs: [] });
  });
});
