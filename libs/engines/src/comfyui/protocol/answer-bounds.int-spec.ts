import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ComfyuiClient } from './comfyui.client';
import { Unreachable } from './http-transport';
import { MAX_ANSWER_BYTES, TooLarge } from './size-bounds';

const MIB = 1024 * 1024;
const ID = '6eed1942-df72-4c7c-a23f-6586fd434680';

describe('an answer of the server', () => {
  let server: Server;
  let client: ComfyuiClient;
  let answer: RequestListener;

  beforeEach(async () => {
    server = createServer((request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = new ComfyuiClient({ url, headers: {}, timeoutMs: 60_000 });
  });
  afterEach(async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  /** JSON with so many MiB in it. */
  const entryOf = (mib: number): string =>
    JSON.stringify({ [ID]: { outputs: { '1': { text: ['x'.repeat(mib * MIB)] } } } });

  const piece = Buffer.alloc(MIB, 'x');
  const withoutEnd: RequestListener = (_request, response) => {
    const go = (): void => {
      while (!response.destroyed && response.write(piece));
      response.once('drain', go);
    };
    go();
  };

  it('that nodes have filled is not read beyond its bound, however long it goes on', async () => {
    const gone = new Promise<void>((resolve) => {
      answer = (request, response) => {
        response.once('close', resolve);
        withoutEnd(request, response);
      };
    });
    await expect(client.history(ID)).rejects.toThrow(TooLarge);
    await gone;
    await expect(client.postPrompt('{}', 60_000)).rejects.toThrow(TooLarge);
  });

  it('may have the graph beside what its nodes have said: as Python writes it, which escapes what is not ASCII', async () => {
    answer = (_request, response) => response.end(entryOf(18));
    await expect(client.history(ID)).rejects.toThrow('larger than 16 MiB');
    answer = (_request, response) => response.end('{}');
    await client.postPrompt(JSON.stringify('ü'.repeat(MIB)), 60_000);
    answer = (_request, response) => response.end(entryOf(18));
    expect((await client.history(ID))?.outputs).toHaveLength(1);
  });

  it('to another question may be larger: it lists what is installed', async () => {
    answer = (_request, response) => response.end('x'.repeat(18 * MIB));
    expect(await client.objectInfo()).toHaveLength(18 * MIB);
  });

  it('to another question that is larger than any is as good as none, and says nothing of a run', async () => {
    answer = withoutEnd;
    const error: unknown = await client.queue().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Unreachable);
    expect(String(error)).toContain(`ComfyUI's answer to GET /queue is larger than ${MAX_ANSWER_BYTES / MIB} MiB.`);
  });
});
