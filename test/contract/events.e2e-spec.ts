import type { Job } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount, type TestProcess } from '@millrace/testing';
import { EventStream } from './support/event-stream';
import { OwnRedis } from './support/own-redis';
const STREAM_LIMIT = 6;

let redis: OwnRedis;
let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  redis = await OwnRedis.start();
  stack = await TestStack.start({
    settings: {
      REDIS_URL: redis.url,
      MILLRACE_MAX_STREAMS_PER_ACCOUNT: String(STREAM_LIMIT),
    },
  });
  account = await stack.createAccount(10_000_000_000);
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  await redis.kill();
});

/** Nothing of a test is left to run in the next. */
afterEach(async () => {
  const { body } = await client.call<{ jobs: Job[] }>('GET', '/api/v2/jobs?limit=100');
  const live = body.jobs.filter((job) => job.completed_at === null);
  await Promise.all(live.map((job) => cancel(job.id)));
});

const grown = (size: number, steps: number): object => ({
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: size, height: size, steps, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'grown' } },
  '3': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '4': { class_type: 'PreviewAny', inputs: { source: ['3', 0] } },
});
/** Runs until it is canceled. */
const ENDLESS = grown(512, 100_000);

const open = (id: string, at = client): Promise<EventStream> => EventStream.open(at, id, account.apiKey);
const cancel = async (id: string): Promise<void> => {
  await client.call('POST', `/api/v2/jobs/${id}/cancel`);
  await client.ended(id);
};

describe('the event stream of a job', () => {
  it('sends its whole life: every status, growing progress, every output before the end, and ends with it', async () => {
    const { id } = await client.run(grown(192, 900));
    const stream = await open(id);
    await stream.end();
    expect(stream.events[0]?.event).toBe('status');
    expect(stream.events.at(-1)).toMatchObject({ event: 'status', data: { status: 'succeeded' } });
    const sent = stream.statuses.filter((status, at, all) => status !== all[at - 1]);
    expect(['queued', 'running', 'succeeded'].slice(-sent.length)).toEqual(sent);
    expect(sent.length).toBeGreaterThan(1);

    const values = stream.of('progress').map((progress) => Number(progress.value));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    expect(stream.of('progress').at(-1)).toMatchObject({ value: 1, nodes_done: 4, nodes_total: 4 });

    const job = await client.job(id);
    const names = (outputs: object[]): unknown[] => outputs.map((output) => (output as { id: string }).id);
    expect(names(stream.of('output'))).toEqual(names(job.outputs));
    expect(job.outputs).toHaveLength(2);
    expect(stream.of('status').at(-1)).toMatchObject({ id, progress: { value: 1 }, outputs: [{}, {}], error: null });
  });

  it('is text/event-stream, never compressed, never cached, its frames named and without ids', async () => {
    const { id } = await client.run(grown(64, 50));
    const stream = await open(id);
    await stream.end();
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': expect.stringContaining('no-store') as string,
      'x-accel-buffering': 'no',
    });
    expect(stream.headers['content-encoding']).toBeUndefined();
    const frames = stream.text.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));
    for (const frame of frames) expect(frame).toMatch(/^event: (status|progress|preview|output)\ndata: \{[^\n]*\}$/);
  });

  it('opened on a job that has ended sends that one status, and ends', async () => {
    const { id } = await client.run(grown(64, 5));
    const job = await client.ended(id);
    const stream = await open(id);
    await stream.end();
    expect(stream.events.map(({ event, data }) => [event, data.id, data.status])).toEqual([
      ['status', id, 'succeeded'],
    ]);
    expect(Object.keys(stream.of('status')[0] ?? {}).sort()).toEqual(Object.keys(job).sort());
  });

  it('answers HEAD with its headers and no stream', async () => {
    const { id } = await client.run(grown(64, 5));
    const answer = await client.call('HEAD', `/api/v2/jobs/${id}/events`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });
});

describe('a running job', () => {
  it('shows a stream that opens late its status, latest progress and preview, and then no more than 4 of each a second', async () => {
    const { id } = await client.run(ENDLESS);
    const early = await open(id);
    await early.first('progress', (progress) => Number(progress.step) > 1);
    await early.first('preview');
    const began = performance.now();
    const late = await open(id);
    await late.first('preview');
    expect(late.events.slice(0, 3).map(({ event }) => event)).toEqual(['status', 'progress', 'preview']);
    await eventually('some time to pass', () => late.of('progress').length >= 5);
    const seconds = (performance.now() - began) / 1_000;
    expect(late.of('progress').length).toBeLessThanOrEqual(4 * seconds + 2);
    expect(late.of('preview').length).toBeLessThanOrEqual(2 * seconds + 2);
    const [preview] = late.of('preview');
    expect(preview).toMatchObject({ node_id: '1', content_type: 'image/jpeg' });
    expect(Buffer.from(String(preview?.data_base64), 'base64').subarray(0, 2).toString('hex')).toBe('ffd8');

    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    await Promise.all([early.end(), late.end()]);
    for (const stream of [early, late]) {
      expect(stream.statuses.filter((status, at, all) => status !== all[at - 1]).slice(-3)).toEqual([
        'running',
        'canceling',
        'canceled',
      ]);
    }
  });

  it('sends those that wait behind it their new place in the queue', async () => {
    const first = await client.run(ENDLESS);
    await eventually('it to run', async () => (await client.job(first.id)).status === 'running');
    const waiting: Job[] = [];
    for (let nth = 0; nth < 6; nth += 1) waiting.push(await client.run(ENDLESS));
    const last = waiting.at(-1)?.id ?? '';
    const stream = await open(last);
    await stream.first('status');
    const before = Number(stream.of('status')[0]?.queue_position);
    expect(before).toBeGreaterThan(2);
    for (const job of waiting.slice(2, 5)) await cancel(job.id);
    await stream.first('status', (job) => Number(job.queue_position) < before && job.status === 'queued');
    for (const id of [last, ...waiting.slice(0, 2).map((job) => job.id), first.id]) await cancel(id);
    await stream.end();
    expect(stream.statuses.at(-1)).toBe('canceled');
  });
});

describe('when Redis', () => {
  it('is emptied under an open stream, the stream goes on', async () => {
    const { id } = await client.run(ENDLESS);
    const stream = await open(id);
    await stream.first('progress');
    await redis.command('FLUSHALL');
    const seen = stream.of('progress').length;
    await eventually('more progress', () => stream.of('progress').length > seen);
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    await stream.end();
    expect(stream.statuses.slice(-2)).toEqual(['canceling', 'canceled']);
  });

  it('dies and returns empty under an open stream, no transition is lost and the end is sent', async () => {
    const { id } = await client.run(ENDLESS);
    const stream = await open(id);
    await stream.first('progress');
    await redis.kill();
    // Nothing of this is published: what moves now is found in PostgreSQL alone.
    expect((await client.call('POST', `/api/v2/jobs/${id}/cancel`)).status).toBe(200);
    await client.ended(id);
    await redis.restart();
    await stream.end();
    expect(stream.statuses.slice(-3)).toEqual(['running', 'canceling', 'canceled']);
  });

  it('is away, a stream opens all the same, and sends the end from PostgreSQL', async () => {
    const { id } = await client.run(ENDLESS);
    await eventually('it to run', async () => (await client.job(id)).status === 'running');
    await redis.kill();
    const stream = await open(id);
    await stream.first('status');
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    await stream.end();
    await redis.restart();
    expect(stream.statuses.at(-1)).toBe('canceled');
  });
});

describe('an account', () => {
  it('may have so many streams open, and must wait for one more', async () => {
    const { id } = await client.run(ENDLESS);
    const streams = await Promise.all(Array.from({ length: STREAM_LIMIT }, () => open(id)));
    const answer = await client.call('GET', `/api/v2/jobs/${id}/events`);
    expect([answer.status, answer.body.error.code]).toEqual([429, 'too_many_streams']);
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    const other = await stack.createAccount();
    const elsewhere = await new ApiClient(stack.publicUrl, other.apiKey).call('GET', `/api/v2/jobs/${id}/events`);
    expect(elsewhere.status).toBe(404);
    streams[0]?.close();
    await eventually('a place to be free', async () => {
      const stream = await open(id).catch(() => null);
      stream?.close();
      return stream !== null;
    });
    await cancel(id);
    await Promise.all(streams.slice(1).map((stream) => stream.end()));
  });
});

describe('an API process that is asked to stop', () => {
  /** One whose drain takes so many seconds, and whose stop leaves room for it. */
  const leave = async (seconds: number): Promise<[TestProcess, ApiClient]> => {
    const leaving = await stack.spawn('api', {
      MILLRACE_DRAIN_SECONDS: String(seconds),
      MILLRACE_STOP_SECONDS: String(seconds + 30),
    });
    return [leaving, new ApiClient(leaving.publicUrl, account.apiKey)];
  };

  it('lets a stream go on to the end of its job', async () => {
    const [leaving, there] = await leave(3_600);
    const { id } = await client.run(ENDLESS);
    const own = await open(id, there);
    await own.first('progress');
    leaving.signal('SIGTERM');
    await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    await own.end();
    expect(own.statuses.at(-1)).toBe('canceled');
  });

  it('ends its streams when it must go, and they go on elsewhere', async () => {
    const [leaving, there] = await leave(1);
    const { id } = await client.run(ENDLESS);
    const own = await open(id, there);
    await own.first('status');
    leaving.signal('SIGTERM');
    await own.end();
    expect(own.statuses.at(-1)).not.toBe('canceled');
    const resumed = await open(id);
    await resumed.first('status');
    expect(resumed.of('status')[0]).toMatchObject({ id, status: (await client.job(id)).status });
    await cancel(id);
    await resumed.end();
    expect(resumed.statuses.at(-1)).toBe('canceled');
  });
});
