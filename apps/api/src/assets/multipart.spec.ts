import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import fc from 'fast-check';
import { MultipartError, readMultipart } from './multipart';

const LIMITS = { fieldBytes: 64, parts: 8 };
const TYPE = 'multipart/form-data; boundary=b0undary';

interface Part {
  name: string;
  file: boolean;
  value: Buffer;
}

interface Outcome {
  error: unknown;
  parts: Part[];
}

/** Bytes in pieces, as a connection may deliver them. */
async function* pieces(body: Buffer, cuts: number[]): AsyncGenerator<Buffer> {
  const ends = [...new Set([...cuts.map((cut) => cut % (body.length + 1)), body.length])].sort((a, b) => a - b);
  let at = 0;
  for (const end of ends) {
    if (end > at) yield body.subarray(at, end);
    at = end;
  }
}

/** Read a form as an upload does: files named `file` are consumed, others dropped. */
async function read(body: Buffer, cuts: number[] = []): Promise<Outcome> {
  const parts: Part[] = [];
  const error = await readMultipart(TYPE, pieces(body, cuts), LIMITS, {
    isFile: (name, fileName) => name === 'file' || fileName !== undefined,
    field: (name, value) => void parts.push({ name, file: false, value: Buffer.from(value) }),
    file: (name, bytes) => (name === 'file' ? consume(name, bytes, parts) : null),
  }).catch((thrown: unknown) => thrown ?? null);
  return { error, parts };
}

async function consume(name: string, bytes: Readable, parts: Part[]): Promise<void> {
  const part = { name, file: true, value: Buffer.alloc(0) };
  parts.push(part);
  part.value = await buffer(bytes);
}

function formOf(parts: Part[]): Buffer {
  const written = parts.flatMap(({ name, file, value }) => [
    `--b0undary\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="f"' : ''}\r\n\r\n`,
    value,
    '\r\n',
  ]);
  return Buffer.concat([...written, '--b0undary--\r\n'].map((piece) => Buffer.from(piece)));
}

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ name: fc.constant('file'), file: fc.constant(true), value: bytes }),
  fc.record({
    name: fc.constantFrom('content_type', 'tags', 'x'),
    file: fc.constant(false),
    value: fc.string({ maxLength: 30 }).map((text) => Buffer.from(text)),
  }),
);
const anyForm = fc.array(anyPart, { minLength: 1, maxLength: LIMITS.parts });
const anyCuts = fc.array(fc.nat(5_000), { maxLength: 12 });

/** Pieces of a form's grammar, so that what is mutated is nearly a form. */
const anyToken = fc.oneof(
  fc.constantFrom(
    '--b0undary\r\n',
    '--b0undary--',
    '\r\n\r\n',
    '\r\n',
    '--b0undary--\r\n--b0undary\r\n',
    'Content-Disposition: form-data',
    'Content-Disposition: form-data; name="file"; filename="f"\r\n\r\n',
    'Content-Disposition: form-data; filename="f"\r\n\r\n',
    'Content-Disposition: form-data\r\n\r\n',
    'Content-Disposition: attachment; name="x"\r\n\r\n',
    'Content-Type: text/plain; charset\r\n',
    'Content-Type: text/plain; charset=nonsense\r\n',
    'Content-Type: ;\r\n',
    'Content-Transfer-Encoding:\r\n',
    'x'.repeat(100),
  ),
  fc.string({ maxLength: 5 }),
);
const anyMutation = fc.record({ at: fc.nat(5_000), drop: fc.nat(20), put: fc.oneof(anyToken, fc.constant('')) });

function mutated(body: Buffer, mutations: { at: number; drop: number; put: string }[]): Buffer {
  return mutations.reduce((before, { at, drop, put }) => {
    const from = at % (before.length + 1);
    return Buffer.concat([before.subarray(0, from), Buffer.from(put), before.subarray(from + drop)]);
  }, body);
}

/** A reading that settles, in one of the two ways that there are. */
async function expectSettled(body: Buffer, cuts: number[]): Promise<void> {
  const { error } = await Promise.race([read(body, cuts), hung()]);
  if (error !== undefined) expect(error).toBeInstanceOf(MultipartError);
}

function hung(): Promise<Outcome> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error('the reading hangs')), 60_000).unref());
}

describe('a form', () => {
  it('is read part by part, in its order, however it is cut on its way', async () => {
    await fc.assert(
      fc.asyncProperty(anyForm, anyCuts, async (parts, cuts) => {
        const { error, parts: received } = await read(formOf(parts), cuts);
        expect(error).toBeUndefined();
        expect(received).toEqual(parts);
      }),
    );
  });

  it('that ends too early, at any byte, is refused', async () => {
    const whole = formOf([
      { name: 'tags', file: false, value: Buffer.from('one') },
      { name: 'file', file: true, value: Buffer.from('bytes') },
      { name: 'other', file: true, value: Buffer.from('bytes') },
    ]);
    const needed = whole.length - '\r\n'.length;
    for (let length = 0; length < needed; length += 1) {
      const { error } = await Promise.race([read(whole.subarray(0, length)), hung()]);
      expect(error).toBeInstanceOf(MultipartError);
    }
    expect((await read(whole.subarray(0, needed))).error).toBeUndefined();
  });

  it('that is damaged in any way is read or refused: nothing else happens, and it does not hang', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyForm,
        fc.array(anyMutation, { minLength: 1, maxLength: 6 }),
        anyCuts,
        async (parts, mutations, cuts) => expectSettled(mutated(formOf(parts), mutations), cuts),
      ),
      { numRuns: 500 },
    );
  });

  it('made of pieces of the grammar in any order is read or refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyToken, { maxLength: 20 }), anyCuts, (tokens, cuts) =>
        expectSettled(Buffer.from(tokens.join('')), cuts),
      ),
      { numRuns: 500 },
    );
  });

  it.each([
    ['without a name', 'Content-Disposition: form-data'],
    ['whose disposition is of another kind', 'Content-Disposition: attachment; name="x"'],
    ['without a disposition', 'X-Other: y'],
  ])('with a part %s and a large value is refused or read, and the reading goes on elsewhere', async (_, header) => {
    const body = Buffer.from(`--b0undary\r\n${header}\r\n\r\n${'v'.repeat(1_000)}\r\n--b0undary--\r\n`);
    await expectSettled(body, []);
    await expectSettled(body.subarray(0, 200), []);
  });

  it('with a second file that is cut off is refused', async () => {
    for (const name of ['file', 'other', '']) {
      const second = `--b0undary\r\nContent-Disposition: form-data; name="${name}"; filename="g"\r\n\r\nhalf`;
      const first = formOf([{ name: 'file', file: true, value: Buffer.from('bytes') }]).subarray(
        0,
        -'--b0undary--\r\n'.length,
      );
      const { error } = await read(Buffer.concat([first, Buffer.from(second)]));
      expect(error).toBeInstanceOf(MultipartError);
    }
  });

  it('with a field that is too long, or with too many parts, is refused with the reason', async () => {
    const field = (value: string): Part => ({ name: 'tags', file: false, value: Buffer.from(value) });
    expect((await read(formOf([field('v'.repeat(65))]))).error).toMatchObject({
      message: 'the field tags is longer than 64 bytes',
    });
    expect((await read(formOf(Array.from({ length: 9 }, () => field('v'))))).error).toMatchObject({
      message: 'there are more than 8 parts',
    });
  });

  it('is given up when a file cannot be stored, with the reason why', async () => {
    const full = new Error('the store is full');
    let fed = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      yield formOf([{ name: 'file', file: true, value: Buffer.from('x') }]).subarray(0, -'\r\n--b0undary--\r\n'.length);
      for (; fed < 1_000; fed += 1) yield Buffer.alloc(65_536);
    }
    const reading = readMultipart(TYPE, endless(), LIMITS, {
      isFile: () => true,
      field: () => undefined,
      file: () => Promise.reject(full),
    });
    await expect(reading).rejects.toBe(full);
    expect(fed).toBeLessThan(10);
  });

  it('whose bytes stop with an error fails its file with that error', async () => {
    const late = new Error('nothing came');
    let taken: Promise<unknown> = Promise.resolve();
    async function* silent(): AsyncGenerator<Buffer> {
      yield formOf([{ name: 'file', file: true, value: Buffer.from('x') }]).subarray(0, -'\r\n--b0undary--\r\n'.length);
      throw late;
    }
    const reading = readMultipart(TYPE, silent(), LIMITS, {
      isFile: () => true,
      field: () => undefined,
      file: (_, bytes) => (taken = buffer(bytes)),
    });
    await expect(reading).rejects.toBe(late);
    await expect(taken).rejects.toBe(late);
  });

  it('without a usable boundary is refused', async () => {
    const sink = { isFile: () => false, field: () => undefined, file: () => null };
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'text/plain']) {
      await expect(readMultipart(type, pieces(Buffer.from('x'), []), LIMITS, sink)).rejects.toBeInstanceOf(
        MultipartError,
      );
    }
  });
});
