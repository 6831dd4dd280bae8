import { Prisma } from '@prisma/client';
import { readingRows } from '@millrace/testing';
import { ModelWorld, type LibraryProcess } from '../fixtures/model-world';
import type { Model } from './model';
import { ModelStore } from './model.store';

const LOOP = 'settle-model-uploads';
const KEPT_DAYS = 7;

let world: ModelWorld;
let here: LibraryProcess;
let accountId: string;
beforeAll(async () => {
  world = await ModelWorld.open();
  here = world.process({}, { modelsPerAccount: 3 });
});
afterAll(() => world.drop());
beforeEach(async () => {
  accountId = await world.account();
});

const names = async (): Promise<string[]> => {
  const filter = { folder: null, shared: null, cursor: null, limit: 100 };
  return (await here.library.list(accountId, filter)).items.map(({ name }) => name).sort();
};
const begin = (name: string): Promise<Model> => world.begin(here, world.draft(accountId, { name }), 10);
async function fail(name: string): Promise<Model> {
  const model = await begin(name);
  await new ModelStore().fail(world.test.database, model, 'was not there');
  return model;
}
/** @param column when it failed, or, for one of the version before, began. */
const age = ({ id }: Model, days: number, column: 'failed_at' | 'created_at' = 'failed_at'): Promise<number> =>
  world.test.database.execute(Prisma.sql`
    UPDATE models SET ${Prisma.raw(column)} = now() - make_interval(days => ${days}::int, mins => 1) WHERE id = ${id}::uuid`);
const rows = (count: number): Promise<number> =>
  world.test.database.execute(Prisma.sql`
    INSERT INTO models (id, account_id, folder, name, state, problem, format, failed_at)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'loras', i || '.safetensors', 'failed', 'was not there', 'safetensors', now() - make_interval(secs => i)
    FROM generate_series(1, ${count}::int) i`);

describe('a model that failed', () => {
  it('is deleted a week after it failed, whenever it began', async () => {
    const [old, late] = [await fail('old.gguf'), await fail('late.gguf')];
    await age(old, KEPT_DAYS);
    await age(late, KEPT_DAYS - 1);
    await age(late, KEPT_DAYS + 10, 'created_at');
    await age(await begin('open.gguf'), KEPT_DAYS + 10, 'created_at');
    expect(await world.run(here, LOOP)).toBe(1);
    expect(await names()).toEqual(['late.gguf', 'open.gguf']);
  });

  it('is deleted a week after it began where a process of the version before ended it', async () => {
    const model = await fail('old.gguf');
    await age(model, KEPT_DAYS, 'created_at');
    await world.test.database.execute(Prisma.sql`UPDATE models SET failed_at = NULL WHERE id = ${model.id}::uuid`);
    expect(await world.run(here, LOOP)).toBe(1);
  });

  it('is deleted in bounded batches', async () => {
    await rows(1_500);
    await world.test.database.execute(
      Prisma.sql`UPDATE models SET failed_at = now() - interval '8 days' WHERE account_id = ${accountId}::uuid`,
    );
    const loop = here.chores.loops.find(({ name }) => name === LOOP);
    expect([await loop?.runOnce(), await loop?.runOnce(), await loop?.runOnce()]).toEqual([1_000, 500, 0]);
  });

  it('gives way to later ones where the account has as many as it may have models', async () => {
    for (const name of ['a.gguf', 'b.gguf', 'c.gguf', 'd.gguf', 'e.gguf']) await fail(name);
    expect(await names()).toEqual(['b.gguf', 'c.gguf', 'd.gguf', 'e.gguf']);
    await begin('f.gguf');
    expect(await names()).toEqual(['c.gguf', 'd.gguf', 'e.gguf', 'f.gguf']);
  });

  it('gives way without a look at more rows than go, however many there are', async () => {
    const { database } = world.test;
    await rows(5_000);
    await database.execute(Prisma.sql`ANALYZE models`);
    const other = await world.account();
    const read = (id: string, kept: number) =>
      database.transaction((tx) => readingRows(tx, 'models', () => new ModelStore().dropFailed(tx, id, kept)));
    expect((await read(other, 3)).rows).toBeLessThan(20);
    expect((await read(accountId, 4_998)).result).toBe(2);
    expect((await read(accountId, 3)).result).toBe(1_000);
    expect(await database.models.libraryModel.count({ where: { accountId, name: '1.safetensors' } })).toBe(1);
  });
});
