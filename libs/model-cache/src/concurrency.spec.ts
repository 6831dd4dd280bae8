import fc from 'fast-check';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelFile } from '@millrace/contracts';
import { createTestFolder } from '@millrace/testing';
import { MemoryLibrary, openCache, seen } from './fixtures/model-world';

/** Engines of two processes of a host, and what their runs need one after the other, by the number of the model. */
const plans = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 3_500 }), { minLength: 5, maxLength: 5 }),
  runs: fc.array(
    fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    { minLength: 2, maxLength: 4 },
  ),
  budgetBytes: fc.integer({ min: 10_500, max: 14_000 }),
  canceled: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
});

async function usedBytes(dir: string): Promise<number> {
  const parts = (await readdir(join(dir, 'partial'))).map((name) => join(dir, 'partial', name, 'bytes'));
  const models = (await readdir(join(dir, 'models'))).map((name) => join(dir, 'models', name));
  let bytes = 0;
  for (const path of [...parts, ...models]) bytes += (await stat(path).catch(() => ({ size: 0 }))).size;
  return bytes;
}

describe('engines that share a cache', () => {
  it('each find the models of their run, fetch none twice at a time, keep the budget, and never wait for ever', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ budgetBytes, canceled, runs, sizes }) => {
        const folder = await createTestFolder();
        const library = new MemoryLibrary();
        const models: ModelFile[] = sizes.map((size, index) => library.add(`${index}.safetensors`, size));
        let most = 0;
        library.before = async (_digest, _at, signal) => {
          // With the lock of room held nothing is added, so that a sum of sizes is one of a moment.
          most = Math.max(most, await usedBytes(folder.path));
          signal.throwIfAborted();
        };
        const caches = await Promise.all([1, 2].map(() => openCache(folder.path, library, { budgetBytes })));
        const engine = async (sequence: number[][], index: number): Promise<void> => {
          const cache = caches[index % 2]?.cache;
          if (!cache) throw new Error('no cache');
          const links = await cache.linksOfEngine();
          for (const [turn, wanted] of sequence.entries()) {
            const files = wanted.flatMap((number) => models[number] ?? []);
            const off = new AbortController();
            const staging = cache.stage({ accountId: `${index}`, files, links, signal: off.signal });
            if (turn === 0 && canceled[index]) setImmediate(() => off.abort(new Error('canceled')));
            const isStaged = await staging.then(
              () => true,
              (error: unknown) => {
                expect(error).toMatchObject({ message: 'canceled' });
                return false;
              },
            );
            for (const [number, model] of isStaged ? models.entries() : []) {
              const expected = wanted.includes(number) ? library.contents.get(model.digest) : null;
              expect(await seen(links, model.name)).toEqual(expected);
            }
          }
          await links.clear();
        };
        await Promise.all(runs.map(engine));
        expect(library.readTwice).toEqual([]);
        expect(most).toBeLessThanOrEqual(budgetBytes);
        await Promise.all(caches.map(({ cache }) => cache.close()));
        expect(await readdir(join(folder.path, 'locks'))).toEqual([]);
        await folder.drop();
      }),
      { numRuns: 12, seed: Number(process.env.MILLRACE_TEST_SEED ?? Date.now()) },
    );
  });
});
