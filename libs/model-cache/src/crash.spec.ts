import { blake3 } from '@napi-rs/blake-hash';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import { MemoryLibrary, PIECE_BYTES, openCache, seen } from './fixtures/model-world';

const LOADER = join(__dirname, '../../testing/source-thread.cjs');
const PROCESS = join(__dirname, 'fixtures/staging-process.ts');
const MODEL_BYTES = 20 * PIECE_BYTES;

let folder: TestFolder;
const library = new MemoryLibrary();
const model = library.add('a.safetensors', MODEL_BYTES);
let server: Server;
/** Bytes that the server has sent; once they are as many as `limit` it sends no more until that is raised. */
let sent = 0;
let limit = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    const [start = 0, end = 0] = (request.headers.range ?? '').split(' ').map(Number);
    const bytes = library.contents.get(model.digest)?.subarray(start, end);
    void eventually('the test lets bytes pass', () => sent < limit || response.destroyed, 600_000).then(() => {
      sent += end - start;
      response.end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(async () => {
  folder = await createTestFolder();
  sent = 0;
});
afterEach(() => folder.drop());

/** @param given the folder for its links */
function start(...given: string[]): ChildProcess {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return spawn(process.execPath, ['-r', LOADER, PROCESS, folder.path, url, JSON.stringify(model), ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Every file that counts as a model has the content of its name. */
async function expectWholeModels(): Promise<void> {
  const models = join(folder.path, 'models');
  for (const digest of await readdir(models).catch(() => [])) {
    expect(blake3(await readFile(join(models, digest))).toString('hex')).toBe(digest);
  }
}

describe('a process that is killed while it stages', () => {
  it.each([1, 7 * PIECE_BYTES, MODEL_BYTES - 1])(
    'leaves nothing that counts, and pieces that do: after %i bytes',
    async (at) => {
      limit = at;
      const child = start();
      await eventually('it has got so far', () => sent >= at);
      child.kill('SIGKILL');
      await once(child, 'exit');
      await expectWholeModels();

      // One that comes after takes its lock and its pieces over, without waiting for anything.
      const { cache } = await openCache(folder.path, library);
      const links = await cache.linksOfEngine();
      await cache.stage({ accountId: 'b', files: [model], links, signal: new AbortController().signal });
      expect(await seen(links, 'a.safetensors')).toEqual(library.contents.get(model.digest));
      await expectWholeModels();
      expect(await readdir(join(folder.path, 'partial'))).toEqual([]);
      await cache.close();
      expect(await readdir(join(folder.path, 'locks'))).toEqual([]);
      expect(await readdir(join(folder.path, 'engines'))).toEqual([]);
    },
  );

  it('leaves a whole model once it says so', async () => {
    limit = MODEL_BYTES;
    const child = start();
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await expectWholeModels();
    expect(await readdir(join(folder.path, 'models'))).toEqual([model.digest]);
  });

  it('keeps no model from being evicted by links in a folder that it was given, and loses nothing else that is there', async () => {
    limit = MODEL_BYTES;
    const given = join(folder.path, 'pods', 'a');
    const child = start(given);
    await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
    const other = library.add('b.safetensors', MODEL_BYTES);
    const { cache } = await openCache(folder.path, library, {
      budgetBytes: MODEL_BYTES,
      waits: { lookMs: 2, roomMs: 20 },
    });
    const links = await cache.linksOfEngine();
    const stage = () => cache.stage({ accountId: 'b', files: [other], links, signal: new AbortController().signal });
    await expect(stage()).rejects.toThrow('no room');
    await writeFile(join(given, 'loras', 'note.txt'), 'of somebody else');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await stage();
    expect(await readdir(join(folder.path, 'models'))).toEqual([other.digest]);
    expect(await readdir(join(given, 'checkpoints'))).toEqual([]);
    expect(await readdir(join(given, 'loras'))).toEqual(['note.txt']);
    await cache.close();
  });

  it.each(['before complete', 'after complete', 'before add', 'after add'])(
    'leaves nothing in a folder that it was given for which the next one refuses it: killed %s',
    async (step) => {
      limit = MODEL_BYTES;
      const given = join(folder.path, 'pods', 'a');
      const child = start(given, step);
      await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');

      // Another worker on the cache takes the room, before the one that was killed comes again.
      const { cache } = await openCache(folder.path, library, { budgetBytes: MODEL_BYTES });
      const other = library.add('b.safetensors', MODEL_BYTES);
      const links = await cache.linksOfEngine();
      await cache.stage({ accountId: 'b', files: [other], links, signal: new AbortController().signal });
      expect(await readdir(join(folder.path, 'models'))).toEqual([other.digest]);
      expect(await readdir(join(folder.path, 'partial'))).toEqual([]);
      await cache.linksOfEngine(given);
      expect(await readdir(join(given, 'checkpoints'))).toEqual([]);
      await cache.close();
    },
  );

  it('lets two processes share one fetch', async () => {
    limit = MODEL_BYTES;
    const children = [start(), start()];
    await Promise.all(children.map((child) => once(child, 'exit')));
    expect(children.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(sent).toBe(MODEL_BYTES);
  });
});
