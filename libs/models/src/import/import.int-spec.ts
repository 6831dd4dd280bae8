import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Prisma } from '@prisma/client';
import { blake3 } from '@napi-rs/blake-hash';
import { wholeAccount } from '@millrace/assets';
import { safetensorsFile } from '../fixtures/model-files';
import { ModelWorld, PART_BYTES, type LibraryProcess } from '../fixtures/model-world';
import type { Model } from '../library';
import { ImportStore, claimSql } from './import.store';

const FILE = safetensorsFile({ 'double_blocks.0.weight': [100] });
const ENV = { MILLRACE_MODEL_IMPORT_HOSTS: '127.0.0.1', MILLRACE_MODEL_IMPORT_NETWORKS: '127.0.0.0/8' };

let world: ModelWorld;
let server: Server;
let origin: string;
let here: LibraryProcess;
let accountId: string;
/** Ranges that were asked for. */
let asked: string[];
let respond: (request: IncomingMessage, response: ServerResponse) => void;

/** Sends the range that is asked for. */
function sendRange(file: Buffer, etag = '"1"'): typeof respond {
  return (request, response) => {
    const [, start = 0, last = 0] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')?.map(Number) ?? [];
    if (request.headers['if-range'] !== undefined && request.headers['if-range'] !== etag) {
      response.writeHead(200).end(file);
      return;
    }
    const end = Math.min(last + 1, file.length);
    const headers = { 'content-range': `bytes ${start}-${end - 1}/${file.length}`, etag };
    response.writeHead(206, headers).end(file.subarray(start, end));
  };
}

beforeAll(async () => {
  world = await ModelWorld.open();
  server = createServer((request, response) => {
    asked.push(request.headers.range ?? '');
    respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await here.chores.close();
  await new Promise((resolve) => server.close(resolve));
  await world.drop();
});
beforeEach(async () => {
  asked = [];
  respond = sendRange(FILE);
  here = world.process(ENV);
  accountId = await world.account();
});
afterEach(() => here.chores.close());

const importOf = (url = `${origin}/a`, expectedHash: string | null = null, name = 'a.safetensors'): Promise<Model> =>
  world.test.database.transaction((tx) =>
    here.library.add(tx, world.draft(accountId, { sourceUrl: url, expectedHash, name })),
  );
const run = (): Promise<number> => world.run(here, 'import-models');
const now = ({ id }: Model): Promise<Model> => here.library.get(accountId, id);
/** Let it be due now. */
const makeDue = ({ id }: Model): Promise<number> =>
  world.test.database.execute(
    Prisma.sql`UPDATE models SET import_due_at = now() - interval '1 s' WHERE id = ${id}::uuid`,
  );

describe('an import', () => {
  it('fetches the file in parts, and is ready with its bytes', async () => {
    const model = await importOf();
    expect(model).toMatchObject({ state: 'importing', sizeBytes: null });
    expect(await run()).toBe(1);
    const ready = await now(model);
    expect(ready).toMatchObject({ state: 'ready', kind: 'diffusion_model', sizeBytes: FILE.length });
    expect(ready).toMatchObject({ digest: blake3(FILE).toString('hex'), receivedBytes: FILE.length });
    expect(await world.read(here, accountId, ready.digest ?? '', 0, FILE.length)).toEqual(FILE);
    expect(asked).toHaveLength(1 + Math.ceil(FILE.length / PART_BYTES));
  });

  it('goes on with the missing parts after its process died, and fetches none twice', async () => {
    const model = await importOf();
    const whole = sendRange(FILE);
    // The third part breaks off, again and again.
    respond = (request, response) =>
      request.headers.range === `bytes=${2 * PART_BYTES}-${3 * PART_BYTES - 1}`
        ? void response.destroy()
        : whole(request, response);
    expect(await run()).toBe(0);
    expect(await now(model)).toMatchObject({ state: 'importing', receivedBytes: 2 * PART_BYTES });
    // It is not due at once.
    const before = asked.length;
    expect(await run()).toBe(0);
    expect(asked).toHaveLength(before);
    respond = whole;
    asked = [];
    await makeDue(model);
    const another = world.process(ENV);
    expect(await world.run(another, 'import-models')).toBe(1);
    await another.chores.close();
    expect(await now(model)).toMatchObject({ state: 'ready' });
    expect(asked).toHaveLength(Math.ceil(FILE.length / PART_BYTES) - 2);
  });

  it('that another process has is left alone, until its lease ends', async () => {
    const model = await importOf();
    await world.test.database.execute(Prisma.sql`
      UPDATE models SET import_attempt = 1, import_due_at = now() + interval '60 seconds' WHERE id = ${model.id}::uuid`);
    expect(await run()).toBe(0);
    await makeDue(model);
    expect(await run()).toBe(1);
    expect(await now(model)).toMatchObject({ state: 'ready' });
  });

  it('of an account has its turn after those of others, however many it has', async () => {
    const accounts = [accountId, await world.account(), await world.account()].sort();
    const [busy = '', ...others] = accounts;
    for (const name of ['1', '2', '3']) {
      accountId = busy;
      await importOf(`${origin}/busy`, null, `${name}.safetensors`);
    }
    for (accountId of others) await importOf(`${origin}/other`);
    const whole = sendRange(FILE);
    const turns: (string | undefined)[] = [];
    respond = (request, response) => {
      if (request.headers.range === 'bytes=0-0') turns.push(request.url);
      whole(request, response);
    };
    expect(await run()).toBe(5);
    expect(turns).toEqual(['/busy', '/other', '/other', '/busy', '/busy']);
  });

  it('is found by what waits, however many models there are', async () => {
    await world.test.database.execute(Prisma.sql`
      INSERT INTO models (id, account_id, folder, name, format, state, problem)
      SELECT gen_random_uuid(), ${accountId}::uuid, 'checkpoints', n || '.safetensors', 'safetensors', 'failed', 'none' FROM generate_series(1, 20000) n`);
    await world.test.database.execute(Prisma.sql`ANALYZE models`);
    const [row] = await world.test.database.query<object>(Prisma.sql`EXPLAIN (FORMAT JSON) ${claimSql(60, null)}`);
    const plan = JSON.stringify(row);
    expect(plan).toContain('models_import_idx');
    expect(plan).not.toMatch(/"Seq Scan"[^}]*"Relation Name":"models"/);
  });

  it('of an earlier attempt writes nothing more', async () => {
    const model = await importOf();
    const whole = sendRange(FILE);
    let stolen = false;
    respond = (request, response) => {
      if (stolen) return whole(request, response);
      stolen = true;
      void world.test.database
        .execute(Prisma.sql`UPDATE models SET import_attempt = import_attempt + 1 WHERE id = ${model.id}::uuid`)
        .then(() => whole(request, response));
    };
    await run();
    expect(await now(model)).toMatchObject({ state: 'importing', uploadId: null, receivedBytes: 0 });
    expect(asked).toHaveLength(1);
    expect(await world.test.database.models.resumableUpload.count({ where: { accountId } })).toBe(0);
  });

  it('whose begin fails in the middle holds no room that it does not use', async () => {
    await world.test.database.execute(Prisma.sql`
      UPDATE accounts SET storage_bytes = ${Math.floor(FILE.length * 1.5)} WHERE id = ${accountId}::uuid`);
    const model = await importOf();
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    const begin = jest.spyOn(ImportStore.prototype, 'begin').mockRejectedValueOnce(reset);
    await run();
    begin.mockRestore();
    expect(await world.test.database.models.storageReservation.count({ where: { accountId } })).toBe(0);
    await makeDue(model);
    await run();
    expect(await now(model)).toMatchObject({ state: 'ready' });
  });

  it.each([
    ['blake3', `blake3:${blake3(FILE).toString('hex')}`, 'ready'],
    ['SHA-256', `sha256:${createHash('sha256').update(FILE).digest('hex')}`, 'ready'],
    ['a wrong blake3', `blake3:${'0'.repeat(64)}`, 'failed'],
    ['a wrong SHA-256', `sha256:${'0'.repeat(64)}`, 'failed'],
  ])('is checked against %s', async (_, hash, state) => {
    const model = await importOf(`${origin}/a`, hash);
    await run();
    expect(await now(model)).toMatchObject({ state });
    const bytes = await world.test.database.models.asset.count({ where: { accountId } });
    expect(bytes).toBe(state === 'ready' ? 1 : 0);
  });

  const end = (status: number, headers: Record<string, string> = {}): typeof respond => {
    return (_request, response) => void response.writeHead(status, headers).end();
  };
  it.each([
    ['is not there', () => end(404), 'The source answers 404.'],
    ['is forbidden', () => end(403), 'The source answers 403.'],
    ['is empty', () => end(416), 'The file at the source is empty.'],
    ['comes whole', () => end(200), 'The source does not send parts of a file.'],
    [
      'comes as another part',
      () => end(206, { 'content-range': 'bytes 5-6/9' }),
      'The source does not send parts of a file.',
    ],
    [
      'is larger than can be stored',
      () => end(206, { 'content-range': 'bytes 0-0/9999999999' }),
      expect.stringContaining('100000 bytes') as string,
    ],
    [
      'is no model',
      () => sendRange(Buffer.alloc(200, 'x')),
      expect.stringContaining('is no safetensors file') as string,
    ],
    [
      'redirects to a host that is not allowed',
      () => end(302, { location: 'https://elsewhere.example.com/a' }),
      expect.stringContaining('none of the hosts that the operator allows') as string,
    ],
    [
      'redirects to a private address',
      () => end(302, { location: 'http://169.254.169.254/latest/meta-data/' }),
      'The URL must name a public address.',
    ],
    ['redirects for ever', () => end(302, { location: '/b' }), 'The source redirects more than 5 times.'],
  ])('of a file that %s fails and says so', async (_, response, problem) => {
    respond = response();
    const model = await importOf();
    await run();
    expect(await now(model)).toMatchObject({ state: 'failed', problem });
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(0);
    expect(await world.test.database.models.resumableUpload.count({ where: { accountId } })).toBe(0);
  });

  it('follows a redirect on an allowed host', async () => {
    const whole = sendRange(FILE);
    respond = (request, response) =>
      request.url === '/a' ? end(307, { location: '/b' })(request, response) : whole(request, response);
    const model = await importOf();
    await run();
    expect(await now(model)).toMatchObject({ state: 'ready' });
  });

  it.each([
    ['a source that says so', true],
    ['a source that ignores for which version it is asked', false],
  ])('of a file that changes meanwhile fails, at %s', async (_, honours) => {
    const model = await importOf();
    const before = sendRange(FILE);
    const after = sendRange(FILE, '"2"');
    respond = (request, response) => {
      if (!honours) delete request.headers['if-range'];
      (asked.length > 3 ? after : before)(request, response);
    };
    await run();
    const problem = 'The file at the source has changed while it was imported.';
    expect(await now(model)).toMatchObject({ state: 'failed', problem });
  });

  it('is tried again after an error of the server, and given up after many', async () => {
    respond = end(503);
    const model = await importOf();
    for (let tries = 1; tries < 20; tries += 1) {
      await run();
      expect(await now(model)).toMatchObject({ state: 'importing' });
      await makeDue(model);
    }
    await run();
    expect(await now(model)).toMatchObject({ state: 'failed', problem: 'The source answers 503.' });
  });

  it('waits while the account has as many uploads open as it may, however long', async () => {
    const begun: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      begun.push((await world.begin(here, world.draft(accountId, { name: `${n}.safetensors` }), 10)).uploadId ?? '');
    }
    const model = await importOf();
    for (let tries = 0; tries < 13; tries += 1) {
      await run();
      expect(await now(model)).toMatchObject({ state: 'importing' });
      await makeDue(model);
    }
    await world.assets.resumable.abort(wholeAccount(accountId), begun[0] ?? '');
    await run();
    expect(await now(model)).toMatchObject({ state: 'ready' });
  });

  it('that has begun goes on before others of its account begin', async () => {
    const [first, begun] = [await importOf(), await importOf(`${origin}/b`, null, 'b.safetensors')];
    const upload = await world.begin(here, world.draft(accountId, { name: 'c.safetensors' }), FILE.length);
    await world.test.database.execute(Prisma.sql`
      UPDATE models SET import_due_at = now(), upload_id = ${upload.uploadId}::uuid, size_bytes = ${FILE.length}
      WHERE id = ${begun.id}::uuid`);
    await makeDue(first);
    const urls: (string | undefined)[] = [];
    const whole = sendRange(FILE);
    respond = (request, response) => {
      urls.push(request.url);
      whole(request, response);
    };
    await run();
    expect(urls[0]).toBe('/b');
  });

  it('leaves no bytes when it is given up after they had arrived', async () => {
    const model = await importOf(`${origin}/a`, `sha256:${createHash('sha256').update(FILE).digest('hex')}`);
    const openPart = jest.spyOn(world.assets.content, 'openPart').mockRejectedValue(new Error('the store is slow'));
    for (let tries = 1; tries < 20; tries += 1) {
      await run();
      await makeDue(model);
    }
    await run();
    openPart.mockRestore();
    expect(await now(model)).toMatchObject({ state: 'failed' });
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(0);
  });

  it('begins again when its upload has expired', async () => {
    const model = await importOf();
    const whole = sendRange(FILE);
    respond = (request, response) => (asked.length > 2 ? void response.destroy() : whole(request, response));
    await run();
    const { uploadId } = await now(model);
    await world.assets.resumable.abort(wholeAccount(accountId), uploadId ?? '');
    respond = whole;
    for (let tries = 0; tries < 2; tries += 1) {
      await makeDue(model);
      await run();
    }
    expect(await now(model)).toMatchObject({ state: 'ready' });
  });

  it('fails when its upload has expired twice: its source is too slow', async () => {
    const model = await importOf();
    const whole = sendRange(FILE);
    respond = (request, response) => (asked.length > 2 ? void response.destroy() : whole(request, response));
    const expire = async (): Promise<void> => {
      const { uploadId } = await now(model);
      await world.assets.resumable.abort(wholeAccount(accountId), uploadId ?? '');
      await makeDue(model);
      await run();
    };
    await run();
    await expire();
    expect(await now(model)).toMatchObject({ state: 'importing', uploadId: null });
    asked = [];
    await makeDue(model);
    await run();
    await expire();
    expect(await now(model)).toMatchObject({ state: 'failed', problem: expect.stringContaining('too slow') as string });
  });

  it('that was deleted stores nothing', async () => {
    const model = await importOf();
    const whole = sendRange(FILE);
    respond = (request, response) => {
      if (asked.length !== 3) return whole(request, response);
      void world.remove(here, model).then(() => whole(request, response));
    };
    await run();
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(0);
    await expect(now(model)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is not taken for an account that was closed', async () => {
    const model = await importOf();
    const data = { status: 'suspended', closedAt: new Date() };
    await world.test.database.models.account.update({ where: { id: accountId }, data });
    await run();
    expect([(await now(model)).state, asked]).toEqual(['importing', []]);
  });

  it('is not begun where the operator has named no hosts', async () => {
    const model = await importOf();
    const closed = world.process();
    await world.run(closed, 'import-models');
    await closed.chores.close();
    expect(await now(model)).toMatchObject({
      state: 'failed',
      problem: expect.stringContaining('the operator of this service has named no hosts') as string,
    });
    expect(asked).toEqual([]);
  });
});
