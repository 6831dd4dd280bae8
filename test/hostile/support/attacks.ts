import { randomBytes } from 'node:crypto';
import { withChecksum } from '../../../libs/accounts/src/api-key';
import type { Ground } from './ground';

/** What one account can do at its worst with one thing that all accounts share. */
export interface Attack {
  /** What all share and it goes for. */
  resource: string;
  name: string;
  run(ground: Ground, until: AbortSignal): Promise<unknown>;
}

const KIB = 1_024;
const LARGE_GRAPH_BYTES = 9_000_000;
/** Below the most that a graph may have, so that it is read to its end. */
const MANY_VALUES = 90_000;
const MANY_REFERENCES = 300_000;

const JOB_PATH = '/api/v2/jobs';

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

const text = (value: string): Buffer => Buffer.from(value);

function attack(resource: string, name: string, run: Attack['run']): Attack {
  return { resource, name, run };
}

export const ATTACKS = [
  attack('event loop', `24 submissions of ${MANY_VALUES.toLocaleString('en')} values at a time`, (ground, until) => {
    const body = manyValues(MANY_VALUES);
    return ground.press(24, until, () => ground.send('POST', JOB_PATH, body));
  }),
  attack(
    'memory',
    `8 submissions of ${MANY_REFERENCES.toLocaleString('en')} malformed asset references at a time`,
    (ground, until) => {
      const body = malformedReferences(MANY_REFERENCES);
      return ground.press(8, until, () => ground.send('POST', JOB_PATH, body));
    },
  ),
  attack('memory', '16 uploads at a time, with a field that is as long as a file', (ground, until) => {
    const { body, headers } = multipart([['name="tags"', Buffer.alloc(8 * KIB * KIB, 'a')]]);
    return ground.press(16, until, () => ground.send('POST', '/api/v2/assets', body, headers));
  }),
  attack('memory', '100 connections that request a large graph and read nothing', async (ground, until) => {
    const { body } = await ground.send('POST', JOB_PATH, longGraph(LARGE_GRAPH_BYTES));
    const { id } = JSON.parse(body) as { id: string };
    for (let n = 0; n < 100; n += 1) ground.hold(ground.head('GET', `${JOB_PATH}/${id}/workflow`), until);
    await ended(until);
  }),
  attack('sockets', '500 connections that never finish a request', async (ground, until) => {
    for (let n = 0; n < 500; n += 1) ground.hold(text('POST /api/v2/jobs HTTP/1.1\r\nHost: a\r\nX-'), until);
    await ended(until);
  }),
  attack('streams', '300 event streams that read nothing', async (ground, until) => {
    const { body } = await ground.send('POST', JOB_PATH, small);
    const { id } = JSON.parse(body) as { id: string };
    const accept = { Accept: 'text/event-stream' };
    for (let n = 0; n < 300; n += 1) ground.hold(ground.head('GET', `${JOB_PATH}/${id}/events`, accept), until);
    await ended(until);
  }),
  attack('pool connections', '64 pages of 100 jobs at a time', async (ground, until) => {
    for (let n = 0; n < 100; n += 1) await ground.send('POST', JOB_PATH, small);
    await ground.press(64, until, () => ground.send('GET', `${JOB_PATH}?limit=100`));
  }),
  attack('queue', '16 submissions at a time, until the queue is full and after', (ground, until) =>
    ground.press(16, until, () => ground.send('POST', JOB_PATH, small)),
  ),
  attack('queue', '8 submissions of 9 MB graphs at a time', (ground, until) => {
    const body = longGraph(LARGE_GRAPH_BYTES);
    return ground.press(8, until, () => ground.send('POST', JOB_PATH, body));
  }),
  attack('storage', '8 uploads of 4 MB at a time', (ground, until) =>
    ground.press(8, until, () => {
      const { body, headers } = multipart([
        ['name="content_type"', text('application/octet-stream')],
        ['name="file_path"', text('a.bin')],
        ['name="file"; filename="a.bin"', randomBytes(4 * KIB * KIB)],
      ]);
      return ground.send('POST', '/api/v2/assets', body, headers);
    }),
  ),
  attack('engine time', 'regular expressions that take for ever', (ground, until) => {
    const body = submission({
      '1': {
        class_type: 'RegexMatch',
        inputs: { string: `${'a'.repeat(60)}b`, regex_pattern: '^(a+)+$', ...REGEX_FLAGS },
      },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    return ground.press(4, until, () => ground.send('POST', JOB_PATH, body));
  }),
  attack(
    'authentication',
    '32 requests at a time from the address of the other, each with another made-up key',
    (ground, until) =>
      ground.press(32, until, () =>
        ground.sendAsNeighbour('GET', JOB_PATH, {
          authorization: `Bearer ${withChecksum(`mr_live_${randomBytes(15).toString('hex')}`)}`,
        }),
      ),
  ),
];

const REGEX_FLAGS = { case_insensitive: false, multiline: false, dotall: false };

function ended(until: AbortSignal): Promise<void> {
  return new Promise((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
}
