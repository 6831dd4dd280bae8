import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { eventually } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const SOCKETS = 60;
const GRAPH_BYTES = 5_000_000;

let api: RunningApi;
let account: TestAccount;
let path: string;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_STALLED_CLIENT_SECONDS: '2', MILLRACE_MAX_CONNECTIONS_PER_ADDRESS: '70' });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  account = await api.account();
  const { '1': image, '2': save } = GRAPH;
  const note = 'v'.repeat(GRAPH_BYTES);
  const workflow = { '1': image, '2': { ...save, inputs: { ...save.inputs, note } } };
  const { body } = await api
    .client(account.key)
    .call<{ urls: { self: string } }>('POST', '/api/v2/jobs', { json: { workflow } });
  path = `${body.urls.self}/workflow`;
});
afterAll(() => api.close());

/** Sends a request and reads nothing. */
async function ask(): Promise<Socket> {
  const socket = connect(api.listeners.port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${account.key}\r\n\r\n`);
  return socket;
}

it('the graph of a job comes whole to who reads it', async () => {
  const { body } = await api.client(account.key).call<{ workflow: Record<string, { inputs: object }> }>('GET', path);
  expect(body.workflow['2']?.inputs).toMatchObject({ note: 'v'.repeat(GRAPH_BYTES) });
});

it('clients that read nothing of large answers hold little memory, and are cut off', async () => {
  const before = process.memoryUsage().rss;
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, ask));
  const first = await api.client(account.key).call('GET', '/api/v2/jobs');
  expect(first.status).toBe(200);
  // Sixty copies would be 300 MB, and with what PostgreSQL sends 600.
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  // A client that reads nothing learns of the end when it reads: what the kernel has, and then the end.
  await eventually('the unread answers are over', async () => {
    const { status } = await api.client(account.key).call('GET', path);
    return status === 200;
  });
  for (const socket of sockets) socket.destroy();
});

it('connections of one address are limited', async () => {
  const sockets = await Promise.all(
    Array.from({ length: 80 }, async () => {
      const socket = connect(api.listeners.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      await once(socket, 'connect');
      return socket;
    }),
  );
  await eventually('some are closed', () => Promise.resolve(sockets.filter((socket) => socket.closed).length >= 10));
  expect(sockets.filter((socket) => !socket.closed).length).toBeGreaterThan(40);
  for (const socket of sockets) socket.destroy();
});
