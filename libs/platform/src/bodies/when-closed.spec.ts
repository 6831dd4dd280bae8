import { createServer, get, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { whenClosed } from './when-closed';

/** That Node takes without a warning. */
const LISTENERS = 10;

it('layers that wait for the end of an answer share one listener, and each is called, in their order', async () => {
  const called: number[] = [];
  let most = 0;
  const answer = async (response: ServerResponse): Promise<void> => {
    for (let layer = 0; layer < 6; layer += 1) whenClosed(response, () => called.push(layer));
    const sent = pipeline(Readable.from([Buffer.alloc(1_000_000)]), response);
    most = response.listenerCount('close');
    await sent;
  };
  const server = createServer((_, response) => void answer(response)).listen(0);
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, agent: false });
  const [message] = (await once(request, 'response')) as [Readable];
  message.resume();
  await once(message, 'end');
  server.close();
  await once(server, 'close');
  expect(most).toBeLessThanOrEqual(LISTENERS);
  expect(called).toEqual([0, 1, 2, 3, 4, 5]);
});
