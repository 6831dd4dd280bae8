import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import { Turns } from '@millrace/platform';
import { eventually } from '@millrace/testing';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';
import { Destinations } from '../jobs';
import { VisitorGuard } from './visitor.guard';

/** Two of the bodies, and not three. */
const BYTES_IN_FLIGHT = 100_000;
const MINUTE_MS = 60_000;
const graph = { ...GRAPH, '2': { ...GRAPH['2'], _meta: { title: 'x'.repeat(40_000) } } };

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_BODY_BYTES_IN_FLIGHT_PER_ACCOUNT: String(BYTES_IN_FLIGHT) });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
});
afterAll(() => api.close());
beforeEach(async () => {
  account = await api.account();
});
afterEach(() => jest.restoreAllMocks());

/** A minute passes, and a key is revoked meanwhile. */
async function revoke(keyId: string): Promise<void> {
  const { status } = await api.client(account.key).call('DELETE', `/platform/v1/api-keys/${keyId}`);
  expect(status).toBe(204);
  const now = performance.now.bind(performance);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + MINUTE_MS);
}

const jobs = () => api.test.database.models.job.count({ where: { accountId: account.id } });
const runJob = { name: 'run_job', arguments: { workflow: graph, wait_seconds: 0 } };
const REQUESTS = [
  ['a submission', '/api/v2/jobs', { workflow: graph }, 1],
  ['a batch', '/api/v2/batches', { jobs: [{ workflow: graph }] }, 1],
  // The message is read in turn, too.
  ['a tool call', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: runJob }, 2],
] as const;

function send(path: string, body: object, key = account.key): ClientRequest {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return request(`${api.publicUrl}${path}`, { method: 'POST', agent: false, headers }).end(JSON.stringify(body));
}

async function answerOf(sent: ClientRequest): Promise<{ status: number | undefined; text: string }> {
  const [message] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { statusCode?: number }];
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return { status: message.statusCode, text: Buffer.concat(chunks).toString() };
}

/** The next request that has its turn keeps it until `go` is called. */
function holdTurn(): { isHeld: () => boolean; go: () => void } {
  const held = { isHeld: false, go: () => undefined as void };
  jest.spyOn(Destinations.prototype, 'of').mockImplementationOnce(async function (this: Destinations, ...args) {
    held.isHeld = true;
    await new Promise<void>((resolve) => (held.go = resolve));
    return this.of(...args);
  });
  return { isHeld: () => held.isHeld, go: () => held.go() };
}

it.each(REQUESTS)(
  '%s whose sender left before its turn came keeps its bytes until then, and makes no job',
  async (...of) => {
    const [, path, body, turnsEach] = of;
    const turn = holdTurn();
    const guard = jest.spyOn(VisitorGuard.prototype, 'canActivate');
    const turns = jest.spyOn(Turns.prototype, 'run');
    const first = answerOf(send(path, body));
    await eventually('the first has its turn', turn.isHeld);
    const second = send(path, body).on('error', () => undefined);
    await eventually('the second waits', () => turns.mock.calls.length > turnsEach);
    second.destroy();
    const context = guard.mock.calls[1]?.[0] as ExecutionContext;
    await eventually('it has left', () => context.switchToHttp().getResponse<Response>().closed);
    const third = await answerOf(send(path, body));
    expect([third.status, third.text]).toEqual([429, expect.stringContaining('that are being processed')]);
    turn.go();
    expect((await first).text).toMatch(/"status\\?":/);
    // It comes after the second, which counts until it has had its turn.
    await eventually('another is taken', async () => (await answerOf(send(path, body))).status !== 429);
    expect(await jobs()).toBe(2);
  },
);

it.each(REQUESTS)('%s whose key is revoked before its turn comes makes no job', async (...of) => {
  const [, path, body, turnsEach] = of;
  const turn = holdTurn();
  const turns = jest.spyOn(Turns.prototype, 'run');
  const first = answerOf(send(path, body));
  await eventually('the first has its turn', turn.isHeld);
  const { keyId, key } = await api.key(account.id);
  const second = answerOf(send(path, body, key));
  await eventually('the second waits', () => turns.mock.calls.length > turnsEach);
  await revoke(keyId);
  turn.go();
  await first;
  expect(await second).toMatchObject({ status: 401, text: expect.stringContaining('unauthorized') as string });
  expect(await jobs()).toBe(1);
});

it.each(REQUESTS)('%s whose key is revoked while it is examined makes no job', async (...of) => {
  const [, path, body] = of;
  const turn = holdTurn();
  const { keyId, key } = await api.key(account.id);
  const sent = answerOf(send(path, body, key));
  await eventually('it has its turn', turn.isHeld);
  await revoke(keyId);
  turn.go();
  expect((await sent).text).toContain('unauthorized');
  expect(await jobs()).toBe(0);
});
