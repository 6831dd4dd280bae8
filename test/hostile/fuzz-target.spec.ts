import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FuzzTarget } from './support/fuzz-target';

/** No test waits for longer than this where there is no answer. */
const HANG_MS = 300;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
});

/** An api process whose requests are answered by this. */
async function targetOf(listener: RequestListener): Promise<FuzzTarget> {
  const listening = createServer(listener);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return new FuzzTarget({ pid: 1, publicUrl, exitCode: null, lines: [] }, 'a key', HANG_MS);
}

const whole = (target: FuzzTarget): Buffer[] => [target.requestOf('POST', '/api/v2/jobs', {}, '{}')];

describe('a whole request', () => {
  it('that is never answered is said to hang', async () => {
    const target = await targetOf(() => undefined);
    await expect(target.ask(whole(target))).rejects.toThrow('it hangs: "POST /api/v2/jobs');
  });

  it('whose connection is closed without an answer fails', async () => {
    const target = await targetOf(({ socket }) => socket.destroy());
    await expect(target.ask(whole(target))).rejects.toThrow('closed without an answer: POST /api/v2/jobs');
  });

  it('that is answered is not ended by its sender before', async () => {
    const target = await targetOf((_, response) => response.writeHead(200, { 'X-Request-Id': 'r' }).end());
    expect(await target.ask(whole(target))).toMatchObject({ status: 200 });
  });
});

it('what its sender ends may be closed without an answer', async () => {
  const target = await targetOf(() => undefined);
  expect(await target.send(whole(target), { cutOff: true })).toBeUndefined();
});
