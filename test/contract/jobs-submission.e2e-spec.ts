import {
  EXTRA_DATA_KEYS,
  NODE_ERROR_REASONS,
  newId,
  type ErrorEnvelope,
  type Job,
  type NodeErrors,
} from '@millrace/contracts';
import { ApiClient, TestStack, type Answer, type TestAccount } from '@millrace/testing';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
beforeAll(async () => {
  stack = await TestStack.start();
  // What the pool can run stays known, and what is submitted stays queued.
  await stack.workers[0]?.end();
  account = await stack.createAccount(10_000_000_000, { queue_limit: 10_000 });
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(() => stack.stop());

const GRAPH = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const assetReference = (info: unknown): object => ({ __type: 'core/ASSET', info });

const submit = (body: object): Promise<Answer<Job>> => client.submit(JSON.stringify(body));

interface Refused {
  status: number;
  code: string;
  details: Record<string, unknown>;
}

/** Submit what is refused. */
async function refused(body: object): Promise<Refused> {
  const { status, body: answer } = await submit(body);
  const { error } = answer as unknown as { error: { code: string; details?: Record<string, unknown> } };
  return { status, code: error.code, details: error.details ?? {} };
}

/** Names of the fields that a refusal finds fault with. */
async function faultyFields(body: object): Promise<[number, string, string[]]> {
  const { status, code, details } = await refused(body);
  return [status, code, (details.fields as { field: string }[]).map(({ field }) => field).sort()];
}

async function nodeErrors(workflow: object): Promise<Record<string, [string, string][]>> {
  const { status, code, details } = await refused({ workflow });
  expect([status, code]).toEqual([422, 'invalid_workflow']);
  const errors = Object.entries(details.node_errors as NodeErrors);
  return Object.fromEntries(errors.map(([id, faults]) => [id, faults.map(({ field, reason }) => [field, reason])]));
}

describe('POST /jobs', () => {
  it('answers 201 with the whole job: no key is left out, what is not known yet is null', async () => {
    const before = Date.now();
    const { status, body } = await submit({ workflow: GRAPH });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/) as string,
      status: 'queued',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      started_at: null,
      completed_at: null,
      expires_at: expect.stringMatching(/Z$/) as string,
      queue_position: 1,
      progress: null,
      outputs: [],
      error: null,
      metadata: {},
      metrics: {
        queue_ms: null,
        execution_ms: null,
        estimated_wait_ms: body.metrics.estimated_wait_ms,
        charged_micros: null,
        cached_nodes: null,
      },
      urls: {
        self: `/api/v2/jobs/${body.id}`,
        events: `/api/v2/jobs/${body.id}/events`,
        cancel: `/api/v2/jobs/${body.id}/cancel`,
      },
    });
    // A worker may be free for it, or nobody can say yet.
    expect([0, null]).toContain(body.metrics.estimated_wait_ms);
    expect(Math.abs(Date.parse(body.created_at) - before)).toBeLessThan(60_000);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(604_800_000);
  });

  it('makes a job that is there under its links at once, the same as was answered', async () => {
    const { body } = await submit({ workflow: GRAPH, metadata: { user: 'u-1' } });
    const found = await client.call<Job>('GET', body.urls.self);
    expect(found.status).toBe(200);
    // Its place moves with the queue, and the estimate with its place.
    const { queue_position, metrics } = body;
    const { estimated_wait_ms } = metrics;
    expect({ ...found.body, queue_position, metrics: { ...found.body.metrics, estimated_wait_ms } }).toEqual(body);
  });

  it('ignores body keys that it does not know', async () => {
    expect((await submit({ workflow: GRAPH, priority: 3, client_id: 'x', prompt: {} })).status).toBe(201);
  });

  it('takes null for an optional field as its absence', async () => {
    expect((await submit({ workflow: GRAPH, metadata: null, extra_data: null })).status).toBe(201);
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'application/vnd.x+json'])(
    'takes JSON under the type %s',
    async (type) => {
      const answer = await client.submit(JSON.stringify({ workflow: GRAPH }), { 'Content-Type': type });
      expect(answer.status).toBe(201);
    },
  );
});

describe('the fields of a submission', () => {
  it.each([null, 'https://example.com/hook', [], 0, {}])(
    'reserved for later are refused with any value: %p',
    async (value) => {
      const all = await faultyFields({ workflow: GRAPH, webhook_url: value, inputs: value });
      expect(all).toEqual([422, 'invalid_request', ['inputs', 'webhook_url']]);
    },
  );

  it('are all named at once where they are wrong', async () => {
    const all = await faultyFields({
      webhook_url: null,
      workflow: [],
      extra_data: { api_key_vendor_org: 7, other: 'x' },
    });
    expect(all).toEqual([
      422,
      'invalid_request',
      ['extra_data.api_key_vendor_org', 'extra_data.other', 'webhook_url', 'workflow'],
    ]);
  });

  it.each([[{}], [{ workflow: null }], [{ workflow: 'x' }], [{ workflow: [] }], [{ workflow: 1 }]])(
    'must hold a workflow that is an object: %j',
    async (body) => {
      expect(await faultyFields(body)).toEqual([422, 'invalid_request', ['workflow']]);
    },
  );

  it.each(['[]', '"x"', '1', 'null', 'true'])('must be those of an object: %s', async (text) => {
    const answer = await client.submit(text);
    expect([answer.status, answer.body]).toMatchObject([422, { error: { code: 'invalid_request' } }]);
  });

  it.each(EXTRA_DATA_KEYS)('may hold the credential %s', async (key) => {
    expect((await submit({ workflow: GRAPH, extra_data: { [key]: 'of a customer' } })).status).toBe(201);
  });

  it.each([['x'], [[]], [7], [true]])(
    'may hold no extra_data of another type than an object: %j',
    async (extraData) => {
      const all = await faultyFields({ workflow: GRAPH, extra_data: extraData });
      expect(all).toEqual([422, 'invalid_request', ['extra_data']]);
    },
  );
});

describe('metadata', () => {
  const pairs = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

  it.each([
    [pairs(16)],
    [{ ['k'.repeat(40)]: 'v'.repeat(256) }],
    [{ 'A-z_0.9': '', __proto: 'x', emoji: '😀'.repeat(256), word: 'größe 大' }],
  ])('is kept as it was sent: %#', async (metadata) => {
    const { status, body } = await submit({ workflow: GRAPH, metadata });
    expect(status).toBe(201);
    expect(body.metadata).toEqual(metadata);
    expect((await client.job(body.id)).metadata).toEqual(metadata);
  });

  it('may have __proto__ for a key like any other', async () => {
    const { status, text } = await client.submit(`{"workflow":${JSON.stringify(GRAPH)},"metadata":{"__proto__":"x"}}`);
    expect([status, text]).toEqual([201, expect.stringContaining('"metadata":{"__proto__":"x"}')]);
  });

  it.each([
    [pairs(17), 'metadata'],
    [{ ['k'.repeat(41)]: 'v' }, `metadata.${'k'.repeat(41)}`],
    [{ '': 'v' }, 'metadata.'],
    [{ 'a b': 'v' }, 'metadata.a b'],
    [{ k: 'v'.repeat(257) }, 'metadata.k'],
    [{ k: 7 }, 'metadata.k'],
    [{ k: null }, 'metadata.k'],
    [{ k: 'a\nb' }, 'metadata.k'],
    [{ k: '\u0000' }, 'metadata.k'],
    [{ k: 'a\u202eb' }, 'metadata.k'],
    [{ k: '\ud800' }, 'metadata.k'],
    [[], 'metadata'],
    ['x', 'metadata'],
  ])('is refused as metadata_invalid with the field named: %#', async (metadata, field) => {
    expect(await faultyFields({ workflow: GRAPH, metadata })).toEqual([422, 'metadata_invalid', [field]]);
  });
});

describe('a workflow', () => {
  it('as the editor saves it is refused as workflow_format_ui', async () => {
    const { status, code } = await refused({ workflow: { nodes: [], links: [], last_node_id: 3, version: 0.4 } });
    expect([status, code]).toEqual([422, 'workflow_format_ui']);
  });

  it('with nodes called nodes and links is in API format', async () => {
    const { status } = await submit({
      workflow: {
        nodes: { class_type: 'PrimitiveInt', inputs: { value: 7 } },
        links: { class_type: 'PreviewAny', inputs: { source: ['nodes', 0] } },
      },
    });
    expect(status).toBe(201);
  });

  const image = { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } };
  const faulty = {
    unknown: { class_type: 'NoSuchClass', inputs: {} },
    bounds: { class_type: 'EmptyImage', inputs: { width: 0, height: 99_999_999, batch_size: 'x', color: 0 } },
    save: { class_type: 'SaveImage', inputs: { images: ['bounds', 0] } },
    list: { class_type: 'ImageFlip', inputs: { image: ['bounds', 0], flip_method: 'sideways' } },
    shown: { class_type: 'PreviewImage', inputs: { images: ['list', 0] } },
    slot: { class_type: 'PreviewImage', inputs: { images: ['bounds', 5] } },
    link: { class_type: 'PreviewImage', inputs: { images: ['nowhere', 0] } },
    kind: { class_type: 'PreviewImage', inputs: { images: ['number', 0] } },
    number: { class_type: 'PrimitiveInt', inputs: { value: 1 } },
    around: { class_type: 'ImageInvert', inputs: { image: ['about', 0] } },
    about: { class_type: 'ImageInvert', inputs: { image: ['around', 0] } },
    cycle: { class_type: 'PreviewImage', inputs: { images: ['around', 0] } },
    text: 'not a node',
  };

  it('is refused with every fault of every node at once, with field and reason', async () => {
    expect(await nodeErrors(faulty)).toEqual({
      unknown: [['class_type', 'unknown_node_class']],
      bounds: expect.arrayContaining([
        ['width', 'below_min'],
        ['height', 'above_max'],
        ['batch_size', 'invalid_type'],
      ]) as [string, string][],
      save: [['filename_prefix', 'missing_input']],
      list: [['flip_method', 'not_in_list']],
      slot: [['images', 'bad_output_slot']],
      link: [['images', 'bad_link']],
      kind: [['images', 'type_mismatch']],
      around: [[expect.any(String), 'dependency_cycle']],
      about: [[expect.any(String), 'dependency_cycle']],
      text: [['', 'not_an_object']],
    });
  });

  it('without an output node is at fault as a whole', async () => {
    expect(await nodeErrors({ '1': image })).toEqual({ '': [['', 'no_outputs']] });
    expect(await nodeErrors({})).toEqual({ '': [['', 'no_outputs']] });
  });

  it.each(['\0', 'a\ud800b'])('with a node id that cannot be kept is refused: %j', async (id) => {
    const graph = { [id]: GRAPH['1'], '2': { class_type: 'PreviewAny', inputs: { source: [id, 0] } } };
    expect(await nodeErrors(graph)).toEqual({ [id]: [['', 'invalid_type']] });
  });

  it('is judged by no reason that is not listed', async () => {
    const all = { ...(await nodeErrors(faulty)), ...(await nodeErrors({ '1': image })) };
    const reasons = new Set(Object.values(all).flatMap((faults) => faults.map(([, reason]) => reason)));
    expect([...reasons].sort()).toEqual([...NODE_ERROR_REASONS].sort());
  });
});

describe('asset references', () => {
  const graph = (reference: unknown): object => ({
    '1': { class_type: 'LoadImage', inputs: { image: reference } },
    '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
  });
  const upload = async (who: ApiClient): Promise<string> =>
    (await who.upload(Buffer.from('GIF89a'), { content_type: 'image/gif', file_path: 'a.gif' })).body.id;

  it('to an own asset are accepted; hash, path and keys of other kinds are hints', async () => {
    const id = await upload(client);
    for (const more of [{}, { hash: null }, { hash: 'blake3:0', file_path: 'x' }, { unknown_field: [1] }]) {
      expect((await submit({ workflow: graph(assetReference({ id, ...more })) })).status).toBe(201);
    }
  });

  it('to an unknown asset, and to one of another account, are missing_asset alike', async () => {
    const other = await stack.createAccount(0);
    const foreign = await upload(new ApiClient(stack.publicUrl, other.apiKey));
    for (const id of [newId(), foreign]) {
      const { status, code, details } = await refused({ workflow: graph(assetReference({ id })) });
      expect([status, code]).toEqual([422, 'missing_asset']);
      expect(details).toEqual({ references: [{ node_id: '1', field: 'image', asset_id: id }] });
    }
  });

  it.each([
    [{ __type: 'core/ASSET' }],
    [assetReference(null)],
    [assetReference({})],
    [assetReference({ id: 7 })],
    [assetReference({ id: '\u0000' })],
    [assetReference({ id: 'x' })],
    [assetReference([])],
  ])('that are malformed are missing_asset: %j', async (reference) => {
    const { status, code } = await refused({ workflow: graph(reference) });
    expect([status, code]).toEqual([422, 'missing_asset']);
  });

  describe('that are no value of an input', () => {
    const placed: [string, (reference: unknown, id: string) => object][] = [
      ['in _meta', (reference) => ({ ...GRAPH, '1': { ...GRAPH['1'], _meta: { title: 'x', from: [reference] } } })],
      ['in another key of a node', (reference) => ({ ...GRAPH, '1': { ...GRAPH['1'], note: reference } })],
      ['inside another reference', (reference, id) => graph(assetReference({ id, like: reference }))],
    ];

    it.each(placed)('are checked all the same: %s', async (_, place) => {
      const id = await upload(client);
      const other = await stack.createAccount(0);
      const foreign = await upload(new ApiClient(stack.publicUrl, other.apiKey));
      for (const wrong of [{ id: newId() }, { id: foreign }, {}]) {
        const { status, code } = await refused({ workflow: place(assetReference(wrong), id) });
        expect([status, code]).toEqual([422, 'missing_asset']);
      }
      expect((await submit({ workflow: place(assetReference({ id }), id) })).status).toBe(201);
    });

    it('do not keep their asset, which the run does not read', async () => {
      const alone = { content_type: 'text/plain', file_path: 'alone.txt' };
      const { id } = (await client.upload(Buffer.from('referred to by no other job'), alone)).body;
      const workflow = { ...GRAPH, '1': { ...GRAPH['1'], _meta: assetReference({ id }) } };
      const { status } = await submit({ workflow });
      expect(status).toBe(201);
      expect((await client.call('DELETE', `/api/v2/assets/${id}`)).status).toBe(204);
    });
  });

  it('are found at any depth, inside lists too, and every missing one is named', async () => {
    const [a, b] = [newId(), newId()];
    const workflow = {
      ...GRAPH,
      '3': {
        class_type: 'PreviewAny',
        inputs: { source: { deep: [[assetReference({ id: a })], { x: assetReference({ id: b }) }] } },
      },
    };
    const { code, details } = await refused({ workflow });
    expect(code).toBe('missing_asset');
    expect((details.references as { asset_id: string }[]).map((reference) => reference.asset_id).sort()).toEqual(
      [a, b].sort(),
    );
  });
});

describe('a submission that cannot be paid or queued', () => {
  it('is refused with 402 insufficient_credits and leaves nothing', async () => {
    const poor = await stack.createAccount(0);
    const answer = await new ApiClient(stack.publicUrl, poor.apiKey).submit(JSON.stringify({ workflow: GRAPH }));
    expect([answer.status, answer.body]).toMatchObject([402, { error: { code: 'insufficient_credits' } }]);
    expect(await stack.test.database.models.job.count({ where: { accountId: poor.id } })).toBe(0);
  });

  it('is refused with 429 queue_full and a time to wait in whole seconds, and leaves nothing', async () => {
    const small = await stack.createAccount(1_000_000_000, { queue_limit: 2 });
    const own = new ApiClient(stack.publicUrl, small.apiKey);
    await own.run(GRAPH);
    await own.run(GRAPH);
    const answer = await own.submit(JSON.stringify({ workflow: GRAPH }));
    expect([answer.status, answer.body]).toMatchObject([429, { error: { code: 'queue_full' } }]);
    // Queued jobs that have had their turn are beside the limit.
    expect((answer.body as unknown as ErrorEnvelope).error.message).toContain('waiting for their turn');
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(await stack.test.database.models.job.count({ where: { accountId: small.id } })).toBe(2);
  });
});

describe('GET /jobs/{id}/workflow', () => {
  it('is the graph to the byte and nothing of extra_data', async () => {
    const graph =
      '{ "2": {"inputs":{"source":["1",0]}, "class_type":"PreviewAny"},\n "1":{"class_type":"PrimitiveInt","inputs":' +
      '{"value":9007199254740993,"x":1.0,"y":1e-7,"z":-0},"_meta":{"title":"\\u00e9\\/\\ud83d\\ude00"}} }';
    const { status, body } = await client.submit(`{"extra_data":{"auth_token_comfy_org":"t"}, "workflow" : ${graph} }`);
    expect(status).toBe(201);
    const { text } = await client.call('GET', `/api/v2/jobs/${body.id}/workflow`);
    expect(text).toBe(`{"workflow":${graph},"format":"api"}`);
  });
});

describe('cancel', () => {
  it('ends a queued job at once, needs no body, and does nothing the second time', async () => {
    const { id } = await client.run(GRAPH);
    const first = await client.call<Job>('POST', `/api/v2/jobs/${id}/cancel`);
    expect([first.status, first.body]).toMatchObject([200, { status: 'canceled', error: null, queue_position: null }]);
    expect(first.body.completed_at).not.toBeNull();
    expect(first.body.metrics).toEqual({
      queue_ms: null,
      execution_ms: null,
      estimated_wait_ms: null,
      charged_micros: 0,
      cached_nodes: null,
    });
    const second = await client.call<Job>('POST', `/api/v2/jobs/${id}/cancel`);
    expect([second.status, second.body]).toEqual([200, first.body]);
  });
});

describe('a job', () => {
  const routes = (id: string): [string, string][] => [
    ['GET', `/api/v2/jobs/${id}`],
    ['GET', `/api/v2/jobs/${id}/workflow`],
    ['GET', `/api/v2/jobs/${id}/events`],
    ['POST', `/api/v2/jobs/${id}/cancel`],
  ];

  it.each(['of nobody', 'of another account', 'past its expires_at'])(
    '%s is not found by any endpoint',
    async (which) => {
      const { id } = which === 'of nobody' ? { id: newId() } : await client.run(GRAPH);
      const own = which === 'of another account' ? await stack.createAccount(0) : account;
      const passed = new Date(Date.now() - 1_000);
      if (which === 'past its expires_at') {
        await stack.test.database.models.job.update({ where: { id }, data: { deadlineAt: passed, expiresAt: passed } });
      }
      for (const [method, path] of routes(id)) {
        const answer = await new ApiClient(stack.publicUrl, own.apiKey).call(method, path);
        expect([method, path, answer.status, answer.body.error.code]).toEqual([method, path, 404, 'not_found']);
      }
    },
  );

  it('is not found under what is no id', async () => {
    for (const [method, path] of routes('not-an-id')) expect((await client.call(method, path)).status).toBe(404);
  });
});

describe('the metric millrace_submissions_total', () => {
  const counted = async (outcome: string): Promise<number> => {
    const metrics = await (await fetch(`${stack.api.opsUrl}/metrics`)).text();
    return Number(
      new RegExp(`^millrace_submissions_total\\{.*outcome="${outcome}".*\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0,
    );
  };

  it('counts what was accepted, and what was refused by its code', async () => {
    const before = [await counted('accepted'), await counted('workflow_format_ui')];
    await client.run(GRAPH);
    await submit({ workflow: { nodes: [], links: [] } });
    const [accepted = 0, refusals = 0] = before;
    expect([await counted('accepted'), await counted('workflow_format_ui')]).toEqual([accepted + 1, refusals + 1]);
  });
});
