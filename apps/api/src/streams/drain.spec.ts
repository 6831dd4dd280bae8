import { Agent, createServer, get, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { drainPublic } from './drain';

const STREAMS = { allEnded: (): Promise<void> => Promise.resolve(), endAll: (): void => undefined };

let server: Server;
let agent: Agent;
let port: number;
beforeEach(async () => {
  server = createServer((_request, response) => response.end('here'));
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  agent.destroy();
  server.closeAllConnections();
});

/** What the answer says of its connection. */
function ask(): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    get({ port, agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer.headers.connection));
    }).on('error', reject);
  });
}

describe('draining the public listener', () => {
  it('serves the request of a connection that was kept open, and lets its client leave', async () => {
    expect(await ask()).toBe('keep-alive');
    const drained = drainPublic(server, STREAMS, 60_000);
    expect(await ask()).toBe('close');
    await drained;
    expect(server.listening).toBe(false);
  });

  it('closes a connection that stays idle, and takes no new one', async () => {
    await ask();
    await drainPublic(server, STREAMS, 0);
    await expect(ask()).rejects.toThrow();
  });
});
