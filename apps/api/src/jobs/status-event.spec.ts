import { JobEventSchemas, newId, type Job, type Output } from '@millrace/contracts';
import { statusEventOf } from './status-event';

const FRAME_BYTES = 2 * 1024 * 1024;
const jobOf = (outputs: Output[]): Job => ({
  id: newId(),
  status: 'succeeded',
  created_at: '2026-11-21T10:20:30.000Z',
  started_at: '2026-11-21T10:20:31.000Z',
  completed_at: '2026-11-21T10:20:32.000Z',
  expires_at: '2026-11-28T10:20:30.000Z',
  queue_position: null,
  progress: null,
  outputs,
  error: null,
  metadata: {},
  metrics: { queue_ms: 1_000, execution_ms: 1_000 },
  urls: { self: '/api/v2/jobs/1', events: '/api/v2/jobs/1/events', cancel: '/api/v2/jobs/1/cancel' },
});
const outputOf = (name: string, nodeId = '1'): Output => ({
  node_id: nodeId,
  name,
  type: 'image',
  content_type: 'image/png',
  size_bytes: 1_000_000,
  id: newId(),
  hash: `blake3:${'0'.repeat(64)}`,
  url: `https://api.example.com/api/v2/assets/${newId()}/content?expires=1790000000&signature=${'s'.repeat(64)}`,
  url_expires_at: '2026-11-21T11:20:30.000Z',
  job_id: newId(),
});

describe('a status event', () => {
  it('has all of the thousand outputs that a job may have', () => {
    const job = jobOf(Array.from({ length: 1_000 }, (_, n) => outputOf(`picture_${n}.png`)));
    expect(statusEventOf(job)).toBe(job);
  });

  it('of outputs with the longest names has the first of them, says how many it lacks, and makes a frame below 2 MiB', () => {
    const name = '"'.repeat(1_024);
    const job = jobOf(Array.from({ length: 1_000 }, () => outputOf(name, name)));
    expect(JSON.stringify(job).length).toBeGreaterThan(FRAME_BYTES);
    const event = JobEventSchemas.status.parse(statusEventOf(job));
    expect(Buffer.byteLength(`event: status\ndata: ${JSON.stringify(event)}\n\n`)).toBeLessThan(FRAME_BYTES);
    expect(event.outputs).toEqual(job.outputs.slice(0, event.outputs.length));
    expect(event.outputs.length + (event.outputs_left_out ?? 0)).toBe(1_000);
    expect(event.outputs.length).toBeGreaterThan(100);
  });
});
