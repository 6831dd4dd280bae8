import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SILENCE_MS, arrivingBytes } from './arriving-bytes';

describe('a part of an upload', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('whose sender falls silent is refused with 408, and its connection is left for the answer', async () => {
    const request = new PassThrough();
    const reading = buffer(Readable.from(arrivingBytes(request, 1_000)));
    const refused = expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 408 });
    request.write('half of');
    await turn();
    jest.advanceTimersByTime(SILENCE_MS);
    await refused;
    expect([request.destroyed, jest.getTimerCount()]).toEqual([false, 0]);
  });

  it('is waited for as long as some of it comes', async () => {
    const request = new PassThrough();
    const reading = buffer(Readable.from(arrivingBytes(request, 1_000)));
    for (const piece of ['a', 'b', 'c']) {
      await turn();
      jest.advanceTimersByTime(SILENCE_MS - 1);
      request.write(piece);
    }
    request.end();
    expect(String(await reading)).toBe('abc');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('may be taken as slowly as the store likes', async () => {
    const request = Readable.from([Buffer.from('a'), Buffer.from('b')]);
    const bytes = arrivingBytes(request, 1_000);
    expect((await bytes.next()).value).toEqual(Buffer.from('a'));
    jest.advanceTimersByTime(10 * SILENCE_MS);
    expect((await bytes.next()).value).toEqual(Buffer.from('b'));
    expect((await bytes.next()).done).toBe(true);
  });

  it('that is refused midway is read to its end, so that its sender gets to the answer', async () => {
    const request = new PassThrough();
    const bytes = arrivingBytes(request, 1_000);
    request.write('too much');
    await bytes.next();
    await bytes.return(undefined);
    request.end('and more');
    await turn();
    expect([request.readableEnded, jest.getTimerCount()]).toEqual([true, 0]);
  });

  it('that breaks off fails', async () => {
    const request = new PassThrough();
    const reading = buffer(Readable.from(arrivingBytes(request, 1_000)));
    const refused = expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
    request.write('half of');
    await turn();
    request.destroy();
    await refused;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('that comes too slowly for long is refused with 408, however regularly it comes', async () => {
    const request = new PassThrough();
    const reading = buffer(Readable.from(arrivingBytes(request, 1_000)));
    const refused = expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 408 });
    for (let minute = 0; minute < 11; minute += 1) {
      request.write('a');
      await turn();
      jest.advanceTimersByTime(60_000);
      await turn();
    }
    await refused;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('that comes in ever so many tiny HTTP chunks is refused with 400, and what follows is dropped', async () => {
    const request = Object.assign(new PassThrough(), { arrival: { pieces: 70_000, bytes: 140_000 } });
    const reading = buffer(Readable.from(arrivingBytes(request, 1_000_000)));
    const refused = expect(reading).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
    request.write('ab');
    await refused;
    request.end('and more');
    await turn();
    expect([request.readableEnded, jest.getTimerCount()]).toEqual([true, 0]);
  });

  it('that is larger than it may be is refused, and what follows is dropped', async () => {
    const request = new PassThrough();
    const reading = buffer(Readable.from(arrivingBytes(request, 10)));
    const refused = expect(reading).rejects.toMatchObject({ code: 'payload_too_large' });
    request.write('more than ten');
    await refused;
    request.end('and more');
    await turn();
    expect([request.readableEnded, jest.getTimerCount()]).toEqual([true, 0]);
  });
});
