import fc from 'fast-check';
import { TestStack } from '@millrace/testing';
import { FuzzTarget } from './support/fuzz-target';
import { LAST_CHUNK, anyEdit, chunksOf, mutated } from './support/mutations';

/** How many uploads; more by hand: MILLRACE_FUZZ_RUNS=6667. */
const RUNS = Number(process.env.MILLRACE_FUZZ_RUNS ?? 1_000);
const SEED = Number(process.env.MILLRACE_FUZZ_SEED ?? 20_261_121);
const BOOT_MS = 300_000;

const SETTINGS = {
  MILLRACE_RATE_LIMIT_PER_MINUTE: '10000000',
  MILLRACE_ANONYMOUS_RATE_LIMIT_PER_MINUTE: '10000000',
};

let stack: TestStack;
let service: FuzzTarget;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 0, settings: SETTINGS });
  service = new FuzzTarget(stack.api, (await stack.createAccount(0)).apiKey);
});
afterAll(() => stack.stop());

const part = (disposition: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data${disposition}\r\n\r\n${value}\r\n`;
const TYPE = part('; name="content_type"', 'text/plain');
const PATH = part('; name="file_path"', 'a.txt');
const FILE = part('; name="file"; filename="a.txt"', 'hello');
const LONG = 'v'.repeat(9_000);

/** Each is taken, or refused, in another way. */
const FORMS = [
  [TYPE, PATH, FILE],
  [FILE, PATH, TYPE],
  [TYPE, PATH, FILE, FILE],
  [TYPE, part('; name="other"; filename="b"', LONG), PATH, FILE],
  [part('', LONG), TYPE, PATH, FILE],
  [part('; name="tags"', LONG), TYPE, PATH, FILE],
].map((parts) => Buffer.from(`${parts.join('')}--b--\r\n`));

/** An upload, and three to read it back. */
const REQUESTS_OF_A_RUN = 4;

/** Valid values of fields, each about as long as it may be. */
const FIELDS = {
  content_type: `text/${'a'.repeat(120)}`,
  file_path: `folder/${'b'.repeat(100)}.txt`,
  tags: 'c'.repeat(60),
  expires_in: '3600',
  expected_hash: `blake3:${'d'.repeat(64)}`,
};

describe('an upload whose fields are damaged, byte by byte', () => {
  it(
    'is taken and can be read, or is refused with the envelope',
    async () => {
      const field = fc.record({
        name: fc.constantFrom(...(Object.keys(FIELDS) as (keyof typeof FIELDS)[])),
        edits: fc.array(anyEdit(130), { minLength: 1, maxLength: 4 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(field, { minLength: 1, maxLength: 2 }), async (damaged) => {
          const { expected_hash: _, ...valid } = FIELDS;
          const values = new Map<string, Buffer>(
            Object.entries(valid).map(([name, value]) => [name, Buffer.from(value)]),
          );
          for (const { name, edits } of damaged) values.set(name, mutated(Buffer.from(FIELDS[name]), edits));
          const parts = [...values].map(([name, value]) => part(`; name="${name}"`, value.toString('latin1')));
          const body = Buffer.from(`${parts.join('')}${FILE}--b--\r\n`, 'latin1');
          const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
          const request = service.requestOf('POST', '/api/v2/assets', headers, body);
          const answer = await service.ask([request], { whole: true });
          if (answer.status === 200 || answer.status === 201) await readBack(answer.body);
          service.assertAlive();
        }),
        { seed: SEED, numRuns: Math.ceil(RUNS / REQUESTS_OF_A_RUN), endOnFailure: true },
      );
    },
    BOOT_MS + RUNS * 200,
  );
});

/** Read an asset, and its bytes under the content type that was accepted. */
async function readBack(text: string): Promise<void> {
  const path = `/api/v2/assets/${(JSON.parse(text) as { id: string }).id}`;
  await service.ask([service.requestOf('GET', path, {}, '')]);
  const redirect = await service.ask([service.requestOf('GET', `${path}/content`, {}, '')]);
  expect(redirect.status).toBe(302);
  const { pathname, search } = new URL(redirect.headers.location ?? '');
  const content = await service.ask([service.requestOf('GET', pathname + search, {}, '')]);
  expect(content.status).toBe(200);
}

describe('an upload whose form is damaged, byte by byte', () => {
  it(
    'is taken, refused with the envelope, or cut off; and the process is the one that it was',
    async () => {
      const head = service.requestOf(
        'POST',
        '/api/v2/assets',
        { 'Content-Type': 'multipart/form-data; boundary=b', 'Transfer-Encoding': 'chunked' },
        '',
      );
      const upload = fc.record({
        form: fc.constantFrom(...FORMS.keys()),
        edits: fc.array(anyEdit(700), { maxLength: 4 }),
        cuts: fc.array(fc.nat(10_000), { maxLength: 4 }),
        keep: fc.option(fc.nat(10_000), { freq: 3, nil: undefined }),
      });
      await fc.assert(
        fc.asyncProperty(upload, async ({ form, edits, cuts, keep }) => {
          const body = mutated(FORMS[form] as Buffer, edits);
          if (keep === undefined) await service.ask([head, ...chunksOf(body, cuts), LAST_CHUNK]);
          else await service.send([head, ...chunksOf(body.subarray(0, keep % body.length), cuts)], { cutOff: true });
          service.assertAlive();
        }),
        { seed: SEED, numRuns: RUNS, endOnFailure: true },
      );
    },
    BOOT_MS + RUNS * 50,
  );
});
