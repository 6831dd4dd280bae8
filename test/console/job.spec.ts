import type { Job, Output } from '@millrace/contracts';
import { keepLinks } from '../../apps/console/src/api/keep-links';
import { mergeJob, withOutput } from '../../apps/console/src/job/merge-job';
import { timelineOf } from '../../apps/console/src/job/timeline-rows';
import { readJobsSearch } from '../../apps/console/src/jobs/jobs-search';
import {
  formatAgo,
  formatBytes,
  formatCredits,
  formatDuration,
  formatExactCredits,
} from '../../apps/console/src/ui/format';
import { isPicture, isReadable } from '../../apps/console/src/ui/media';

const output = (id: string, url: string, url_expires_at = '2999-01-01T00:00:00Z'): Output =>
  ({ id, name: `${id}.png`, url, url_expires_at }) as Output;
const job = { status: 'running', progress: null, outputs: [output('a', '/1')] } as unknown as Job;

describe('a job whose events arrive', () => {
  it('keeps links that still work, and takes fresh ones for those that do not', () => {
    const fresh = { ...job, outputs: [output('a', '/2'), output('b', '/3')] };
    expect(mergeJob(job, fresh).outputs.map(({ url }) => url)).toEqual(['/1', '/3']);
    const old = { ...job, outputs: [output('a', '/1', '2000-01-01T00:00:00Z')] };
    expect(mergeJob(old, fresh).outputs.map(({ url }) => url)).toEqual(['/2', '/3']);
  });

  it('keeps outputs that an event left out, and its progress', () => {
    const progress = { value: 0.4, nodes_done: 1, nodes_total: 2 };
    const merged = mergeJob({ ...job, progress }, { ...job, outputs: [], outputs_left_out: 1 });
    expect([merged.outputs, merged.progress]).toEqual([job.outputs, progress]);
    expect(merged).not.toHaveProperty('outputs_left_out');
  });

  it('never leaves a terminal state', () => {
    const ended: Job = { ...job, status: 'succeeded' };
    expect(mergeJob(ended, job)).toBe(ended);
  });

  it('has an output once, however often it is sent', () => {
    const once = withOutput(job, output('b', '/2'));
    expect(withOutput(once, output('b', '/3'))).toBe(once);
  });
});

it('the timeline of a job adds up to its whole time', () => {
  const times = [
    { node_id: '1', class_type: 'A', state: 'done' as const, ms: 300 },
    { node_id: '2', class_type: 'B', state: 'failed' as const, ms: null },
  ];
  const rows = timelineOf({ metrics: { queue_ms: 100, execution_ms: 400 } }, times, []);
  expect(rows.map(({ name, ms, from, to }) => [name, ms, from, to])).toEqual([
    ['Waited in the queue', 100, 0, 0.2],
    ['A', 300, 0.2, 0.8],
    ['B', 0, 0.8, 0.8],
    ['Inputs, outputs and the rest', 100, 0.8, 1],
  ]);
  expect(timelineOf({ metrics: { queue_ms: 1, execution_ms: null } }, [], [])).toEqual([]);
});

it('filters of an address are read, and what is none is left out', () => {
  expect(readJobsSearch({ status: 'failed', label: ['a=1', 'b', 'c==', 'd=', 'e=5'], since: '7d', page: 3 })).toEqual({
    status: 'failed',
    label: ['a=1', 'c==', 'd='],
    since: '7d',
  });
  expect(readJobsSearch({ status: 'gone', label: 'user=1', since: 'constructor', deployment: 7 })).toEqual({
    label: ['user=1'],
  });
});

it('figures are shown as people read them', () => {
  expect([0, 999, 1_400, 123_456_789].map(formatBytes)).toEqual(['0 B', '999 B', '1.4 KB', '123 MB']);
  expect([840, 1_240, 62_000, 7_500_000].map(formatDuration)).toEqual(['840 ms', '1.2 s', '1 min 2 s', '2 h 5 min']);
  expect([3_000, 42_000, -7_200_000].map((ms) => formatAgo(0, ms))).toEqual(['just now', '42 s ago', 'in 2 h']);
  expect([0, 1_500_000, 2_500, 23].map(formatCredits)).toEqual(['0.00', '1.50', '0.0025', '0.000023']);
  expect([599_977, -600_000].map(formatExactCredits)).toEqual(['0.599977', '-0.60']);
});

it('documents that could hold scripts are no pictures', () => {
  const types = ['image/png', 'IMAGE/JPEG; q=1', 'image/svg+xml', 'text/html', 'application/octet-stream'];
  expect(types.map((content_type) => isPicture({ content_type }))).toEqual([true, true, false, false, false]);
  expect(types.map((content_type) => isReadable({ content_type }))).toEqual([false, false, true, true, false]);
});

describe('what is read again', () => {
  const soon = new Date(Date.now() + 30_000).toISOString();

  it('keeps the links that still work, at any depth, and takes all else', () => {
    const known = { pages: [{ jobs: [{ id: 'a', outputs: [output('x', 'old')] }] }] };
    const next = { pages: [{ jobs: [{ id: 'a', outputs: [output('x', 'new'), output('y', 'new')] }] }] };
    expect(keepLinks(known, next)).toEqual({
      pages: [{ jobs: [{ id: 'a', outputs: [output('x', 'old'), output('y', 'new')] }] }],
    });
  });

  it('replaces a link that ends within a minute', () => {
    expect(keepLinks([output('x', 'old', soon)], [output('x', 'new')])).toEqual([output('x', 'new')]);
  });
});
