import { setImmediate } from 'node:timers/promises';
import { COMFYUI_RUN_LIMITS, type NodeCatalogue } from '@millrace/contracts';
import { createTestDatabase, makePool, type TestDatabase } from '@millrace/testing';
import { limitsOfRuns } from '@millrace/workflow';
import { CatalogueReader, textOfCatalogue } from './catalogue-reader';
import { CatalogueStore } from './catalogue.store';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const store = new CatalogueStore();
const MIB = 1_048_576;

/** A class that takes any of so many bytes of names. */
function catalogueOf(name: string, bytes: number): NodeCatalogue {
  const options = Array.from({ length: bytes / 16 }, (_, at) => `"${at}é`.padEnd(12, 'x'));
  const inputs = { model: { type: 'COMBO', required: true, options } };
  return { [name]: { displayName: '', category: '', description: '', inputs, outputs: [], outputNode: true } };
}

async function publish(catalogue: NodeCatalogue, engine = 'cpu'): Promise<string> {
  const { poolId } = await makePool(test.database);
  return store.publish(test.database, poolId, engine, catalogue);
}

/** A reader, and the texts that it has loaded. */
function readerOf(keptBytes?: number, onText = (): void => undefined): { reader: CatalogueReader; loaded: string[] } {
  const loaded: string[] = [];
  const counted: Pick<CatalogueStore, 'head' | 'text'> = {
    head: (tx, digest) => store.head(tx, digest),
    text: async (tx, digest) => {
      loaded.push(digest);
      const text = await store.text(tx, digest);
      onText();
      return text;
    },
  };
  return { reader: new CatalogueReader(test.database, counted, keptBytes), loaded };
}

it('a catalogue is read as it was published, once, with its text for threads', async () => {
  const catalogue = catalogueOf('One', MIB);
  const digest = await publish(catalogue);
  const { reader, loaded } = readerOf();
  const read = await reader.read(digest);
  expect(read).toEqual(catalogue);
  expect(await reader.read(digest)).toBe(read);
  expect(loaded).toEqual([digest]);
  expect(JSON.parse(Buffer.from(textOfCatalogue(read) ?? new ArrayBuffer()).toString())).toEqual(catalogue);
});

it('a catalogue comes with what its engine runs at once', async () => {
  const { reader } = readerOf();
  const ofComfyui = await reader.read(await publish(catalogueOf('OfComfyui', 1_024), 'comfyui'));
  const ofCpu = await reader.read(await publish(catalogueOf('OfCpu', 1_024)));
  expect([limitsOfRuns(ofComfyui), limitsOfRuns(ofCpu)]).toEqual([COMFYUI_RUN_LIMITS, null]);
});

it('of many catalogues those read last are kept, as far as their bytes go', async () => {
  const digests: string[] = [];
  for (let at = 0; at < 4; at += 1) digests.push(await publish(catalogueOf(`Of${at}`, MIB)));
  const { reader, loaded } = readerOf(3 * MIB);
  for (const digest of [...digests, ...digests.slice(-2)]) await reader.read(digest);
  expect(loaded).toEqual(digests);
  await reader.read(digests[0] ?? '');
  expect(loaded).toHaveLength(5);
});

it('a large catalogue leaves the event loop to others while it is read', async () => {
  const digest = await publish(catalogueOf('Large', 5 * MIB));
  let turns = 0;
  const { reader } = readerOf(undefined, () => (turns = 0));
  let isDone = false;
  const reading = reader.read(digest).finally(() => (isDone = true));
  for (; !isDone; turns += 1) {
    await setImmediate();
  }
  await reading;
  expect(turns).toBeGreaterThan(2);
});
