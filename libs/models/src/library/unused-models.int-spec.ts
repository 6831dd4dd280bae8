import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { makePool } from '@millrace/testing';
import { safetensorsFile } from '../fixtures/model-files';
import { ModelWorld, type LibraryProcess } from '../fixtures/model-world';
import type { Model } from './model';
import { UnusedModelStore } from './unused-model.store';

const DAYS = 30;
const LOOP = 'delete-unused-models';

let world: ModelWorld;
let here: LibraryProcess;
let accountId: string;
beforeAll(async () => {
  world = await ModelWorld.open();
  here = world.process({}, { modelsUnusedDays: DAYS });
});
afterAll(() => world.drop());
beforeEach(async () => {
  accountId = await world.account();
});

/** A model that was uploaded so many days ago, and used by a job so many days ago; null: by none. */
async function modelOf(uploadedDays: number, usedDays: number | null, name = 'a.safetensors'): Promise<Model> {
  const model = await world.upload(here, world.draft(accountId, { name }), safetensorsFile());
  await world.test.database.execute(Prisma.sql`
    UPDATE models SET created_at = now() - make_interval(days => ${uploadedDays}::int),
      last_used_at = now() - make_interval(days => ${usedDays}::int)
    WHERE id = ${model.id}::uuid`);
  return model;
}

const isThere = async ({ id }: Model): Promise<boolean> =>
  (await world.test.database.models.libraryModel.count({ where: { id } })) === 1;

const listener = (): Promise<unknown> =>
  world.test.database.models.webhookEndpoint.create({
    data: {
      ...{ id: newId(), accountId, eventTypes: ['model.deleted'] },
      ...{ url: 'https://receiver.example.com/', origin: 'https://a.example' },
    },
  });

const deployment = (facts: object): Promise<string> => world.deployment(accountId, facts);

describe('a model that no job has used for long', () => {
  it('is deleted with its bytes, and its account is sent a notice', async () => {
    await listener();
    const model = await modelOf(DAYS + 20, DAYS + 10);
    expect(await world.run(here, LOOP)).toBe(1);
    expect(await isThere(model)).toBe(false);
    expect(await world.test.database.models.asset.count({ where: { id: model.assetId ?? '' } })).toBe(0);
    const messages = await world.test.database.models.webhookMessage.findMany({ where: { endpoint: { accountId } } });
    expect(messages).toMatchObject([
      {
        type: 'model.deleted',
        data: {
          id: model.id,
          folder: 'checkpoints',
          name: 'a.safetensors',
          reason: 'unused',
          last_used_at: expect.any(String) as string,
        },
      },
    ]);
  });

  it('is deleted also where none ever has, and keeps bytes that another model has', async () => {
    const [unused, used] = [await modelOf(DAYS + 1, null), await modelOf(DAYS + 1, 1, 'b.safetensors')];
    expect(await world.run(here, LOOP)).toBe(1);
    expect([await isThere(unused), await isThere(used)]).toEqual([false, true]);
    expect(await world.read(here, accountId, used.digest ?? '', 0, 8)).toEqual(safetensorsFile().subarray(0, 8));
  });

  it('stays where the operator wants nothing deleted', async () => {
    const model = await modelOf(3_000, null);
    expect(await world.run(world.process(), LOOP)).toBe(0);
    expect(await isThere(model)).toBe(true);
    expect(await world.run(here, LOOP)).toBe(1);
  });

  it('stays while it is shared, and while a job that has not ended names it', async () => {
    const shared = await modelOf(DAYS + 1, null, `${newId()}.safetensors`);
    await world.share(here, shared);
    const named = await modelOf(DAYS + 1, null, 'named.safetensors');
    await world.jobNaming(accountId, named.name);
    await world.run(here, LOOP);
    expect([await isThere(shared), await isThere(named)]).toEqual([true, true]);
    const store = new UnusedModelStore();
    expect(await store.remove(world.test.database, shared, DAYS)).toBeNull();
  });

  it('stays while a deployment, or a version of one that takes jobs, names it for its warm-up', async () => {
    const warmUp = (name: string): string => JSON.stringify({ '1': { class_type: 'Load', inputs: { name } } });
    const names = ['first.safetensors', 'beside.safetensors', 'ended.safetensors', 'gone.safetensors'];
    const models: Model[] = [];
    for (const name of names) models.push(await modelOf(DAYS + 1, null, name));
    const [first, beside, ended, gone] = names.map(warmUp);
    const id = await deployment({ warmUp: first ?? null });
    for (const [number, text, endedAt] of [
      [2, ended, new Date()],
      [3, beside, null],
    ] as const) {
      const { poolId } = await makePool(world.test.database);
      await world.test.database.execute(Prisma.sql`
        INSERT INTO deployment_versions (deployment_id, number, pool_id, warm_up, min_workers, max_workers, idle_seconds, weight, ended_at)
        VALUES (${id}::uuid, ${number}, ${poolId}, ${text}, 0, 1, 60, 10, ${endedAt})`);
    }
    await deployment({ warmUp: gone ?? null, deletedAt: new Date(), desiredState: 'stopped', stoppedAt: new Date() });
    await world.run(here, LOOP);
    expect(await Promise.all(models.map(isThere))).toEqual([true, true, false, false]);
  });

  it('stays while a deployment, or a version of one that takes jobs, names it among its models', async () => {
    const names = ['first.safetensors', 'beside.safetensors', 'ended.safetensors', 'gone.safetensors'];
    const models: Model[] = [];
    for (const name of names) models.push(await modelOf(DAYS + 1, null, name));
    const [first, beside, ended, gone] = names.map((name) => [{ folder: 'checkpoints', name }]);
    const id = await deployment({ models: first });
    await world.addVersion(id, 2, ended, new Date());
    await world.addVersion(id, 3, beside);
    await deployment({ models: gone, deletedAt: new Date(), desiredState: 'stopped', stoppedAt: new Date() });
    await deployment({ models: [{ folder: 'loras', name: 'gone.safetensors' }] });
    await world.run(here, LOOP);
    expect(await Promise.all(models.map(isThere))).toEqual([true, true, false, false]);
  });

  it('stays where a job has used it meanwhile', async () => {
    const model = await modelOf(DAYS + 1, DAYS + 1);
    await here.source.find(accountId, [model.name]);
    const store = new UnusedModelStore();
    expect(await store.remove(world.test.database, model, DAYS)).toBeNull();
    expect(await world.run(here, LOOP)).toBe(0);
    expect(await isThere(model)).toBe(true);
  });
});
