import { blake3 } from '@napi-rs/blake-hash';
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ModelFile, ModelSource, NodeCatalogue } from '@millrace/contracts';
import type { Engine, EngineHealth } from '@millrace/engines';
import { ModelCache, type EngineLinks } from '@millrace/model-cache';
import { Metrics, createLogger } from '@millrace/platform';
import { createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import { Attempt } from '../attempt';
import { claimedAttempt } from '../attempt/fixtures/claimed-attempt';
import { Surroundings } from '../attempt/fixtures/surroundings';
import { EngineSlot } from '../engines/engine-slot';
import { EngineWarmUp } from './engine-warm-up';

const logger = createLogger('test', 'fatal');
const WELL: EngineHealth = { ready: true, problem: null, version: '1', residentModels: [] };
const AWAY: EngineHealth = { ...WELL, ready: false, problem: 'It restarts.' };
const AT_HAND = 'a.safetensors';
const FAR = 'b.safetensors';

const input = { type: 'COMBO', required: true } as const;
const catalogue: NodeCatalogue = {
  Show: {
    ...{ displayName: '', category: '', description: '', outputs: [], outputNode: true },
    inputs: { first: input, second: input },
  },
};
const graphOf = (...names: string[]): string =>
  JSON.stringify({ '1': { class_type: 'Show', inputs: { first: names[0], second: names[1] ?? '' } } });
const digestOf = (name: string): string => blake3(Buffer.from(name)).toString('hex');

/** A library whose models are their own names; the bytes of one of them come when the test says so. */
class Library implements ModelSource {
  asked = false;
  give: () => void = () => undefined;
  private readonly given = new Promise<void>((resolve) => (this.give = resolve));

  find(_accountId: string, names: readonly string[]): Promise<ModelFile[]> {
    return Promise.resolve(
      names.map((name) => ({ folder: 'checkpoints', name, digest: digestOf(name), sizeBytes: name.length })),
    );
  }

  async open({ digest }: { digest: string }): Promise<Readable> {
    const isFar = digest === digestOf(FAR);
    if (isFar) {
      this.asked = true;
      await this.given;
    }
    return Readable.from([Buffer.from(isFar ? FAR : AT_HAND)]);
  }
}

let folder: TestFolder;
let library: Library;
let cache: ModelCache;
let links: EngineLinks;
let health: EngineHealth;
/** The models that the engine found in each of its runs. */
let runs: string[][];
let around: Surroundings;
let slot: EngineSlot;
beforeEach(async () => {
  folder = await createTestFolder();
  library = new Library();
  cache = await ModelCache.open({
    ...{ dir: join(folder.path, 'models'), budgetBytes: 1_000_000, source: library, logger },
    ...{ isGone: () => false, metrics: new Metrics('test') },
  });
  links = await cache.linksOfEngine();
  [health, runs, around] = [WELL, [], new Surroundings()];
  const engine = {
    kind: 'comfyui',
    health: () => Promise.resolve(health),
    run: async () => {
      runs.push((await readdir(join(links.path, 'checkpoints'))).sort());
      return { status: 'succeeded' };
    },
  } as unknown as Engine;
  const warmUp = new EngineWarmUp({
    warmUp: () => Promise.resolve({ workflow: graphOf(AT_HAND), accountId: 'a' }),
    ...{ catalogue: () => catalogue, models: () => ({ cache, links }), folder: folder.path, limitMs: 60_000, logger },
  });
  slot = new EngineSlot(engine, logger, undefined, () => warmUp.run(engine));
  await slot.warmUp();
});
afterEach(async () => {
  library.give();
  await cache.close();
  await folder.drop();
});

function begin(): Promise<void> {
  const parts = { ...around.parts(join(folder.path, 'work'), catalogue), models: () => ({ cache, links }) };
  const claimed = claimedAttempt({ jobId: randomUUID(), workflow: graphOf(AT_HAND, FAR) });
  return new Attempt(parts, claimed, slot, new AbortController().signal).run();
}

describe('an engine that restarts while the models of an attempt are fetched', () => {
  it('is warmed up once the attempt has left it, which is handed back', async () => {
    const over = begin();
    await eventually('the second model is asked for', () => library.asked);
    health = AWAY;
    await slot.health();
    health = WELL;
    await slot.health();
    library.give();
    await over;
    expect(runs).toEqual([[AT_HAND]]);
    expect(around).toMatchObject({ handedBack: 1, ends: [], losses: [] });
    await eventually('the engine is well', () => slot.health().then(() => !slot.isSick));
    expect(runs).toEqual([[AT_HAND], [AT_HAND]]);
    await begin();
    expect(runs.at(-1)).toEqual([AT_HAND, FAR]);
    expect(around.ends).toMatchObject([{ ending: 'succeeded' }]);
  });

  it('is given no run either while it is away', async () => {
    const over = begin();
    await eventually('the second model is asked for', () => library.asked);
    health = AWAY;
    await slot.health();
    library.give();
    await over;
    expect(runs).toEqual([[AT_HAND]]);
    expect(around).toMatchObject({ handedBack: 1, ends: [], losses: [] });
  });
});
