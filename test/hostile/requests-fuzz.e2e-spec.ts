import fc from 'fast-check';
import { newId } from '@millrace/contracts';
import { ApiClient, TestStack } from '@millrace/testing';
import { DescribedRequests, nasty, type FuzzRequest } from '../contract/support/described-requests';
import { FuzzTarget } from './support/fuzz-target';
import { anyEdit, mutated } from './support/mutations';

/** How many requests of each of three kinds; 20,000 in all by hand: MILLRACE_FUZZ_RUNS=6667. */
const RUNS = Number(process.env.MILLRACE_FUZZ_RUNS ?? 400);
const SEED = Number(process.env.MILLRACE_FUZZ_SEED ?? 20_261_121);
const TEST_MS = 240_000 + RUNS * 200;

let stack: TestStack;
let service: FuzzTarget;
let jobId: string;
let assetId: string;
beforeAll(async () => {
  const settings = {
    MILLRACE_QUEUE_LIMIT_PER_ACCOUNT: '1000000',
    MILLRACE_MAX_STREAMS_PER_ACCOUNT: '100000',
    MILLRACE_RATE_LIMIT_PER_MINUTE: '10000000',
    MILLRACE_ANONYMOUS_RATE_LIMIT_PER_MINUTE: '10000000',
  };
  stack = await TestStack.start({ settings });
  const account = await stack.createAccount(100_000_000_000);
  const client = new ApiClient(stack.publicUrl, account.apiKey);
  jobId = (await client.run(GRAPH)).id;
  // An output cannot be deleted: it is there for every request to come.
  assetId = (await client.ended(jobId)).outputs[0]?.id ?? '';
  service = new FuzzTarget(stack.api, account.apiKey);
  process.stdout.write(`Fuzzing with seed ${SEED}: 3 x ${RUNS} requests\n`);
});
afterEach(() => service.assertAlive());
afterAll(async () => {
  await stack.stop();
});

const GRAPH = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};

const check = (property: fc.IAsyncProperty<unknown>, numRuns = RUNS): Promise<void> =>
  fc.assert(property, { seed: SEED, numRuns, endOnFailure: true });

const header = fc.tuple(
  fc.constantFrom(
    'Idempotency-Key',
    'X-Request-Id',
    'Range',
    'If-None-Match',
    'Content-Type',
    'Accept',
    'Expect',
    'TE',
  ),
  fc.string({ maxLength: 30 }).map((text) => text.trim()),
);

/** Requests to every operation of the public listener, as the documents describe them, or nearly. */
function described(): fc.Arbitrary<FuzzRequest> {
  const ids = [jobId, assetId];
  const documents = ['openapi.json', 'platform-openapi.json'] as const;
  const request = fc.oneof(
    ...documents.map((file, at) => ({ weight: 3 - at, arbitrary: new DescribedRequests(file, ids).any() })),
  );
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND');
  const off = { method: seldom(method), headers: seldom(fc.array(header, { maxLength: 2 })), body: seldom(nasty) };
  const mount = seldom(fc.constantFrom('/deployment/x', `/deployment/${newId()}`, '//', '/%2e%2e'));
  return fc.record({ request, mount, ...off }).map(({ request, mount, method, headers, body }) => ({
    method: method ?? request.method,
    target: `${mount ?? ''}${request.target}`,
    headers: { ...request.headers, ...Object.fromEntries(headers ?? []) },
    body: body ?? request.body,
  }));
}

const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 9 });

const bytesOf = ({ method, target, headers, body }: FuzzRequest): Buffer =>
  service.requestOf(method, target, headers, body);

describe('generated requests', () => {
  it(
    'are answered, never with 5xx, never without the envelope',
    async () => {
      await check(
        fc.asyncProperty(described(), async (request) => {
          await service.ask([bytesOf(request)]);
        }),
      );
    },
    TEST_MS,
  );

  it(
    'that submit any JSON are accepted or refused',
    async () => {
      const value = fc.jsonValue({ maxDepth: 4 });
      const node = fc.oneof(
        value,
        fc.record({
          class_type: fc.oneof(
            fc.constantFrom('PrimitiveInt', 'PreviewAny', 'SaveImage', 'LoadImage', 'EmptyImage', '__proto__'),
            fc.string(),
          ),
          inputs: fc.dictionary(
            fc.oneof(fc.constantFrom('value', 'source', 'image', 'images', 'width'), nasty),
            fc.oneof(
              value,
              fc.tuple(fc.constantFrom('1', '2', '3', 'x'), fc.integer({ min: -1, max: 2 })),
              fc.record({ __type: fc.constant('core/ASSET'), info: fc.oneof(value, fc.record({ id: fc.uuid() })) }),
              fc.record({ __type: fc.constant('core/ASSET'), info: fc.record({ id: nasty }) }),
            ),
          ),
        }),
      );
      const graph = fc.oneof(
        value,
        fc.dictionary(fc.oneof(fc.constantFrom('1', '2', '3'), nasty), node, { maxKeys: 6 }),
        nasty.map((name) => ({
          [name]: { class_type: 'PrimitiveInt', inputs: { value: 7 } },
          out: { class_type: 'PreviewAny', inputs: { source: [name, 0] } },
        })),
      );
      const body = fc.record(
        {
          workflow: graph,
          metadata: fc.oneof(value, fc.dictionary(nasty, nasty)),
          extra_data: fc.oneof(value, fc.record({ api_key_vendor_org: fc.string() })),
          inputs: value,
          other: value,
        },
        { requiredKeys: [] },
      );
      await check(
        fc.asyncProperty(fc.oneof({ weight: 9, arbitrary: body }, { weight: 1, arbitrary: value }), async (json) => {
          const headers = { 'Idempotency-Key': newId() };
          await service.ask([service.requestOf('POST', '/api/v2/jobs', headers, JSON.stringify(json))]);
        }),
      );
    },
    TEST_MS,
  );
});

describe('mutated requests', () => {
  it(
    'are answered or cut, never with 5xx, never without the envelope',
    async () => {
      const templates = [
        service.requestOf(
          'POST',
          '/api/v2/jobs',
          { 'Idempotency-Key': 'k' },
          JSON.stringify({ workflow: GRAPH, metadata: { a: 'b' } }),
        ),
        service.requestOf('GET', '/api/v2/jobs?limit=2&status=queued&metadata[a]=b', { 'X-Request-Id': 'r' }, ''),
        service.requestOf('POST', `/api/v2/jobs/${jobId}/cancel`, {}, ''),
        service.requestOf('POST', '/api/v2/assets', { 'Content-Type': 'multipart/form-data; boundary=b' }, MULTIPART),
        service.requestOf('GET', `/api/v2/jobs/${jobId}/events`, { Accept: 'text/event-stream' }, ''),
      ];
      const mutation = fc.record({
        template: fc.oneof(fc.constantFrom(...templates), described().map(bytesOf)),
        edits: fc.array(anyEdit(2_000), { minLength: 1, maxLength: 4 }),
      });
      await check(
        fc.asyncProperty(mutation, async ({ template, edits }) => {
          // A request whose length came out too large is finished, so that nothing waits for the rest of it.
          await service.send([mutated(template, edits), Buffer.from('\r\n\r\n')]);
        }),
      );
    },
    TEST_MS,
  );
});

const MULTIPART = [
  '--b\r\nContent-Disposition: form-data; name="content_type"\r\n\r\ntext/plain\r\n',
  '--b\r\nContent-Disposition: form-data; name="file_path"\r\n\r\na.txt\r\n',
  '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n',
  '--b--\r\n',
].join('');
