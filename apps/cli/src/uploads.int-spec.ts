import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blake3 } from '@napi-rs/blake-hash';
import { newId } from '@millrace/contracts';
import { FakeHost } from './fixtures/fake-host';
import { assetOf, jobOf } from './fixtures/sample-jobs';
import { type Answer, json, refusal, StandInService } from './fixtures/stand-in-service';
import { runCli } from './program';

const UPLOADS = '/api/v2/uploads';
const ID = newId();
const PART_BYTES = 16 * 1024 * 1024;
const TAIL = 'the last bytes';
/** The last part is no whole one. */
const SIZES = [PART_BYTES, PART_BYTES, TAIL.length];
let sizes = SIZES;
const SIZE = 2 * PART_BYTES + TAIL.length;

let service: StandInService;
let host: FakeHost;
let folder: string;
let film: string;
/** Numbers of the parts that the service has. */
let received: Set<number>;
let hash: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-cli-uploads-'));
  film = join(folder, 'film.mp4');
  // Zeros that take no room on the disk.
  const file = await open(film, 'w');
  await file.write(TAIL, 2 * PART_BYTES);
  await file.close();
  const content = Buffer.concat([Buffer.alloc(2 * PART_BYTES), Buffer.from(TAIL)]);
  hash = `blake3:${blake3(content).toString('hex')}`;
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  service = await StandInService.start();
  host = new FakeHost({ env: { MILLRACE_URL: service.url }, speed: 100_000 });
  received = new Set();
  sizes = SIZES;
  service
    .on(`POST ${UPLOADS}`, answerOf(201))
    .on(`GET ${UPLOADS}/${ID}`, answerOf(200))
    .on(`DELETE ${UPLOADS}/${ID}`, (response) => void response.writeHead(204).end())
    .on(`POST ${UPLOADS}/${ID}/complete`, json(201, { ...assetOf(service.url, 0), hash }));
  for (const number of [1, 2, 3]) service.on(`PUT /part/${number}`, taking(number));
});
afterEach(() => service.close());

/** The upload as it is now. Each reading has links of its own. */
function answerOf(status: number): Answer {
  return (response, request) => {
    const parts = sizes.map((size, index) => {
      const number = index + 1;
      const isThere = received.has(number);
      const url = isThere ? null : `${service.url}/part/${number}?link=${service.received.length}`;
      return { number, size_bytes: size, received: isThere, url };
    });
    const urls = { self: `${UPLOADS}/${ID}`, complete: `${UPLOADS}/${ID}/complete` };
    const fields = { id: ID, size_bytes: SIZE, expected_hash: hash, part_size_bytes: PART_BYTES, parts, urls };
    return json(status, { ...fields, expires_at: '2030-01-01T00:00:00.000Z' })(response, request);
  };
}

function taking(number: number): Answer {
  return (response) => {
    received.add(number);
    response.writeHead(204).end();
  };
}

const put = (...args: string[]): Promise<number> => runCli(['assets', 'put', film, ...args], host);
const cut: Answer = (response) => void response.destroy();
const tooManyOpen = refusal(429, 'rate_limited', 'This account has 20 uploads open.', {
  details: { open_uploads: 20, next_ends_at: '2030-01-01T00:00:00.000Z' },
  headers: { 'retry-after': '60' },
});
const partsSent = (): (string | undefined)[] =>
  service.received.filter(({ method }) => method === 'PUT').map(({ path }) => path.split('?')[0]);
const drops = (): number => service.requests(`DELETE ${UPLOADS}/${ID}`).length;

describe('a large file', () => {
  it('is sent in parts, with its hash announced, and becomes one asset', async () => {
    expect(await put('--tag', 'big', '--expires-in', '3600')).toBe(0);
    expect(JSON.parse(String(service.requests(`POST ${UPLOADS}`)[0]?.body))).toEqual({
      size_bytes: SIZE,
      content_type: 'video/mp4',
      file_path: 'film.mp4',
      expected_hash: hash,
      tags: ['big'],
      expires_in: 3600,
    });
    expect(partsSent()).toEqual(['/part/1', '/part/2', '/part/3']);
    const bodies = service.received.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    expect(bodies.map((body) => body.byteLength)).toEqual(SIZES);
    expect(String(bodies[2])).toBe(TAIL);
    expect(host.printed).toContain(hash);
    expect([service.requests('POST /api/v2/assets').length, drops()]).toEqual([0, 0]);
  });

  it('is an input of a run like any other', async () => {
    const graph = join(folder, 'graph.json');
    await writeFile(graph, '{"1":{"class_type":"LoadVideo","inputs":{"file":"x"}}}');
    service.on('POST /api/v2/jobs', json(201, jobOf()));
    expect(await runCli(['submit', graph, '--input', `1.file=${film}`], host)).toBe(0);
    expect(String(service.requests('POST /api/v2/jobs')[0]?.body)).toContain(assetOf(service.url, 0).id);
  });

  it('shows how far it is, on a terminal in one line that is gone at the end', async () => {
    expect(await put()).toBe(0);
    expect(host.noted).toMatch(/film\.mp4 +5\d% +1[6-9]\.\d MB of 33\.6 MB/);
    host = new FakeHost({ env: { MILLRACE_URL: service.url }, columns: 80, speed: 100_000 });
    received.clear();
    expect(await put()).toBe(0);
    expect(host.noted).toMatch(/\r\u001b\[K[^\n]*film\.mp4 +5\d% /);
    expect(host.noted.endsWith('\r\u001b[K')).toBe(true);
  });

  it('goes on with what is missing where the connection breaks, with fresh links', async () => {
    const lost: Answer = (response, request) => {
      // It arrives, and the answer is lost.
      received.add(2);
      return cut(response, request);
    };
    service.on('PUT /part/1', cut, refusal(403, 'forbidden', 'The link has expired.'), taking(1));
    service.on('PUT /part/2', lost);
    service.on(`GET ${UPLOADS}/${ID}`, cut, cut, cut, answerOf(200));
    expect(await put()).toBe(0);
    expect(partsSent()).toEqual(['/part/1', '/part/1', '/part/1', '/part/2', '/part/3']);
    expect(new Set(service.requests('PUT /part/1').map(({ path }) => path)).size).toBe(3);
    expect(host.noted).toContain('goes on');
  });

  it('is complete also where the answer is lost while the service joins the parts', async () => {
    const busy = refusal(409, 'upload_incomplete', 'Another request is completing the upload.');
    const done = json(200, { ...assetOf(service.url, 0), hash });
    service.on(`POST ${UPLOADS}/${ID}/complete`, cut, busy, done);
    expect(await put()).toBe(0);
    expect(drops()).toBe(0);
  });

  it('is complete also where the machine sleeps while the service joins the parts', async () => {
    const slept: Answer = (response) => {
      host.jump(7_200_000);
      response.destroy();
    };
    service.on(`POST ${UPLOADS}/${ID}/complete`, slept, json(200, { ...assetOf(service.url, 0), hash }));
    expect(await put()).toBe(0);
  });

  it('is given up, and dropped, where no part arrives for five minutes', async () => {
    const beganMs = host.nowMs();
    service.on('PUT /part/1', cut);
    expect(await put()).toBe(6);
    expect(host.nowMs() - beganMs).toBeGreaterThanOrEqual(300_000);
    expect(drops()).toBe(1);
  });

  it('is given up, and dropped, where fresh links are refused too', async () => {
    service.on('PUT /part/1', refusal(403, 'forbidden', 'The account is suspended.'));
    expect(await put()).toBe(3);
    expect([partsSent().length, drops()]).toEqual([3, 1]);
    expect(host.noted).toContain('The account is suspended.');
  });

  it('that changes while it is sent is refused, and the reader learns what to do', async () => {
    service.on(
      `POST ${UPLOADS}/${ID}/complete`,
      refusal(409, 'hash_mismatch', 'The bytes that arrived have another hash.'),
    );
    expect(await put()).toBe(3);
    expect(host.noted).toMatch(/changed while it was sent[^]*→ Send it again/);
    service.on('PUT /part/1', async (response, request) => {
      await truncate(film, PART_BYTES);
      return taking(1)(response, request);
    });
    received.clear();
    expect(await put()).toBe(2);
    expect(host.noted).toContain('has become shorter while it was sent');
    await truncate(film, SIZE);
  });

  it('of which Ctrl-C is pressed leaves nothing at the service', async () => {
    let press = (): void => host.pressCtrlC();
    service.on('PUT /part/2', () => press());
    expect(await put()).toBe(130);
    expect([drops(), service.requests(`POST ${UPLOADS}/${ID}/complete`).length]).toEqual([1, 0]);
    expect(host.noted).toMatch(/nothing of .*film\.mp4 is kept/);
    // While it is begun: the answer says what is to be dropped.
    service.on(`POST ${UPLOADS}`, (response, request) => {
      press();
      press = () => undefined;
      return answerOf(201)(response, request);
    });
    press = () => host.pressCtrlC();
    expect(await put()).toBe(130);
    expect(drops()).toBe(2);
  });

  it.each([
    ['it is begun', `POST ${UPLOADS}`],
    ['it is dropped', `DELETE ${UPLOADS}/${ID}`],
  ])('of which Ctrl-C is pressed twice is left at once, while %s', async (_when, route) => {
    service.on('PUT /part/1', () => host.pressCtrlC());
    service.on(route, () => undefined);
    const graph = join(folder, 'twice.json');
    await writeFile(graph, '{"1":{"class_type":"LoadVideo","inputs":{"file":"x"}}}');
    for (const begin of [put, () => runCli(['run', graph, '--input', `1.file=${film}`], host)]) {
      const asked = service.requests(route).length;
      const code = begin();
      await service.asked(route, asked + 1);
      host.pressCtrlC();
      host.pressCtrlC();
      expect(await code).toBe(130);
    }
    expect(host.noted).toMatch(/not taken back[^]*ends there by itself/);
  });

  it('of which Ctrl-C is pressed while the service is away says until when the rest is kept', async () => {
    service.on('PUT /part/2', () => host.pressCtrlC());
    service.on(`DELETE ${UPLOADS}/${ID}`, cut);
    expect(await put()).toBe(130);
    expect(host.noted).toContain('2030-01-01T00:00:00.000Z');
  });

  it.each([
    ['in flight', []],
    ['waited for after its answer was lost', [cut]],
  ])('of which Ctrl-C is pressed while its completion is %s is not said to be dropped', async (_, answers) => {
    // By now the service has made the asset, which stays although the upload is dropped.
    service.on(`POST ${UPLOADS}/${ID}/complete`, ...answers, () => host.pressCtrlC());
    expect(await put()).toBe(130);
    expect(host.noted).not.toContain('nothing of');
    expect(host.noted).toMatch(/film\.mp4 had arrived whole[^]*millrace assets ls/);
    expect(drops()).toBe(1);
  });

  it('whose upload is gone midway is refused, and not sent as a form', async () => {
    service.on('PUT /part/2', (response) => void response.writeHead(404).end('<Code>NoSuchUpload</Code>'));
    service.on(`GET ${UPLOADS}/${ID}`, refusal(404, 'not_found', `There is no upload ${ID}.`));
    expect(await put()).toBe(3);
    expect(host.noted).toMatch(/upload of .*film\.mp4 is gone[^]*→ Send the file again/);
    expect(service.requests('POST /api/v2/assets')).toHaveLength(0);
    // The store has none, and the service does not know.
    service.on(`GET ${UPLOADS}/${ID}`, answerOf(200));
    expect(await put()).toBe(3);
    expect(service.requests('POST /api/v2/assets')).toHaveLength(0);
  });

  it('goes as a form where too many uploads are open', async () => {
    service.on(`POST ${UPLOADS}`, tooManyOpen);
    service.on('POST /api/v2/assets', json(201, assetOf(service.url, 0)));
    expect(await put()).toBe(0);
    expect(service.requests('POST /api/v2/assets')).toHaveLength(1);
  });

  it('that fits no form is refused where too many uploads are open, and the reader learns when they end', async () => {
    service.on(`POST ${UPLOADS}`, tooManyOpen);
    service.on('POST /api/v2/assets', refusal(413, 'payload_too_large', 'At most 1000000 bytes.'));
    expect(await put()).toBe(3);
    expect(host.noted).toMatch(/has 20 uploads open[^]*→ .*2030-01-01T00:00:00.000Z.*DELETE \/api\/v2\/uploads\//);
    expect(host.noted).not.toContain('1000000');
  });

  it('goes as a form to a service that takes no parts', async () => {
    service.on(`POST ${UPLOADS}`, refusal(404, 'not_found', 'There is nothing at this address.'));
    service.on('POST /api/v2/assets', json(201, assetOf(service.url, 0)));
    expect(await put()).toBe(0);
    expect(service.requests('POST /api/v2/assets')).toHaveLength(1);
  });
});

it('a file that is too large for a form at this service goes in parts', async () => {
  const small = join(folder, 'small.bin');
  await writeFile(small, 'x'.repeat(2_000_000));
  sizes = [2_000_000];
  service.on('POST /api/v2/assets', refusal(413, 'payload_too_large', 'At most 1000000 bytes.'));
  expect(await runCli(['assets', 'put', small], host)).toBe(0);
  expect(service.requests(`POST ${UPLOADS}`)).toHaveLength(1);
});

it('a file that is too large for a form at a service that takes no parts is refused as that', async () => {
  const small = join(folder, 'small.bin');
  await writeFile(small, 'x'.repeat(2_000_000));
  service.on('POST /api/v2/assets', refusal(413, 'payload_too_large', 'At most 1000000 bytes.'));
  service.on(`POST ${UPLOADS}`, refusal(404, 'not_found', 'There is nothing at this address.'));
  expect(await runCli(['assets', 'put', small], host)).toBe(3);
  expect(host.noted).toContain('At most 1000000 bytes.');
});
