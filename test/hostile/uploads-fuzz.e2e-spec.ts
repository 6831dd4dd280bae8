import fc from 'fast-check';
import { TestStack } from '@millrace/testing';
import { FuzzTarget } from './support/fuzz-target';
import { LAST_CHUNK, anyEdit, chunksOf, mutated } from './support/mutations';

/** How many uploads; more by hand: MILLRACE_FUZZ_RUNS=6667. */
const RUNS = Number(process.env.MILLRACE_FUZZ_RUNS ?? 1_000);
const SEED = Number(process.env.MILLRACE_FUZZ_SEED ?? 20_261_121);
const BOOT_MS = 60_000;

let stack: TestStack;
let service: FuzzTarget;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 0, settings: { MILLRACE_RATE_LIMIT_PER_MINUTE: '10000000' } });
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
          const end = keep === undefined ? [LAST_CHUNK] : [];
          const sent = keep === undefined ? body : body.subarray(0, keep % body.length);
          await service.send([head, ...chunksOf(sent, cuts), ...end], { cutOff: keep !== undefined });
          service.assertAlive();
        }),
        { seed: SEED, numRuns: RUNS, endOnFailure: true },
      );
    },
    BOOT_MS + RUNS * 50,
  );
});
