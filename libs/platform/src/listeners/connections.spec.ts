import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Connections } from './connections';

/** A connection from an address. */
class FakeSocket extends EventEmitter {
  destroyed = false;

  constructor(readonly remoteAddress: string) {
    super();
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('the connections of a listener', () => {
  const LIMITS = { connections: 10, connectionsPerAddress: 1, stalledMs: 60_000 };
  it.each([
    ['one IPv4 address', ['192.0.2.1', '192.0.2.1'], [false, true]],
    ['IPv4 addresses', ['192.0.2.1', '192.0.2.2'], [false, false]],
    ['IPv4 addresses on a listener of both families', ['::ffff:192.0.2.1', '::ffff:192.0.2.2'], [false, false]],
    ['one IPv4 address in both forms', ['::ffff:192.0.2.1', '192.0.2.1'], [false, true]],
  ])('are limited by client: %s', (_, addresses, refused) => {
    const server = new EventEmitter();
    new Connections(LIMITS).watch(server as Server);
    const sockets = addresses.map((address) => new FakeSocket(address));
    for (const socket of sockets) server.emit('connection', socket);
    server.emit('close');
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual(refused);
  });
});
