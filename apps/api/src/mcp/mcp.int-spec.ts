import type { ErrorEnvelope } from '@millrace/contracts';
import { McpClient, eventually } from '@millrace/testing';
import { GRAPH, announceCatalogue, makeRecords } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
let client: McpClient;
const connected: McpClient[] = [];
beforeAll(async () => {
  const limits = { MILLRACE_MCP_REQUEST_BYTES: '65536', MILLRACE_MAX_WORKFLOW_BYTES: '16384' };
  api = await RunningApi.open({ ...limits, MILLRACE_MCP_WAIT_SECONDS: '600' });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  account = await api.account();
  client = await connect(account.key);
});
afterAll(async () => {
  await Promise.all(connected.map((one) => one.close()));
  await api.close();
});

async function connect(
  ...[key, options]: [string | null, Parameters<typeof McpClient.connect>[2]?]
): Promise<McpClient> {
  const made = await McpClient.connect(`${api.publicUrl}/mcp`, key, options);
  connected.push(made);
  return made;
}

/** One raw request. */
async function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${api.publicUrl}/mcp`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${account.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  });
}
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const codeOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { error: { code: string } }).error.code;
const jobsOf = async ({ key }: TestAccount): Promise<unknown[]> =>
  (await api.client(key).call<{ jobs: unknown[] }>('GET', '/api/v2/jobs')).body.jobs;

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  it('sees every tool, with its schema, and what a person should be asked before', async () => {
    const { client: own } = await connect(account.key, { era });
    expect(own.getServerVersion()).toMatchObject({ name: 'millrace' });
    expect(own.getInstructions()).toContain('durable jobs');
    const { tools } = await own.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'cancel_job',
      'describe_nodes',
      'estimate_job',
      'list_jobs',
      'read_outputs',
      'run_job',
      'search_nodes',
      'upload_file',
      'wait_for_job',
    ]);
    for (const { inputSchema, annotations, description = '' } of tools) {
      expect(inputSchema.type).toBe('object');
      expect(description.length).toBeGreaterThan(80);
      expect(annotations).toHaveProperty('readOnlyHint');
    }
    expect(tools.find(({ name }) => name === 'cancel_job')?.annotations?.destructiveHint).toBe(true);
  });

  it('calls a tool', async () => {
    const { value } = await (await connect(account.key, { era })).call('search_nodes', { query: 'image' });
    expect(value).toMatchObject({ found: 2 });
  });
});

describe('the catalogue', () => {
  it('is searched by words, of which all must occur', async () => {
    const found = async (query: string): Promise<string[]> => {
      const { value } = await client.call('search_nodes', { query });
      return (value.node_classes as { class_type: string }[]).map(({ class_type: name }) => name);
    };
    expect(await found('SaveImage')).toEqual(['SaveImage']);
    expect(await found('empty image')).toEqual(['EmptyImage']);
    expect(await found('nothing-like-it')).toEqual([]);
    expect(await found('')).toEqual(['EmptyImage', 'SaveImage']);
  });

  it('is described by class, and names that it does not have are said', async () => {
    const { value } = await client.call('describe_nodes', { class_types: ['SaveImage', 'Unheard', 'constructor'] });
    expect(value).toMatchObject({
      node_classes: { SaveImage: { output_node: true, inputs: { images: { type: 'IMAGE' } } } },
      unknown: ['Unheard', 'constructor'],
    });
  });
});

it('a large answer counts as bytes in memory, in each of its copies', async () => {
  const small = await RunningApi.open({ MILLRACE_BODY_BYTES_IN_FLIGHT_PER_ACCOUNT: '1048576' });
  const node = { displayName: '', category: '', inputs: {}, outputs: [], outputNode: true };
  await announceCatalogue(small, small.env.MILLRACE_POOL ?? '', {
    Fits: { ...node, description: 'x'.repeat(200_000) },
    Large: { ...node, description: 'x'.repeat(270_000) },
  });
  const own = await McpClient.connect(`${small.publicUrl}/mcp`, (await small.account()).key);
  try {
    const describe = (name: string): ReturnType<McpClient['call']> =>
      own.call('describe_nodes', { class_types: [name] });
    expect((await describe('Fits')).isError).toBe(false);
    const { isError, text } = await describe('Large');
    expect([isError, text]).toEqual([true, expect.stringMatching(/^rate_limited: [^]*Retry-After: /)]);
  } finally {
    await own.close();
    await small.close();
  }
});

describe('an estimate', () => {
  it('says what is held, and by what the connection is limited', async () => {
    const { value } = await client.call('estimate_job', { workflow: GRAPH });
    expect(value).toMatchObject({ accepted: true, error: null, hold_micros: 600_000, spend_limit_micros: 10_000_000 });
    expect(await jobsOf(await api.account())).toEqual([]);
  });

  it('is refused by the limit of the connection, or of the call, as the job would be', async () => {
    const limited = await connect(account.key, { headers: { 'Millrace-Spend-Limit-Micros': '599999' } });
    const refused = { accepted: false, error: { details: { fields: [{ field: 'spend_limit_micros' }] } } };
    const { value } = await limited.call('estimate_job', { workflow: GRAPH });
    expect(value).toMatchObject({ ...refused, spend_limit_micros: 599_999 });
    const ask = { workflow: GRAPH, spend_limit_micros: 599_998 };
    expect((await client.call('estimate_job', ask)).value).toMatchObject({ ...refused, spend_limit_micros: 599_998 });
  });

  it('names every fault of a graph', async () => {
    const { value } = await client.call('estimate_job', { workflow: { '1': { class_type: 'Unheard', inputs: {} } } });
    expect(value).toMatchObject({ accepted: false, error: { code: 'invalid_workflow' } });
  });
});

describe('what a job may cost', () => {
  it.each([
    ['the argument', {}, { spend_limit_micros: 599_999 }],
    ['the header of the connection', { 'Millrace-Spend-Limit-Micros': '1000' }, {}],
    [
      'the header, however much the argument allows',
      { 'Millrace-Spend-Limit-Micros': '1000' },
      { spend_limit_micros: 1e9 },
    ],
  ])('is limited by %s: nothing is recorded', async (_name, headers, args) => {
    const poor = await api.account();
    const limited = await connect(poor.key, { headers });
    const { isError, text } = await limited.call('run_job', { workflow: GRAPH, wait_seconds: 0, ...args });
    expect(isError).toBe(true);
    expect(text).toContain('spend_limit_micros');
    expect(text).toContain('600000 micro-credits (0.6 credits)');
    expect(await jobsOf(poor)).toEqual([]);
    const { body } = await api.client(poor.key).call<object>('GET', '/platform/v1/credits');
    expect(body).toMatchObject({ held_micros: 0 });
  });

  it('is kept with the job, and with one that an operator makes of it', async () => {
    const { value } = await client.call('run_job', { workflow: GRAPH, wait_seconds: 0, spend_limit_micros: 700_000 });
    const job = await api.test.database.models.job.findUniqueOrThrow({ where: { id: value.id as string } });
    expect(job).toMatchObject({ heldMicros: 600_000n, spendLimitMicros: 700_000n });
    await client.call('cancel_job', { id: job.id });
    const again = await api.operator().call<{ id: string }>('POST', `/admin/v1/jobs/${job.id}/redrive`);
    const redriven = await api.test.database.models.job.findUniqueOrThrow({ where: { id: again.body.id } });
    expect(redriven.spendLimitMicros).toBe(700_000n);
  });

  it('is warned of in the answer, once half of a cap is used', async () => {
    const { key } = await api.account();
    const json = { scope: 'account', daily_micros: 2_000_000 };
    expect((await api.client(key).call('PUT', '/platform/v1/spend/caps', { json })).status).toBe(200);
    const own = await connect(key);
    const run = async (): Promise<unknown> =>
      (await own.call('run_job', { workflow: GRAPH, wait_seconds: 0 })).value.spend_warning;
    expect([await run(), await run()]).toEqual([undefined, 'account;day=50']);
  });

  it('is a number in the header', async () => {
    const answer = await post(LIST, { 'millrace-spend-limit-micros': '1e6' });
    expect([answer.status, await codeOf(answer)]).toEqual([422, 'invalid_request']);
  });
});

describe('arguments that do not fit', () => {
  it('are refused as the API refuses a body: every field, why, and what to do', async () => {
    const { isError, text, value } = await client.call('describe_nodes', { class_types: [], options_like: 7 });
    expect(isError).toBe(true);
    const faults = 'class_types: must not be empty; options_like: must be a text.';
    expect(text).toContain(`invalid_request: The request is not valid. ${faults}\nWhat to do: `);
    const fields = [
      { field: 'class_types', reason: 'must not be empty' },
      { field: 'options_like', reason: 'must be a text' },
    ];
    expect(value).toMatchObject({ error: { code: 'invalid_request', details: { fields } } });
  });

  it('are refused where the tool has no such one, so that a misspelt limit is not ignored', async () => {
    const own = await api.account();
    const agent = await connect(own.key);
    const { isError, text } = await agent.call('run_job', { workflow: GRAPH, wait_seconds: 0, spend_limit: 1 });
    expect([isError, text]).toEqual([true, expect.stringContaining('the call does not take spend_limit')]);
    expect(await jobsOf(own)).toEqual([]);
  });

  it('are refused where the graph is none, or is not there', async () => {
    for (const args of [{}, { workflow: 'text' }, { workflow: [1] }]) {
      const { isError, text } = await client.call('estimate_job', args);
      expect([isError, text]).toEqual([
        true,
        expect.stringMatching(/^invalid_request: .* workflow: (is required|must)/),
      ]);
    }
  });

  it('are refused where they are no object', async () => {
    const answer = await post({ ...LIST, method: 'tools/call', params: { name: 'list_jobs', arguments: [1] } });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      {
        error: {
          code: 'invalid_request',
          details: { fields: [{ field: 'params.arguments', reason: 'must be an object' }] },
        },
      },
    ]);
  });

  it.each(['arguments', '_meta'])(
    'are refused before a fault of each is made, where there are many in %s',
    async (at) => {
      const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, nth) => [`k${nth}`, 0]));
      const params = { name: 'list_jobs', arguments: {}, [at]: { metadata: many } };
      const answer = await post({ ...LIST, method: 'tools/call', params });
      expect(answer.status).toBe(400);
      const { error } = (await answer.json()) as ErrorEnvelope;
      expect(error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('1000 JSON values') as string,
      });
    },
  );
});

describe('a job', () => {
  it('is recorded with its graph character for character, which a parser of doubles would change', async () => {
    const workflow = JSON.stringify(GRAPH).replace('"color":0', '"color": 18446744073709551615');
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_job","arguments":{"wait_seconds":0,"workflow":${workflow}}}}`;
    const text = await (await post(message)).text();
    const id = /"structuredContent":\{"id":"([^"]+)"/.exec(text)?.[1] ?? '';
    const graph = await api.test.database.models.jobGraph.findUniqueOrThrow({ where: { jobId: id } });
    expect(graph.workflow).toBe(workflow);
  });

  it('is recorded once for a key', async () => {
    const own = await api.account();
    const agent = await connect(own.key);
    const run = { workflow: GRAPH, wait_seconds: 0, idempotency_key: 'once' };
    expect((await agent.call('run_job', run)).value).toMatchObject({ status: 'queued' });
    const { isError, text } = await agent.call('run_job', run);
    expect([isError, text]).toEqual([true, expect.stringContaining('idempotency_key_reuse: ')]);
    expect(await jobsOf(own)).toHaveLength(1);
  });

  it('is listed by its labels, read and canceled', async () => {
    const labels = { user: 'ada' };
    const { value } = await client.call('run_job', { workflow: GRAPH, wait_seconds: 0, metadata: labels });
    const id = value.id as string;
    expect((await client.call('list_jobs', { metadata: labels })).value).toMatchObject({
      jobs: [{ id, status: 'queued', metadata: labels, outputs: 0, charged_micros: null }],
    });
    expect((await client.call('wait_for_job', { id, wait_seconds: 0 })).value).toMatchObject({ id, status: 'queued' });
    expect((await client.call('cancel_job', { id })).value).toMatchObject({ id, status: 'canceled' });
    expect((await client.call('list_jobs', { metadata: { user: 'nobody' } })).value).toEqual({ jobs: [] });
  });

  it.each(['run_job', 'estimate_job'])('is refused by %s where its graph is too large for the API', async (tool) => {
    const workflow = { '1': { class_type: 'EmptyImage', inputs: { text: 'x'.repeat(16_384) } } };
    const { body } = await api.client(account.key).call<ErrorEnvelope>('POST', '/api/v2/jobs', { json: { workflow } });
    const { isError, text } = await client.call(tool, { workflow });
    expect([isError, text.split('\n')[0]]).toEqual([true, `payload_too_large: ${body.error.message}`]);
  });

  it('of another account is not found, by any tool', async () => {
    const { jobId } = await makeRecords(api, await api.account());
    for (const name of ['wait_for_job', 'read_outputs', 'cancel_job']) {
      const { isError, text } = await client.call(name, { id: jobId });
      expect([name, isError, text]).toEqual([name, true, expect.stringMatching(/^not_found: .*\nWhat to do: /)]);
    }
    expect(JSON.stringify((await client.call('list_jobs', { limit: 50 })).value)).not.toContain(jobId);
  });
});

describe('a job of many outputs', () => {
  it('is shown with the first ten, and read_outputs has the others', async () => {
    const own = await api.account();
    const agent = await connect(own.key);
    const ran = agent.call('run_job', { workflow: GRAPH, wait_seconds: 600 });
    await eventually('the job to be recorded', async () => (await jobsOf(own)).length === 1);
    const [{ id }] = (await jobsOf(own)) as [{ id: string }];
    await giveOutputs(
      agent,
      id,
      Array.from({ length: 12 }, (_, nth) => textFile(nth)),
    );
    const shown = [await agent.call('cancel_job', { id }), await ran, await agent.call('wait_for_job', { id })];
    for (const { value } of shown) expect(value).toMatchObject({ status: 'canceled', outputs_left_out: 2 });
    expect(shown.map(({ value, content }) => [(value.outputs as unknown[]).length, content.length])).toEqual([
      [10, 0],
      [10, 10],
      [10, 0],
    ]);
    const rest = await agent.call('read_outputs', { id, offset: 10 });
    expect(rest.value).toMatchObject({ outputs: [{ name: '10.txt' }, { name: '11.txt' }], outputs_total: 12 });
  });
});

describe('the outputs of a job', () => {
  it.each([
    [undefined, ['text', 'resource', 'audio', 'text']],
    ['2024-11-05', ['text', 'resource', 'text', 'text']],
    ['2025-06-18', ['text', 'resource', 'audio', 'resource_link']],
  ])('are blocks that the revision of the call has, as strict clients require: %s', async (revision, types) => {
    const own = await api.account();
    const agent = await connect(own.key);
    const { id } = (await agent.call('run_job', { workflow: GRAPH, wait_seconds: 0 })).value as { id: string };
    await giveOutputs(agent, id, [
      textFile(0),
      { name: 'a.wav', type: 'audio/wav', data: 'RIFF\u0010\0\0\0WAVEfmt ' },
      { name: 'b.html', type: 'text/html', data: '<!doctype html><p>b</p>' },
    ]);
    const params = { name: 'read_outputs', arguments: { id } };
    const version: Record<string, string> = revision === undefined ? {} : { 'mcp-protocol-version': revision };
    const headers = { authorization: `Bearer ${own.key}`, ...version };
    const answer = await post({ ...LIST, method: 'tools/call', params }, headers);
    const event = (await answer.text()).split('\n').find((line) => line.startsWith('data: ')) ?? '';
    const { result } = JSON.parse(event.slice(6)) as { result: { content: { type: string; text?: string }[] } };
    expect(result.content.map(({ type }) => type)).toEqual(types);
    const last = result.content.at(-1);
    if (last?.type === 'text')
      expect(last.text).toMatch(/^b\.html \(text\/html.*, 23 bytes\): http\S+\nOutput of node 2\. /);
  });
});

interface OutputFile {
  name: string;
  type: string;
  data: string;
}
const textFile = (nth: number): OutputFile => ({ name: `${nth}.txt`, type: 'text/plain', data: `${nth}.txt` });

/** Outputs that an engine could have made, of a job without a price: those of one that is not charged are withdrawn. */
async function giveOutputs(agent: McpClient, jobId: string, files: OutputFile[]): Promise<void> {
  await api.test.database.models.job.update({ where: { id: jobId }, data: { priceMicrosPerSecond: 0n } });
  for (const [ordinal, { name, type, data: text }] of files.entries()) {
    const data = Buffer.from(text).toString('base64');
    const { value } = await agent.call('upload_file', { file_path: name, content_type: type, data });
    const at = { jobId, nodeId: '2', nodeIndex: ordinal, attempt: 0, ordinal };
    await api.test.database.models.jobOutput.create({
      data: { ...at, name, type: 'file', assetId: value.id as string },
    });
  }
}

describe('a wait', () => {
  const queued = async (agent: McpClient): Promise<string> =>
    (await agent.call('run_job', { workflow: GRAPH, wait_seconds: 0 })).value.id as string;

  it('takes a place among the streams of the account, and gives it back when the client leaves', async () => {
    const own = await api.account({ limits: { stream_limit: 1 } });
    const agent = await connect(own.key);
    const id = await queued(agent);
    const leave = new AbortController();
    const waiting = agent.call('wait_for_job', { id, wait_seconds: 600 }, { signal: leave.signal });
    const over = expect(waiting).rejects.toThrow();
    const streams = async (): Promise<number> =>
      (await api.client(own.key).call<{ use: { event_streams: number } }>('GET', '/platform/v1/account')).body.use
        .event_streams;
    await eventually('the wait to take its place', async () => (await streams()) === 1);
    const { isError, text } = await agent.call('wait_for_job', { id, wait_seconds: 10 });
    expect([isError, text]).toEqual([true, expect.stringContaining('too_many_streams: ')]);
    const run = await agent.call('run_job', { workflow: GRAPH, wait_seconds: 10 });
    const notice = expect.stringMatching(/wait_for_job.*too_many_streams: /) as string;
    expect(run).toMatchObject({ isError: false, value: { status: 'queued', notice } });
    expect(await jobsOf(own)).toMatchObject([{ id: run.value.id }, { id }]);
    leave.abort();
    await over;
    await eventually('the place to be free', async () => (await streams()) === 0);
  });

  it('ends with the job as it is when the access of its key ends', async () => {
    const { key, keyId } = await api.key(account.id);
    const agent = await connect(key);
    const id = await queued(agent);
    const reported: (string | undefined)[] = [];
    const waiting = agent.call(
      'wait_for_job',
      { id, wait_seconds: 600 },
      { onprogress: ({ message }) => reported.push(message) },
    );
    await eventually('the wait to report', () => reported.some((message) => message?.includes(id)));
    await api.operator().call('DELETE', `/admin/v1/accounts/${account.id}/api-keys/${keyId}`);
    expect((await waiting).value).toMatchObject({ id, status: 'queued' });
  });
});

describe('an upload', () => {
  it('is an asset of the account', async () => {
    const bytes = Buffer.from('the bytes of a file');
    const file = { file_path: 'notes.txt', content_type: 'text/plain', data: bytes.toString('base64') };
    const { value } = await client.call('upload_file', file);
    expect(value).toMatchObject({ created_new: true, size_bytes: bytes.length, file_path: 'notes.txt' });
    const answer = await fetch(value.url as string);
    expect(await answer.text()).toBe(bytes.toString());
  });

  it('is refused when it is no base64', async () => {
    const file = { file_path: 'a', content_type: 'text/plain', data: 'no base64!' };
    expect((await client.call('upload_file', file)).isError).toBe(true);
  });
});

describe('a request that is refused', () => {
  it.each([
    ['without a key', { authorization: '' }],
    ['with a key that is none', { authorization: 'Bearer mr_live_000000000000000000000000000000000000' }],
  ])('%s is answered with how to come', async (_name, headers) => {
    const answer = await post(LIST, headers);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await codeOf(answer)).toBe('unauthorized');
  });

  it('is an error of the client', async () => {
    await expect(connect('mr_live_000000000000000000000000000000000000')).rejects.toThrow();
  });

  it.each(['https://evil.test', 'null', 'http://203.0.113.7'])('of a page of %s ends there', async (origin) => {
    const answer = await post(LIST, { origin });
    expect([answer.status, await codeOf(answer)]).toEqual([403, 'forbidden']);
  });

  it('is too large, a batch, or no JSON', async () => {
    const large = await post({ ...LIST, params: { filler: 'x'.repeat(70_000) } });
    expect([large.status, await codeOf(large)]).toEqual([413, 'payload_too_large']);
    for (const body of [[LIST, LIST], '{"jsonrpc":', '['.repeat(1_000)]) {
      const answer = await post(body);
      expect([answer.status, await codeOf(answer)]).toEqual([400, 'invalid_request']);
    }
  });

  it.each(['GET', 'DELETE'])('comes by %s: there are no sessions', async (method) => {
    const headers = { authorization: `Bearer ${account.key}`, accept: 'text/event-stream' };
    const answer = await fetch(`${api.publicUrl}/mcp`, { method, headers });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('opens a subscription', async () => {
    await expect(client.client.listen({ toolsListChanged: true })).rejects.toThrow();
  });
});

describe('a key without a scope', () => {
  it.each([
    ['estimate_job', 'jobs:write', { workflow: GRAPH }],
    ['run_job', 'jobs:write', { workflow: GRAPH, wait_seconds: 0 }],
    ['cancel_job', 'jobs:write', { id: '00000000-0000-7000-8000-000000000000' }],
    ['upload_file', 'assets:write', { file_path: 'a', content_type: 'text/plain', data: '' }],
  ])('cannot call %s, and is answered that it lacks %s', async (name, scope, args) => {
    const reader = await connect((await api.account({ scopes: ['jobs:read'] })).key);
    const { isError, text } = await reader.call(name, args);
    expect([isError, text]).toEqual([true, expect.stringContaining(`lacks the scope ${scope}`)]);
  });
});

it('a suspended account is refused', async () => {
  const own = await api.account();
  await api.operator().call('PATCH', `/admin/v1/accounts/${own.id}`, { json: { status: 'suspended' } });
  await expect(connect(own.key)).rejects.toThrow();
});

it('a deployment has an MCP server of its own, at its prefix, for its account alone', async () => {
  const { deploymentId } = await makeRecords(api, account);
  const url = `${api.publicUrl}/deployment/${deploymentId}/mcp`;
  const own = await McpClient.connect(url, account.key);
  connected.push(own);
  // It has no workers, so its answer is another than that of the service itself.
  const { text } = await own.call('run_job', { workflow: GRAPH, wait_seconds: 0 });
  expect(text).toContain('deployment_not_ready: ');
  const { jobId } = await makeRecords(api, account);
  expect((await own.call('wait_for_job', { id: jobId, wait_seconds: 0 })).text).toContain('not_found: ');
  await expect(McpClient.connect(url, (await api.account()).key)).rejects.toThrow();
});
