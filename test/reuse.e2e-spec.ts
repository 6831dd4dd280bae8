import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Comfy } from '@comfyorg/sdk';
import sharp from 'sharp';
import type { Estimate, Job, JobAttempts, JobNodes } from '@millrace/contracts';
import { JobAudit } from '@millrace/jobs';
import { ApiClient, TestStack, type TestAccount } from '@millrace/testing';

type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

const EXACT = { 'Millrace-Reuse': 'exact' };
const DEFAULTS = '/platform/v1/account/submission-defaults';
const painted = (color: number): Graph => ({
  '1': { class_type: 'EmptyImage', inputs: { width: 32, height: 32, batch_size: 1, color } },
  '2': { class_type: 'ImageInvert', inputs: { image: ['1', 0] } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'painted' } },
});
const loaded = (classType: string): Graph => ({
  '1': { class_type: classType, inputs: {} },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'loaded' } },
});

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 1 });
});
beforeEach(async () => {
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterEach(async () => {
  const found: unknown[] = [];
  for await (const finding of new JobAudit(stack.test.database).findings()) found.push(finding);
  expect(found).toEqual([]);
});
afterAll(() => stack.stop());

async function submit(graph: Graph, headers: Record<string, string> = EXACT, as = client): Promise<Job> {
  const { status, body } = await as.submit(JSON.stringify({ workflow: graph }), headers);
  expect(status).toBe(201);
  return body;
}

/** A job that runs to its end. */
async function ran(graph: Graph, as = client): Promise<Job> {
  const job = await submit(graph, EXACT, as);
  expect([job.status, job.reused_from]).toEqual(['queued', undefined]);
  const ended = await as.ended(job.id);
  expect(ended.status).toBe('succeeded');
  return ended;
}

const hashesOf = ({ outputs }: Pick<Job, 'outputs'>): unknown[] => outputs.map(({ name, hash }) => [name, hash]);
const credits = async (): Promise<unknown> => (await client.call<unknown>('GET', '/platform/v1/credits')).body;

describe('a submission that asks for exact reuse', () => {
  it('is answered at once with the outputs of the job that ran, free, and says so everywhere', async () => {
    const first = await ran(painted(1));
    const before = await credits();
    const { body, headers } = await client.submit(JSON.stringify({ workflow: painted(1) }), EXACT);
    expect(headers['millrace-reuse']).toBe('reused');
    expect(body).toMatchObject({
      status: 'succeeded',
      started_at: null,
      reused_from: first.id,
      progress: null,
      queue_position: null,
      metrics: { queue_ms: null, execution_ms: null, cached_nodes: null, charged_micros: 0 },
    });
    expect(hashesOf(body)).toEqual(hashesOf(first));
    expect(body.outputs[0]?.id).not.toBe(first.outputs[0]?.id);
    expect(body.outputs[0]?.job_id).toBe(body.id);
    const polled = await client.job(body.id);
    expect(polled).toMatchObject({ status: 'succeeded', reused_from: first.id, completed_at: body.completed_at });
    expect(await credits()).toEqual(before);
    const read = async <T>(part: string): Promise<T> =>
      (await client.call<T>('GET', `/api/v2/jobs/${body.id}/${part}`)).body;
    expect(await read<JobAttempts>('attempts')).toEqual({ attempts: [], retry: null });
    expect(await read<JobNodes>('nodes')).toEqual({ nodes: [] });
    const content = await fetch(new URL(body.outputs[0]?.url ?? '', stack.publicUrl));
    expect([content.status, (await content.arrayBuffer()).byteLength]).toEqual([200, first.outputs[0]?.size_bytes]);
  });

  it('streams its end to who follows it', async () => {
    await ran(painted(2));
    const { id, urls } = await submit(painted(2));
    const answer = await fetch(new URL(urls.events, stack.publicUrl), {
      headers: { Authorization: `Bearer ${account.apiKey}`, Accept: 'text/event-stream' },
    });
    const text = await answer.text();
    const status = /event: status\ndata: (.*)\n/.exec(text)?.[1] ?? '';
    expect(JSON.parse(status)).toMatchObject({ id, status: 'succeeded', outputs: [{ job_id: id }] });
    expect(text.match(/^event: /gm)).toHaveLength(1);
  });

  it('runs when any input differs, when it does not ask, and for another account', async () => {
    await ran(painted(3));
    expect((await ran(painted(4))).reused_from).toBeUndefined();
    expect((await submit(painted(3), {})).status).toBe('queued');
    const other = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
    expect((await ran(painted(3), other)).reused_from).toBeUndefined();
  });

  it('never has outputs of another account that asked for the same', async () => {
    const theirs = await ran(painted(11));
    const other = await stack.createAccount();
    const stranger = new ApiClient(stack.publicUrl, other.apiKey);
    const body = { workflow: painted(11) };
    const { body: estimate, text } = await stranger.call<Estimate>('POST', '/platform/v1/estimates', {
      json: body,
      headers: EXACT,
    });
    expect(estimate.reuse?.job_id).toBeNull();
    expect(text).not.toContain(theirs.id);
    const own = await ran(painted(11), stranger);
    // Equal bytes, and yet nothing of the account that had them first.
    expect(hashesOf(own)).toEqual(hashesOf(theirs));
    for (const { id, job_id: jobId } of own.outputs) {
      expect(jobId).toBe(own.id);
      expect(theirs.outputs.map((output) => output.id)).not.toContain(id);
    }
    const again = await submit(painted(11), EXACT, stranger);
    expect(again.reused_from).toBe(own.id);
    expect((await client.call('GET', `/api/v2/jobs/${again.id}`)).status).toBe(404);
    expect((await stranger.call('GET', `/api/v2/jobs/${theirs.id}`)).status).toBe(404);
  });

  it('names no job to a sub-key that it does not find', async () => {
    const subKeyOf = async (user: string): Promise<ApiClient> => {
      const json = { name: user, labels: { user } };
      const { body } = await client.call<{ key: string }>('POST', '/platform/v1/api-keys', { json });
      return new ApiClient(stack.publicUrl, body.key);
    };
    const [ada, bob] = [await subKeyOf('ada'), await subKeyOf('bob')];
    const first = await ran(painted(12), ada);
    // Another user's outputs are not looked at, though the account is the same.
    const ofBob = await ran(painted(12), bob);
    expect((await submit(painted(12), EXACT, ada)).reused_from).toBe(first.id);
    // The account itself may answer a job of one user with what another one's made: that user is shown no id of it.
    const plain = await ran(painted(13));
    const labelled = JSON.stringify({ workflow: painted(13), metadata: { user: 'bob' } });
    const { body: given } = await client.submit(labelled, EXACT);
    expect(given.reused_from).toBe(plain.id);
    const seen = await bob.job(given.id);
    expect([seen.status, seen.reused_from, hashesOf(seen)]).toEqual(['succeeded', null, hashesOf(plain)]);
    // Nor is one of the account's jobs the answer to what the user submits.
    const own = await ran(painted(13), bob);
    for (const path of ['', `/${given.id}`, `/${own.id}`, `/${given.id}/attempts`, `/${given.id}/workflow`]) {
      const { text } = await bob.call('GET', `/api/v2/jobs${path}`);
      for (const hidden of [plain.id, first.id]) expect(text).not.toContain(hidden);
    }
    const listed = (await bob.call<{ jobs: Job[] }>('GET', '/api/v2/jobs')).body.jobs;
    expect(listed.map(({ id }) => id).sort()).toEqual([ofBob.id, given.id, own.id].sort());
    expect(ofBob.reused_from).toBeUndefined();
  });

  it('is estimated as free, with the job that it would be answered with', async () => {
    const estimate = async (): Promise<Estimate> =>
      (
        await client.call<Estimate>('POST', '/platform/v1/estimates', {
          json: { workflow: painted(5) },
          headers: EXACT,
        })
      ).body;
    expect((await estimate()).reuse).toMatchObject({
      job_id: null,
      reason: expect.stringContaining('No earlier job') as string,
    });
    const { id } = await ran(painted(5));
    expect(await estimate()).toMatchObject({
      accepted: true,
      hold_micros: 0,
      cost_micros: { p50: 0, p90: 0 },
      reuse: { job_id: id, reason: null },
    });
  });

  it('claims its Idempotency-Key like any other', async () => {
    const first = await ran(painted(6));
    const keyed = { ...EXACT, 'Idempotency-Key': 'once' };
    expect((await submit(painted(6), keyed)).reused_from).toBe(first.id);
    const again = await client.submit(JSON.stringify({ workflow: painted(6) }), keyed);
    expect(again).toMatchObject({ status: 422, body: { error: { code: 'idempotency_key_reuse' } } });
  });

  it('is printed by the command line', async () => {
    const first = await ran(painted(7));
    const cli = join(process.cwd(), 'dist/apps/cli/src/main.js');
    const env = {
      ...process.env,
      MILLRACE_URL: stack.publicUrl,
      MILLRACE_API_KEY: account.apiKey,
      XDG_CONFIG_HOME: '/nonexistent',
    };
    const running = promisify(execFile)(process.execPath, [cli, 'run', '-', '--no-out', '--reuse'], { env });
    running.child.stdin?.end(JSON.stringify(painted(7)));
    const { stdout, stderr } = await running;
    expect(`${stdout}${stderr}`).toMatch(new RegExp(`reused from\\s+job ${first.id}`));
  });
});

describe('the official client of an account that has reuse as its default', () => {
  let comfy: Comfy;
  let picture: Buffer;
  beforeEach(async () => {
    await client.call('PUT', DEFAULTS, { json: { retry: null, reuse: 'exact' } });
    process.env.COMFY_BASE_URL = stack.publicUrl;
    comfy = new Comfy({ apiKey: account.apiKey });
    const noise = { mean: 128, sigma: 40, type: 'gaussian' as const };
    picture = await sharp({ create: { width: 16, height: 16, channels: 3, background: '#369', noise } })
      .png()
      .toBuffer();
  });

  const run = async (classType: string, filename: string): Promise<Job> => {
    const workflow = comfy.workflows.fromJson(loaded(classType));
    workflow.setInput('1', 'image', comfy.assets.fromBytes(picture, { filename }));
    const { id } = await comfy.run(workflow);
    return client.job(id);
  };

  it('has the earlier outputs of the same picture, though it uploads it under another name', async () => {
    const first = await run('LoadImage', 'one.png');
    const second = await run('LoadImage', 'two.png');
    expect([first.reused_from, second.reused_from]).toEqual([undefined, first.id]);
    expect(second.id).not.toBe(first.id);
    expect(hashesOf(second)).toEqual(hashesOf(first));
  });

  it('has a graph run again whose nodes are not declared to be deterministic', async () => {
    const first = await run('LoadImageOutput', 'one.png');
    const second = await run('LoadImageOutput', 'one.png');
    expect([first, second].map(({ status, reused_from: from }) => [status, from])).toEqual([
      ['succeeded', undefined],
      ['succeeded', undefined],
    ]);
  });
});

describe('a job that runs', () => {
  it('shows which nodes its engine had in its cache', async () => {
    const nodesOf = async ({ id }: Job): Promise<string[]> =>
      (await client.call<JobNodes>('GET', `/api/v2/jobs/${id}/nodes`)).body.nodes
        .map(({ node_id: node, state }) => `${node} ${state}`)
        .sort();
    const run = async (): Promise<Job> => client.ended((await submit(painted(8), {})).id, 60_000);
    const [first, second] = [await run(), await run()];
    expect(first.metrics.cached_nodes).toBe(0);
    expect(await nodesOf(first)).toEqual(['1 done', '2 done', '3 done']);
    const states = await nodesOf(second);
    expect(states).toContain('2 cached');
    expect(second.metrics.cached_nodes).toBe(states.filter((state) => state.endsWith('cached')).length);
    expect(second.reused_from).toBeUndefined();
  });
});
