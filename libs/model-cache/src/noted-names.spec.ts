import { readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayReportSchema, type ModelFile } from '@millrace/contracts';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { CacheFolder } from './cache-folder';

/** What one request to the gateway may have, of which a report of models takes a part. */
const REQUEST_BYTES = 2 * 1024 * 1024;

let folder: TestFolder;
let cache: CacheFolder;
beforeEach(async () => {
  folder = await createTestFolder();
  cache = await CacheFolder.open(folder.path);
});
afterEach(() => folder.drop());

const digestOf = (index: number): string => index.toString(16).padStart(64, '0');
const noted = (index: number, name: string): ModelFile => ({
  folder: 'loras',
  name,
  digest: digestOf(index),
  sizeBytes: 7,
});

/** A complete model that was used at a time, with the names that the disk has of it. */
async function plant(index: number, names: readonly string[]): Promise<void> {
  await writeFile(cache.model(digestOf(index)), 'weights');
  await utimes(cache.model(digestOf(index)), 1_000 + index, 1_000 + index);
  await writeFile(join(folder.path, 'names', digestOf(index)), names.join('\n'));
}

/** What the gateway makes of the names in a report. */
async function reported(): Promise<string[]> {
  const report = { state: 'ready', residentModels: [], diskModels: await cache.names(), problem: null };
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(REQUEST_BYTES / 4);
  return GatewayReportSchema.parse(report).diskModels ?? [];
}

describe('the names of models on a disk', () => {
  it('are the last of each model, however often it is called by another', async () => {
    await plant(1, []);
    for (let index = 0; index < 40; index += 1) await cache.note(noted(1, `${index}.safetensors`));
    const last = Array.from({ length: 16 }, (_, index) => `${24 + index}.safetensors`);
    expect(await reported()).toEqual(last);
    expect(await readFile(join(folder.path, 'names', digestOf(1)), 'utf8')).toBe(last.join('\n'));
  });

  it('fit into a report where a version before has left too many of one model', async () => {
    const many = Array.from({ length: 10_001 }, (_, index) => `${String(index).padStart(5, '0')}${'x'.repeat(235)}`);
    await plant(1, many);
    await plant(2, ['b.safetensors']);
    expect(await reported()).toEqual([...many.slice(-16), 'b.safetensors']);
    await cache.note(noted(1, 'new.safetensors'));
    expect(await reported()).toEqual([...many.slice(-15), 'b.safetensors', 'new.safetensors']);
  });

  it('are those of the models that were used last where all do not fit', async () => {
    const names = (index: number): string[] =>
      Array.from({ length: 16 }, (_, at) => `${index}-${at}-${'x'.repeat(230)}`);
    for (let index = 0; index < 400; index += 1) await plant(index, names(index));
    const fitted = await reported();
    expect(fitted).toEqual(expect.arrayContaining(names(399)));
    expect(fitted).not.toContain(names(0)[0]);
  });

  it('are few where they are short', async () => {
    for (let index = 0; index < 700; index += 1) {
      await plant(
        index,
        Array.from({ length: 16 }, (_, at) => `${index}-${at}`),
      );
    }
    expect((await reported()).length).toBeLessThanOrEqual(4_000);
  });
});
