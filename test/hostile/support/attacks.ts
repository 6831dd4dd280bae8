import { randomBytes } from 'node:crypto';
import { JOB_PATH, attack } from './attack';
import { BULK_ATTACKS } from './bulk-attacks';
import { CREDENTIAL_ATTACKS } from './credential-attacks';

const KIB = 1_024;
const LARGE_GRAPH_BYTES = 9_000_000;
/** Below the most that a graph may have, so that it is read to its end. */
const MANY_VALUES = 90_000;
const MANY_REFERENCES = 300_000;
/** What a small body may hold at most, in bytes and in values. */
const SMALL_BODY_BYTES = 60_000;
const SMALL_BODY_VALUES = 9_990;
/** More than a job has whose polls wait for no other. */
const MANY_OUTPUTS = 150;
const PIPELINED_REQUESTS = 2_000;

function submission(workflow: object): Buffer {
  return Buffer.from(JSON.stringify({ workflow }));
}

const small = submission({
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
});

/** A graph with this many values in one input. */
function manyValues(count: number): Buffer {
  return submission({
    '1': { class_type: 'PrimitiveInt', inputs: { value: 7, unknown: new Array<number>(count).fill(0) } },
    '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  });
}

/** References to assets, none of which is well formed, under the longest name. */
function malformedReferences(count: number): Buffer {
  const reference = '{"__type":"core/ASSET","info":0}';
  const inputs = `[${new Array<string>(count).fill(reference).join(',')}]`;
  return Buffer.from(`{"workflow":{"${'n'.repeat(5_000)}":{"class_type":"PreviewAny","inputs":{"source":${inputs}}}}}`);
}

/** A graph whose text is this long. */
function longGraph(bytes: number): Buffer {
  return submission({
    '1': { class_type: 'PrimitiveString', inputs: { value: 'a'.repeat(bytes) } },
    '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  });
}

/** A graph with this many outputs. */
function manyOutputs(count: number): Buffer {
  const image = { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 0 } };
  const save = { class_type: 'SaveImage', inputs: { images: ['image', 0], filename_prefix: 'a' } };
  const outputs = Array.from({ length: count }, (_, at): [string, object] => [`output ${at}`, save]);
  return submission({ image, ...Object.fromEntries(outputs) });
}

/** Small bodies of which every value is a fault: fields that nobody knows, and items of lists that do not fit. */
function expensiveFaults(): { path: string; body: Buffer }[] {
  const unknown = Array.from({ length: SMALL_BODY_BYTES / 10 }, (_, at): [string, never[]] => [`k${at}`, []]);
  const items = new Array<number>(SMALL_BODY_VALUES).fill(0);
  const bodies: [string, object][] = [
    ['/platform/v1/api-keys', Object.fromEntries(unknown)],
    ['/platform/v1/api-keys', { name: 'a', scopes: items }],
    ['/api/v2/assets/from-hash', { hash: 'x', tags: items }],
    ['/api/v2/uploads', { ...Object.fromEntries(unknown), tags: [items] }],
    [JOB_PATH, { workflow: {}, metadata: Object.fromEntries(unknown) }],
  ];
  return bodies.map(([path, body]) => ({ path, body: text(JSON.stringify(body)) }));
}

function multipart(parts: [disposition: string, body: Buffer][]): { body: Buffer; headers: Record<string, string> } {
  const boundary = 'b';
  const pieces = parts.flatMap(([disposition, body]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
    body,
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** A graph of this many nodes, each of another class that nobody has, as long as those that are there. */
function unknownClasses(count: number): Buffer {
  const nodes = Array.from({ length: count }, (_, at): [string, object] => {
    return [`${at}`, { class_type: `Image${'q'.repeat(16)}${100 + at}`, inputs: {} }];
  });
  return submission(Object.fromEntries(nodes));
}

const text = (value: string): Buffer => Buffer.from(value);

export const ATTACKS = [
  attack(
    'event loop',
    `16 reads of usage, of the ledger and of a job with ${MANY_OUTPUTS} outputs at a time`,
    { 200: 40 },
    async (ground, until, jobId) => {
      const job = `${JOB_PATH}/${jobId}`;
      const paths = [
        job,
        `${job}/nodes`,
        `${job}/workflow`,
        '/platform/v1/usage?group_by=label:a',
        '/platform/v1/credits/ledger?limit=100',
      ];
      let turn = 0;
      await ground.press(16, until, () => ground.send('GET', paths[(turn += 1) % paths.length] as string));
    },
    (ground) => ground.submit(manyOutputs(MANY_OUTPUTS)),
  ),
  attack(
    'event loop',
    '16 small bodies at a time of which every value is a fault',
    { 413: 5, 422: 20 },
    async (ground, until) => {
      const bodies = expensiveFaults();
      let turn = 0;
      await ground.press(16, until, () => {
        const { path, body } = bodies[(turn += 1) % bodies.length] as { path: string; body: Buffer };
        return ground.send('POST', path, body);
      });
    },
  ),
  attack(
    'event loop',
    '16 graphs at a time of 300 nodes, each of another class that nobody has',
    { 422: 20 },
    (ground, until) => {
      const body = unknownClasses(300);
      return ground.press(16, until, () => ground.send('POST', JOB_PATH, body));
    },
  ),
  attack(
    'memory',
    `32 connections without a key, each with ${PIPELINED_REQUESTS.toLocaleString('en')} requests at once`,
    { connections: 32 },
    async (ground, until) => {
      const requests = text('GET /api/v2/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(PIPELINED_REQUESTS));
      for (let n = 0; n < 32; n += 1) ground.hold(requests, until);
      await ended(until);
    },
  ),
  attack('event loop', '32 requests without a key at a time for the largest document', { 200: 60 }, (ground, until) =>
    ground.press(32, until, () => ground.send('GET', '/api/v2/openapi.json', undefined, { authorization: '' })),
  ),
  attack(
    'event loop',
    `24 submissions of ${MANY_VALUES.toLocaleString('en')} values at a time`,
    { 201: 4 },
    (ground, until) => {
      const body = manyValues(MANY_VALUES);
      return ground.press(24, until, () => ground.send('POST', JOB_PATH, body));
    },
  ),
  attack(
    'memory',
    `8 submissions of ${MANY_REFERENCES.toLocaleString('en')} malformed asset references at a time`,
    { 400: 1 },
    (ground, until) => {
      const body = malformedReferences(MANY_REFERENCES);
      return ground.press(8, until, () => ground.send('POST', JOB_PATH, body));
    },
  ),
  attack('memory', '16 uploads at a time, with a field that is as long as a file', { 400: 4 }, (ground, until) => {
    const { body, headers } = multipart([['name="tags"', Buffer.alloc(8 * KIB * KIB, 'a')]]);
    return ground.press(16, until, () => ground.send('POST', '/api/v2/assets', body, headers));
  }),
  attack(
    'memory',
    '100 connections that request a large graph and read nothing',
    { connections: 100, 200: 1 },
    async (ground, until, jobId) => {
      for (let n = 0; n < 100; n += 1) ground.hold(ground.head('GET', `${JOB_PATH}/${jobId}/workflow`), until);
      await ended(until);
    },
    (ground) => ground.submit(longGraph(LARGE_GRAPH_BYTES)),
  ),
  attack('sockets', '500 connections that never finish a request', { connections: 500 }, async (ground, until) => {
    for (let n = 0; n < 500; n += 1) ground.hold(text('POST /api/v2/jobs HTTP/1.1\r\nHost: a\r\nX-'), until);
    await ended(until);
  }),
  attack(
    'streams',
    '300 event streams that read nothing',
    { connections: 300, 200: 10 },
    async (ground, until, jobId) => {
      const accept = { Accept: 'text/event-stream' };
      for (let n = 0; n < 300; n += 1) ground.hold(ground.head('GET', `${JOB_PATH}/${jobId}/events`, accept), until);
      await ended(until);
    },
    (ground) => ground.submit(small),
  ),
  attack(
    'pool connections',
    '64 pages of 100 jobs at a time',
    { 200: 8 },
    (ground, until) => ground.press(64, until, () => ground.send('GET', `${JOB_PATH}?limit=100`)),
    async (ground) => {
      for (let n = 1; n < 100; n += 1) await ground.submit(small);
      return ground.submit(small);
    },
  ),
  attack('queue', '16 submissions at a time, until the queue is full and after', { 201: 16 }, (ground, until) =>
    ground.press(16, until, () => ground.send('POST', JOB_PATH, small)),
  ),
  attack('queue', '8 submissions of 9 MB graphs at a time', { 201: 1 }, (ground, until) => {
    const body = longGraph(LARGE_GRAPH_BYTES);
    return ground.press(8, until, () => ground.send('POST', JOB_PATH, body));
  }),
  attack('storage', '8 uploads of 4 MB at a time', { 201: 4 }, (ground, until) =>
    ground.press(8, until, () => {
      const { body, headers } = multipart([
        ['name="content_type"', text('application/octet-stream')],
        ['name="file_path"', text('a.bin')],
        ['name="file"; filename="a.bin"', randomBytes(4 * KIB * KIB)],
      ]);
      return ground.send('POST', '/api/v2/assets', body, headers);
    }),
  ),
  attack('engine time', 'regular expressions that take for ever', { 201: 4 }, (ground, until) => {
    const body = submission({
      '1': {
        class_type: 'RegexMatch',
        inputs: { string: `${'a'.repeat(60)}b`, regex_pattern: '^(a+)+$', ...REGEX_FLAGS },
      },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    return ground.press(4, until, () => ground.send('POST', JOB_PATH, body));
  }),
  ...BULK_ATTACKS,
  ...CREDENTIAL_ATTACKS,
];

const REGEX_FLAGS = { case_insensitive: false, multiline: false, dotall: false };

async function ended(until: AbortSignal): Promise<void> {
  if (until.aborted) return;
  await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
}
