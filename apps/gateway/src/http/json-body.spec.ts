import { ServerResponse, type IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { eventually } from '@millrace/testing';
import { z } from 'zod';
import { LargeBody } from './json-body';
import { RequestBodies } from './request-bodies';
import { RequestBody } from './request-body';

const KIB = 1_024;
const limits = { maxBytes: 100 * KIB, maxValues: 100 };
const busy = { code: 'rate_limited', status: 429 };

type Sending = PassThrough & IncomingMessage & { res: ServerResponse };

const requests: Sending[] = [];
afterEach(() => {
  for (const request of requests.splice(0)) request.destroy();
});

/** A request of a token whose body is sent by hand. */
function sending(all: RequestBodies, { token = 'a', declared }: { token?: string; declared?: number } = {}): Sending {
  const headers = declared === undefined ? {} : { 'content-length': String(declared) };
  const request = Object.assign(new PassThrough(), { headers }) as unknown as Sending;
  request.res = new ServerResponse(request);
  RequestBody.open(request, request.res, all, token);
  requests.push(request);
  return request;
}

/** A request with a text of so many bytes and a few more. */
function sent(all: RequestBodies, bytes: number, token = 'a'): Sending {
  const text = JSON.stringify({ text: 'x'.repeat(bytes) });
  const request = sending(all, { token, declared: text.length });
  request.end(text);
  return request;
}

const bodyOf = (request: IncomingMessage): LargeBody<{ text: string }> =>
  new LargeBody(request, z.object({ text: z.string() }), limits);

/** Begin to read a body that does not come. */
function begin(request: Sending): void {
  bodyOf(request)
    .read()
    .catch(() => undefined);
}

/** Have the answer of a request be out, or its sender gone. */
function close({ res }: Sending): void {
  Object.defineProperty(res, 'closed', { value: true });
  res.emit('close');
}

describe('bodies in flight', () => {
  const open = (bytesPerToken = 60 * KIB, bytes = 100 * KIB): RequestBodies =>
    new RequestBodies({ bytes, bytesPerToken });

  it('count for their token by what is declared, before it arrives, and until the answer is out', async () => {
    const all = open();
    const first = sending(all, { declared: 50 * KIB });
    const reading = bodyOf(first).read();
    await expect(bodyOf(sending(all, { declared: 40 * KIB })).read()).rejects.toMatchObject(busy);
    expect((await bodyOf(sent(all, 40 * KIB, 'b')).read()).text).toHaveLength(40 * KIB);
    first.end(JSON.stringify({ text: 'came' }).padEnd(50 * KIB));
    expect(await reading).toEqual({ text: 'came' });
    await expect(bodyOf(sending(all, { declared: 40 * KIB })).read()).rejects.toMatchObject(busy);
    close(first);
    expect((await bodyOf(sent(all, 40 * KIB)).read()).text).toHaveLength(40 * KIB);
  });

  it('count for all tokens together', async () => {
    const all = open();
    for (const token of ['a', 'b']) begin(sending(all, { token, declared: 50 * KIB }));
    await expect(bodyOf(sending(all, { token: 'c', declared: 40 * KIB })).read()).rejects.toMatchObject(busy);
  });

  it('count as they come where nothing is declared', async () => {
    const all = open();
    begin(sending(all, { declared: 50 * KIB }));
    const request = sending(all);
    request.write(Buffer.alloc(32 * KIB, ' '));
    const reading = bodyOf(request).read();
    request.write(Buffer.alloc(KIB, ' '));
    await expect(reading).rejects.toMatchObject(busy);
    expect(request.destroyed).toBe(false);
  });

  it('of a heartbeat are too few to count', async () => {
    const all = open();
    begin(sending(all, { declared: 59 * KIB }));
    expect((await bodyOf(sent(all, 2 * KIB)).read()).text).toHaveLength(2 * KIB);
  });

  it('above the limit are refused, declared or not', async () => {
    const all = open(1_000 * KIB, 1_000 * KIB);
    const tooLarge = { code: 'payload_too_large', status: 413 };
    await expect(bodyOf(sending(all, { declared: limits.maxBytes + 1 })).read()).rejects.toMatchObject(tooLarge);
    const request = sending(all);
    request.write(Buffer.alloc(limits.maxBytes + 1));
    await expect(bodyOf(request).read()).rejects.toMatchObject(tooLarge);
  });

  it('that break off are refused', async () => {
    const request = sending(open(), { declared: 50 * KIB });
    const reading = bodyOf(request).read();
    request.write('{"text');
    request.destroy();
    await expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
  });
});

describe('the turns of large bodies', () => {
  const open = (): RequestBodies => new RequestBodies({ bytes: 1_000 * KIB, bytesPerToken: 1_000 * KIB });
  /** Use a body until the test says so. */
  function use(request: Sending): { begun: boolean; end: () => void; used: Promise<void> } {
    const one = { begun: false, end: (): void => undefined, used: Promise.resolve() };
    one.used = bodyOf(request).use(() => {
      one.begun = true;
      return new Promise<void>((resolve) => (one.end = resolve));
    });
    return one;
  }

  it('come one after the other for those of one token, with a rest between them', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const all = open();
      const first = use(sent(all, 20 * KIB));
      await passing(() => first.begun);
      const second = use(sent(all, 20 * KIB));
      jest.advanceTimersByTime(500);
      first.end();
      await first.used;
      await turns();
      jest.advanceTimersByTime(1_499);
      await turns();
      expect(second.begun).toBe(false);
      jest.advanceTimersByTime(1);
      await passing(() => second.begun);
      second.end();
      await second.used;
    } finally {
      jest.useRealTimers();
    }
  });

  it('come one after the other in a process where a body is used alone, and what is only read passes', async () => {
    const all = open();
    const first = use(sent(all, 20 * KIB));
    await eventually('the first to begin', () => first.begun);
    const other = use(sent(all, 20 * KIB, 'b'));
    expect((await bodyOf(sent(all, 20 * KIB)).read()).text).toHaveLength(20 * KIB);
    expect((await bodyOf(sent(all, 20 * KIB, 'b')).read()).text).toHaveLength(20 * KIB);
    expect(other.begun).toBe(false);
    first.end();
    await eventually('the other to begin', () => other.begun);
    other.end();
    await Promise.all([first.used, other.used]);
  });

  it('pass over one whose sender has left, which counts until then', async () => {
    const all = new RequestBodies({ bytes: 1_000 * KIB, bytesPerToken: 130 * KIB });
    const first = use(sent(all, 40 * KIB));
    await eventually('the first to begin', () => first.begun);
    const left = sent(all, 80 * KIB);
    const second = use(left);
    const gone = expect(second.used).rejects.toMatchObject({ code: 'invalid_request' });
    await turns();
    close(left);
    await expect(bodyOf(sending(all, { declared: 40 * KIB })).read()).rejects.toMatchObject(busy);
    first.end();
    await gone;
    expect(second.begun).toBe(false);
    expect((await bodyOf(sent(all, 80 * KIB)).read()).text).toHaveLength(80 * KIB);
  });

  /** Resolves when what is on its way has come. */
  async function turns(): Promise<void> {
    for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async function passing(look: () => boolean): Promise<void> {
    for (let count = 0; count < 1_000 && !look(); count += 1) await turns();
    expect(look()).toBe(true);
  }
});
