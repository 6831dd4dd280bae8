import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { BlobStoreError } from '@millrace/assets';
import type { ClaimedAttempt } from '@millrace/jobs';
import { parseWorkflow } from '@millrace/workflow';
import { OutOfReach } from '../attempt';
import { stageInputs } from '../attempt/input-staging';
import { EventPause } from './event-pause';
import { GatewayClient } from './gateway.client';
import { RemoteAttempt } from './remote-attempt';
import { RemoteModels } from './remote-models';
import { StoreLinks } from './store-links';

const [ID, OTHER] = ['0197aa00-0000-7000-8000-00000000000a', '0197aa00-0000-7000-8000-00000000000b'];
const CONTENT = Buffer.from('the bytes');
const nodeOf = (id: string): object => ({ class_type: 'L', inputs: { i: { __type: 'core/ASSET', info: { id } } } });
const graph = parseWorkflow(JSON.stringify({ '1': nodeOf(ID), '2': nodeOf(OTHER) }));
const claimed = { jobId: ID, attempt: 1, leaseToken: ID, accountId: 'scope', workflow: '{}' } as ClaimedAttempt;
const never = new AbortController().signal;

let folder: string;
let servers: Server[];
/** Where links of the store lead. */
let store: string;
/** Requests that reached the gateway for bytes, and those that were sent to the store. */
let byGateway: string[];
let byLink: string[];
let links: StoreLinks;
let attempt: RemoteAttempt;
let models: RemoteModels;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-links-'));
  servers = [];
  byGateway = [];
  byLink = [];
  const gateway = await serve((request, response) => void answer(request, response));
  store = await deadUrl();
  const logger = { debug: () => undefined, warn: () => undefined };
  links = new StoreLinks(logger);
  const client = new GatewayClient(gateway, 'token');
  attempt = new RemoteAttempt({ client, partBytes: 4, eventPause: new EventPause(), links, logger }, claimed);
  models = new RemoteModels(client, links);
  models.began(claimed);
  const send = globalThis.fetch;
  jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    if ((url as string).startsWith(store)) byLink.push((init?.method ?? '') + (url as string).slice(store.length));
    return send(url, init);
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  rmSync(folder, { recursive: true });
});

async function serve(respond: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(respond);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The URL of a server that is gone: its connections are refused. */
async function deadUrl(): Promise<string> {
  const url = await serve(() => undefined);
  const server = servers.pop();
  await new Promise((resolve) => server?.close(resolve));
  return url;
}

/** A gateway that gives links to a store for all bytes, and takes and sends them itself, too. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: path = '' } = request;
  const body = await buffer(request);
  const last = path.slice(path.indexOf('/attempts/1/') + '/attempts/1/'.length);
  if (/content$|parts/.test(path)) byGateway.push(`${method} ${last} ${body.toString()}`.trim());
  const json = (value: object): void => void response.end(JSON.stringify(value));
  if (path.endsWith('/content')) response.end(CONTENT);
  else if (path.includes('/inputs/')) {
    const hash = `blake3:${new Blake3Hasher().update(CONTENT).digest('hex')}`;
    json({ filePath: 'in.bin', contentType: 'a/b', sizeBytes: CONTENT.length, hash, url: `${store}/input` });
  } else if (path.includes('/models/')) json({ url: `${store}/model` });
  else if (path.endsWith('/uploads')) json({ upload: 'upload', url: `${store}/part` });
  else if (path.endsWith('/ends')) json({ receipt: 'r', contentType: 'a/b', hash: 'h', sizeBytes: 9 });
  else json({});
}

const stage = (): ReturnType<typeof stageInputs> =>
  stageInputs(attempt.parts.assets.content, 'account', graph, () => Promise.resolve(folder), never);
const storeOutput = (): Promise<unknown> =>
  attempt.parts.assets.assets.storeOutput('account', Readable.from([CONTENT]), { name: 'a.bin' });
const readModel = async (): Promise<string> =>
  text(await models.open({ accountId: 'scope', digest: 'a'.repeat(64) }, { start: 0, end: 9 }, never));

/** A store that answers every link with a status. */
const storeThatAnswers = async (status: number): Promise<void> => {
  store = await serve((request, response) => request.resume().on('end', () => response.writeHead(status).end('no')));
};

describe('a worker from which links of the store lead nowhere', () => {
  it('gets its inputs by the gateway, and tries one link for all of them', async () => {
    const { inputs } = await stage();
    for (const { path } of inputs) expect(readFileSync(path).equals(CONTENT)).toBe(true);
    expect(byGateway).toEqual([`GET inputs/${ID}/content`, `GET inputs/${OTHER}/content`]);
    expect(byLink).toEqual(['GET/input']);
  });

  it('sends its outputs by the gateway, each part once', async () => {
    expect(await storeOutput()).toMatchObject({ contentType: 'a/b' });
    expect(byGateway.map((request) => request.split(' ').slice(1).join(' '))).toEqual([
      'uploads/parts/1 the',
      'uploads/parts/2 byte',
      'uploads/parts/3 s',
    ]);
    expect(byLink).toEqual(['PUT/part']);
  });

  it('gets models of the library by the gateway', async () => {
    expect(await readModel()).toBe(CONTENT.toString());
    expect(await readModel()).toBe(CONTENT.toString());
    expect([byGateway.length, byLink.length]).toEqual([2, 1]);
  });

  it('is one where something between refuses them, too', async () => {
    await storeThatAnswers(403);
    await stage();
    await storeOutput();
    expect(await readModel()).toBe(CONTENT.toString());
    expect(byLink).toEqual(['GET/input']);
  });

  it('tries one again after five minutes', async () => {
    await readModel();
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 300_000);
    await readModel();
    expect(byLink).toHaveLength(2);
  });

  it('does not reach its inputs, and is no fault of the store, where the gateway breaks off as well', async () => {
    jest.spyOn(GatewayClient.prototype, 'download').mockRejectedValue(new OutOfReach('no answer'));
    await expect(stage()).rejects.toThrow(OutOfReach);
  });
});

it('a store that has too much to do is tried again with the next request, and the gateway meanwhile', async () => {
  await storeThatAnswers(503);
  expect([await readModel(), await readModel()]).toEqual([CONTENT.toString(), CONTENT.toString()]);
  expect([byGateway.length, byLink.length]).toEqual([2, 2]);
});

it('a store that is away for the gateway, too, is reached by a link when it is back', async () => {
  const away = (): Promise<string> => Promise.reject(new OutOfReach('no answer'));
  const unreachable = (): Promise<string> => Promise.reject(new BlobStoreError('unreachable', 'no answer'));
  await expect(links.orGateway('http://store', away, unreachable)).rejects.toMatchObject({ fault: 'unreachable' });
  const byLinkAgain = (): Promise<string> => Promise.resolve('by link');
  expect(await links.orGateway('http://store', byLinkAgain, () => Promise.resolve('by the gateway'))).toBe('by link');
});

it('a link that is answered and then stalls is followed by the gateway, for all bytes', async () => {
  store = await serve((_request, response) => void response.writeHead(200).write('the'));
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    const bytes = await models.open({ accountId: 'scope', digest: 'a'.repeat(64) }, { start: 0, end: 9 }, never);
    const stalled = expect(text(bytes)).rejects.toThrow(OutOfReach);
    await jest.advanceTimersByTimeAsync(20_000);
    await stalled;
  } finally {
    jest.useRealTimers();
  }
  expect(await readModel()).toBe(CONTENT.toString());
  await stage();
  expect(byLink).toEqual(['GET/model']);
});

it('a store that does not have the bytes is answered by it, not by the gateway', async () => {
  await storeThatAnswers(404);
  await expect(readModel()).rejects.toMatchObject({ fault: 'missing' });
  expect(byGateway).toEqual([]);
});

it('a request that its caller ended says nothing of links', async () => {
  const ending = new AbortController();
  const byLinkEnded = (): Promise<string> => {
    ending.abort();
    return Promise.reject(new OutOfReach('ended'));
  };
  const other = (): Promise<string> => Promise.resolve('by the gateway');
  await expect(links.orGateway('http://store', byLinkEnded, other, ending.signal)).rejects.toThrow('ended');
  expect(await links.orGateway('http://store', () => Promise.resolve('by link'), other)).toBe('by link');
});

it('what the store says of bytes that it took is not said again by the gateway', async () => {
  const full = (): Promise<string> => Promise.reject(new BlobStoreError('full', 'no room'));
  await expect(links.orGateway('http://store', full, () => Promise.resolve(''))).rejects.toThrow('no room');
});
