import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { withContext } from '../fixtures/with-context';
import { readUploadForm } from './upload-form';

const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n';

/** An upload whose bytes are sent by hand, and what was taken of its file. */
function sending(): { request: PassThrough; reading: ReturnType<typeof readUploadForm<string>>; dropped: string[] } {
  const request = new PassThrough();
  const message = Object.assign(request, {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    complete: true,
  });
  withContext(message);
  const dropped: string[] = [];
  const take = async (file: Readable): Promise<string> => {
    let text = '';
    for await (const chunk of file) text += String(chunk);
    return text;
  };
  const drop = (text: string): Promise<void> => Promise.resolve(void dropped.push(text));
  return { request, dropped, reading: readUploadForm(message as unknown as IncomingMessage, 1_000, take, drop) };
}

describe('an upload', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => jest.useRealTimers());
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const written = (request: PassThrough, text: string): Promise<void> =>
    new Promise((resolve) => request.write(text, () => resolve()));

  it('whose sender falls silent is refused with 408, and the connection is closed', async () => {
    const { request, reading } = sending();
    await written(request, `${HEAD}half of`);
    await turn();
    jest.advanceTimersByTime(120_000);
    await expect(reading).rejects.toMatchObject({
      code: 'invalid_request',
      status: 408,
      headers: { Connection: 'close' },
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is waited for as long as some of it comes', async () => {
    const { request, reading } = sending();
    for (const piece of [HEAD, 'a', 'b', 'c', '\r\n--b--\r\n']) {
      jest.advanceTimersByTime(119_000);
      await written(request, piece);
      await turn();
    }
    request.end();
    expect(await reading).toEqual({ fields: {}, file: 'abc' });
    expect(jest.getTimerCount()).toBe(0);
  });
});
