import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import { Refusal } from '@millrace/contracts';
import type { ClaimedAttempt } from '@millrace/jobs';
import { parseWorkflow } from '@millrace/workflow';
import { stageInputs } from '../attempt/input-staging';
import { isAltered, outputFaultOf } from '../attempt/output-fault';
import { EventPause } from './event-pause';
import { GatewayClient, type GatewayRequest } from './gateway.client';
import { RemoteAttempt, type AttemptAccess } from './remote-attempt';
import { StoreLinks } from './store-links';

const ID = '0197aa00-0000-7000-8000-00000000000a';
const CONTENT = Buffer.from('0123456789'.repeat(100_000));
const HALF = CONTENT.length / 2;
const graph = parseWorkflow(
  JSON.stringify({ '7': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: ID } } } } }),
);

let folder: string;
let server: Server;
let url: string;
/** Whether the store has links, or the gateway sends the bytes. */
let hasLinks: boolean;
/** What was asked for of the bytes. */
let ranges: (string | undefined)[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-remote-'));
  ranges = [];
  server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

function accessTo(gateway: string): AttemptAccess {
  const logger = { debug: () => undefined, warn: () => undefined };
  const client = new GatewayClient(gateway, 'token');
  return { client, partBytes: 1_024, eventPause: new EventPause(), links: new StoreLinks(logger), logger };
}

/** A gateway and a store whose first connection for bytes ends halfway. */
function respond({ url: path, headers }: IncomingMessage, response: ServerResponse): void {
  if (path !== '/store' && !path?.endsWith('/content')) {
    const hash = `blake3:${new Blake3Hasher().update(CONTENT).digest('hex')}`;
    const place = { filePath: 'in.bin', contentType: 'application/octet-stream', sizeBytes: CONTENT.length, hash };
    return void response.end(JSON.stringify({ ...place, url: hasLinks ? `${url}/store` : null }));
  }
  ranges.push(headers.range);
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const bytes = CONTENT.subarray(from);
  response.writeHead(from > 0 ? 206 : 200, { 'content-length': bytes.length });
  if (ranges.length > 1) response.end(bytes);
  else response.write(bytes.subarray(0, HALF), () => response.destroy());
}

it('an output whose bytes were altered on the way is none that its graph made wrong', async () => {
  const ask = (_: unknown, { path, method }: GatewayRequest): Promise<unknown> => {
    if (path === 'uploads') return Promise.resolve({ upload: 'u', url: null });
    if (method === 'PUT') return Promise.resolve({});
    return Promise.reject(new Refusal('hash_mismatch', 'Other bytes arrived; send them again.'));
  };
  const access = { ...accessTo(url), client: { ask } as unknown as GatewayClient };
  const { assets } = new RemoteAttempt(access, {} as ClaimedAttempt).parts.assets;
  const stored = assets.storeOutput('a', Readable.from([Buffer.from('abc')]), { name: 'a.png' });
  const error: unknown = await stored.catch((reason: unknown) => reason);
  expect([isAltered(error), outputFaultOf(error).status]).toEqual([true, 'failed']);
});

it.each([
  ['the store', true],
  ['the gateway', false],
])(
  'an input from %s whose connection ends halfway arrives, and what had come is not asked for again',
  async (_, links) => {
    hasLinks = links;
    const claimed = { jobId: ID, attempt: 1, leaseToken: ID } as ClaimedAttempt;
    const { content } = new RemoteAttempt(accessTo(url), claimed).parts.assets;
    const never = new AbortController().signal;
    const { inputs } = await stageInputs(content, 'account', graph, () => Promise.resolve(folder), never);
    expect(readFileSync(inputs[0]?.path ?? '').equals(CONTENT)).toBe(true);
    expect(ranges).toHaveLength(2);
    expect(Number(/^bytes=(\d+)-$/.exec(ranges[1] ?? '')?.[1])).toBeGreaterThan(0);
  },
);
