import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ComfyuiClient } from '../protocol';
import { cancelRun } from './cancel';

const ID = '6eed1942-df72-4c7c-a23f-6586fd434680';
const BOUNDS = { cancelEveryMs: 1, interruptGraceMs: 0 };
const MIB = 1024 * 1024;

describe('a run that is canceled', () => {
  let server: Server;
  let client: ComfyuiClient;
  /** MiB of an answer to one question; every other is answered with `{}`. */
  let large: { url: string; mib: number };

  beforeEach(async () => {
    server = createServer(({ method, url }, response) => {
      for (let mib = 0; method === 'GET' && url === large.url && mib < large.mib; mib += 1)
        response.write(Buffer.alloc(MIB, ' '));
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    client = new ComfyuiClient({ url, headers: {}, timeoutMs: 60_000 });
  });
  afterEach(async () => {
    client.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  it('has stopped where it has an entry in the history, also one that is too large to be read', async () => {
    large = { url: `/history/${ID}`, mib: 17 };
    expect(await cancelRun(client, ID, BOUNDS, () => false)).toBe('stopped');
  });

  it('may go on, for all that is known, where the queue is too large to be read', async () => {
    large = { url: '/queue', mib: 257 };
    expect(await cancelRun(client, ID, BOUNDS, () => false)).toBe('unanswered');
  });
});
