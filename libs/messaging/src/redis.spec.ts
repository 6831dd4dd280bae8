import { createServer, type AddressInfo, type Server } from 'node:net';
import { createLogger } from '@millrace/platform';
import { REPLICA_PAUSE_MS, RedisConnections } from './redis';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that reports its eviction policy and accepts everything else. @returns its URL. */
async function serverWith(policy: string, mode = 'standalone'): Promise<string> {
  const info = `# Server\r\nredis_mode:${mode}\r\n# Memory\r\nmaxmemory_policy:${policy}\r\n`;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      for (const command of bytes.toString().split(/(?=\*\d+\r\n\$)/)) {
        const asksForInfo = /^\*\d+\r\n\$4\r\ninfo\r\n/i.test(command);
        socket.write(asksForInfo ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that takes connections and never says a word. @returns its URL. */
async function silentServer(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server that was made a replica of another one and keeps its connections. @returns its URL, and how many connections were made to it. */
async function demotedServer(): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      for (const command of bytes.toString().split(/(?=\*\d+\r\n\$)/)) {
        const writes = /^\*\d+\r\n\$3\r\nset\r\n/i.test(command);
        socket.write(writes ? "-READONLY You can't write against a read only replica.\r\n" : '+OK\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

const asked = (url: string): Promise<void> => new RedisConnections(url, createLogger('test', 'silent')).assertUsable();

describe('a process that starts', () => {
  it('refuses a Redis that would evict keys, with the cure', async () => {
    const url = await serverWith('allkeys-lru');
    await expect(asked(url)).rejects.toThrow('maxmemory-policy allkeys-lru; set it to noeviction');
  });

  it.each(['cluster', 'sentinel'])('refuses one in %s mode, with what it takes instead', async (mode) => {
    const url = await serverWith('noeviction', mode);
    await expect(asked(url)).rejects.toThrow(`Redis runs in ${mode} mode, which is not supported`);
  });

  it('takes one that keeps them', async () => {
    await expect(asked(await serverWith('noeviction'))).resolves.toBeUndefined();
  });

  it('does not wait for one that is away: work waits in PostgreSQL', async () => {
    const url = await serverWith('noeviction');
    await new Promise((resolve) => servers.splice(0)[0]?.close(resolve));
    await expect(asked(url)).resolves.toBeUndefined();
  });

  it('does not wait for one that takes connections and stays silent', async () => {
    await expect(asked(await silentServer())).resolves.toBeUndefined();
  });
});

/** Timers that would keep the process from its end. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

describe('a process that closes its connections', () => {
  const connections = (url: string): RedisConnections => new RedisConnections(url, createLogger('test', 'silent'));

  it('keeps nothing open, not even of the one that it asked at its start', async () => {
    const before = timers();
    const redis = connections(await serverWith('noeviction'));
    await redis.assertUsable();
    await new Promise((resolve) => redis.producer().once('ready', resolve));
    redis.subscriber();
    await redis.close();
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('does so while the server is away', async () => {
    const url = await serverWith('noeviction');
    await new Promise((resolve) => servers.splice(0)[0]?.close(resolve));
    const redis = connections(url);
    const producer = redis.producer();
    await new Promise((resolve) => producer.once('reconnecting', resolve));
    await expect(redis.close()).resolves.toBeUndefined();
  });
});

describe('a connection to a server that has become a replica', () => {
  let redis: RedisConnections;
  afterEach(() => redis.close());

  it.each(['producer', 'consumer'] as const)(
    'is left for a new one, which may lead to the new primary: of a %s',
    async (kind) => {
      const { url, connections } = await demotedServer();
      redis = new RedisConnections(url, createLogger('test', 'silent'));
      const connection = redis[kind]();
      if (connection.status !== 'ready') await new Promise((resolve) => connection.once('ready', resolve));
      const left = new Promise((resolve) => connection.once('reconnecting', resolve));
      // All that were sent together are refused; that is one reason to leave.
      const writes = await Promise.allSettled([connection.set('a', '1'), connection.set('b', '1')]);
      expect(writes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await expect(left).resolves.toBe(REPLICA_PAUSE_MS);
      await new Promise((resolve) => connection.once('ready', resolve));
      expect(connections()).toBe(2);
    },
  );

  it('stays where a command is refused for another reason', async () => {
    redis = new RedisConnections(await serverWith('noeviction'), createLogger('test', 'silent'));
    expect(redis.producer().options.reconnectOnError?.(new Error('WRONGTYPE Operation against a key'))).toBe(false);
  });
});
