import { ServerResponse, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { BodiesInFlight } from '@millrace/platform';
import { collectGarbage } from '@millrace/testing';
import { z } from 'zod';
import { readBytes, readJson, readText } from './body';
import { holdBytes } from './hold-bytes';
import { withContext } from '../../fixtures/with-context';

/** A request whose body is sent by hand, and its answer. */
function sending(
  bodies = new BodiesInFlight({ bytes: 10_000, bytesPerPayer: 10_000 }),
  { payer = 'a', headers = {} }: { payer?: string; headers?: Record<string, string> } = {},
): PassThrough & IncomingMessage & { res: ServerResponse } {
  const request = Object.assign(new PassThrough(), {
    headers: { 'content-type': 'application/json', ...headers },
  }) as unknown as PassThrough & IncomingMessage & { res: ServerResponse };
  request.res = new ServerResponse(request);
  return withContext(request, { payer, bodies });
}

describe('a body that is read at once', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());
  const written = (request: PassThrough, text: string): Promise<void> =>
    new Promise((resolve) => request.write(text, () => resolve()));

  it('whose sender falls silent is refused with 408, and the connection is closed', async () => {
    const request = sending();
    const reading = readText(request, 1_000);
    await written(request, '{"work');
    jest.advanceTimersByTime(20_000);
    await expect(reading).rejects.toMatchObject({
      code: 'invalid_request',
      status: 408,
      headers: { Connection: 'close' },
    });
  });

  it('is waited for as long as some of it comes', async () => {
    const request = sending();
    const reading = readText(request, 1_000);
    for (const piece of ['{"a"', ':', '1', '}']) {
      jest.advanceTimersByTime(19_000);
      await written(request, piece);
    }
    request.end();
    expect(await reading).toBe('{"a":1}');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is refused where it comes in ever so many tiny HTTP chunks', async () => {
    const request = Object.assign(sending(), { arrival: { pieces: 70_000, bytes: 140_000 } });
    const reading = readText(request, 1_000_000);
    const refused = expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
    await written(request, 'ab');
    await refused;
  });

  it('has to be there in two minutes, however regularly some of it comes', async () => {
    const request = sending();
    const reading = readText(request, 1_000);
    const refused = expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 408 });
    for (let second = 0; second <= 120; second += 10) {
      await written(request, ' ');
      jest.advanceTimersByTime(10_000);
    }
    await refused;
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a body in a content encoding', () => {
  it.each(['gzip', 'Br'])('is refused: %s', async (encoding) => {
    const reading = readText(sending(undefined, { headers: { 'content-encoding': encoding } }), 1_000);
    await expect(reading).rejects.toMatchObject({ code: 'unsupported_media_type', status: 415 });
  });

  it.each(['identity', 'Identity', ' IDENTITY'])('that is none is read: %s', async (encoding) => {
    const request = sending(undefined, { headers: { 'content-encoding': encoding } });
    request.end('{}');
    expect(await readText(request, 1_000)).toBe('{}');
  });
});

describe('a small body', () => {
  it('is refused for its number of values before its shape is looked at', async () => {
    const request = sending(new BodiesInFlight({ bytes: 100_000, bytesPerPayer: 100_000 }));
    request.end(JSON.stringify({ of: Array(20_000).fill(0) }));
    await expect(readJson(request, z.object({ of: z.array(z.string()) }))).rejects.toMatchObject({
      code: 'invalid_request',
      status: 400,
      details: undefined,
    });
  });
});

describe('the bytes of bodies in flight', () => {
  const busy = { code: 'rate_limited', status: 429, retryAfterSeconds: 2 };
  const declared = (bytes: number): { headers: Record<string, string> } => ({
    headers: { 'content-length': String(bytes) },
  });

  it('are released once, also where the first of a request are none', () => {
    const bodies = new BodiesInFlight({ bytes: 1_000, bytesPerPayer: 100 });
    const [first, second] = [sending(bodies), sending(bodies)];
    holdBytes(second, 50);
    for (const bytes of [0, 0, 20, 20]) holdBytes(first, bytes);
    first.res.emit('close');
    expect(() => holdBytes(sending(bodies), 51)).toThrow('that are being processed');
    holdBytes(sending(bodies), 50);
  });

  it.each(['declared', 'sent in chunks'])(
    'are limited for each payer, whether %s or not, until the answer is out',
    async (how) => {
      const bodies = new BodiesInFlight({ bytes: 1_000, bytesPerPayer: 100 });
      const sent = how === 'declared' ? declared(80) : {};
      const first = sending(bodies, sent);
      first.end(Buffer.alloc(80));
      expect(await readBytes(first, 1_000)).toHaveLength(80);
      const second = sending(bodies, sent);
      second.end(Buffer.alloc(80));
      await expect(readBytes(second, 1_000)).rejects.toMatchObject(busy);
      const other = sending(bodies, { ...sent, payer: 'b' });
      other.end(Buffer.alloc(80));
      expect(await readBytes(other, 1_000)).toHaveLength(80);
      first.res.emit('close');
      const third = sending(bodies, sent);
      third.end(Buffer.alloc(80));
      expect(await readBytes(third, 1_000)).toHaveLength(80);
    },
  );

  it('are as many as are in memory, also where each comes by itself', async () => {
    const inUse = async (): Promise<number> => {
      await collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const sent = 200_000;
    const request = sending(new BodiesInFlight({ bytes: 2 * sent, bytesPerPayer: 2 * sent }));
    const before = await inUse();
    const reading = readBytes(request, sent);
    for (let at = 0; at < sent; at += 1) request.write(Buffer.allocUnsafeSlow(1));
    expect((await inUse()) - before).toBeLessThan(10 * sent);
    request.end();
    expect(await reading).toHaveLength(sent);
  });

  it('are limited for all payers together', async () => {
    const bodies = new BodiesInFlight({ bytes: 100, bytesPerPayer: 100 });
    const first = sending(bodies, declared(60));
    first.end(Buffer.alloc(60));
    await readBytes(first, 1_000);
    await expect(readBytes(sending(bodies, { ...declared(60), payer: 'b' }), 1_000)).rejects.toMatchObject(busy);
  });

  it('of one body that is larger than the limit pass when they are the only ones', async () => {
    const request = sending(new BodiesInFlight({ bytes: 10, bytesPerPayer: 10 }), declared(80));
    request.end(Buffer.alloc(80));
    expect(await readBytes(request, 1_000)).toHaveLength(80);
  });

  it('count as they arrive, however many are declared, and keep no other out before', async () => {
    const bodies = new BodiesInFlight({ bytes: 100, bytesPerPayer: 100 });
    const never = sending(bodies, declared(100));
    void readBytes(never, 1_000).catch(() => undefined);
    const other = sending(bodies, { ...declared(60), payer: 'b' });
    other.end(Buffer.alloc(60));
    expect(await readBytes(other, 1_000)).toHaveLength(60);
    never.destroy();
  });

  it('of one body that arrives in pieces are looked at as one, and not refused for its own size', async () => {
    const bodies = new BodiesInFlight({ bytes: 100, bytesPerPayer: 50 });
    const request = sending(bodies);
    const reading = readBytes(request, 1_000);
    for (let piece = 0; piece < 4; piece += 1) request.write(Buffer.alloc(40));
    request.end();
    expect(await reading).toHaveLength(160);
    await expect(readBytes(sending(bodies, declared(1)), 1_000)).rejects.toMatchObject(busy);
  });

  it('that were refused are free again with their answer', async () => {
    const bodies = new BodiesInFlight({ bytes: 100, bytesPerPayer: 100 });
    const chunked = sending(bodies);
    const reading = readBytes(chunked, 1_000);
    const other = sending(bodies, { ...declared(60), payer: 'b' });
    other.end(Buffer.alloc(60));
    await readBytes(other, 1_000);
    chunked.write(Buffer.alloc(30));
    chunked.write(Buffer.alloc(30));
    await expect(reading).rejects.toMatchObject(busy);
    for (const { res } of [chunked, other]) res.emit('close');
    const last = sending(bodies, declared(100));
    last.end(Buffer.alloc(100));
    expect(await readBytes(last, 1_000)).toHaveLength(100);
  });
});
