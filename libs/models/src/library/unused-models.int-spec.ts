import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { RefusedError, type Statements } from '@millrace/database';
import { eventually, makePool } from '@millrace/testing';
import { safetensorsFile } from '../fixtures/model-files';
import { ModelWorld, type LibraryProcess } from '../fixtures/model-world';
import type { Model } from './model';
import { UnusedModelStore } from './unused-model.store';

const DAYS = 30;
const LOOP = 'delete-unused-models';

const store = new UnusedModelStore();

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
  await age(model, uploadedDays, usedDays);
  return model;
}

async function age({ id }: Model, uploadedDays: number, usedDays: number | null): Promise<void> {
  await world.test.database.execute(Prisma.sql`
    UPDATE models SET created_at = now() - make_interval(days => ${uploadedDays}::int),
      ready_at = now() - make_interval(days => ${uploadedDays}::int), last_used_at = now() - make_interval(days => ${usedDays}::int)
    WHERE id = ${id}::uuid`);
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
    expect(await store.remove(world.test.database, shared, DAYS)).toBeNull();
  });

  it('stays while a job that waits for longer than that names it anywhere in its graph', async () => {
    const names = ['old.safetensors', 'none.safetensors'];
    const models = [await modelOf(DAYS + 9, DAYS + 2, names[0]), await modelOf(DAYS + 9, DAYS + 2, names[1])];
    const graph = JSON.stringify({ '1': { inputs: { lora_name: names[0] } } });
    const job = await world.jobNaming(accountId, null, graph);
    await world.test.database.execute(Prisma.sql`
      UPDATE jobs SET created_at = now() - make_interval(days => ${DAYS + 2}) WHERE id = ${job}::uuid`);
    await world.run(here, LOOP);
    expect(await Promise.all(models.map(isThere))).toEqual([true, false]);
  });

  it('is looked for in no graph of a job that came since: its submission has noted the use', async () => {
    const [noted, other] = [await modelOf(DAYS + 9, DAYS + 2), await modelOf(DAYS + 9, DAYS + 2, 'b.safetensors')];
    const graph = JSON.stringify({ '1': { inputs: { lora_name: noted.name, other: other.name } } });
    await world.jobNaming(accountId, null, graph);
    await submit(world.test.database, [noted.name]);
    await world.run(here, LOOP);
    expect([await isThere(noted), await isThere(other)]).toEqual([true, false]);
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
    expect(await store.remove(world.test.database, model, DAYS)).toBeNull();
    expect(await world.run(here, LOOP)).toBe(0);
    expect(await isThere(model)).toBe(true);
  });

  it('stays while fewer days have passed since its bytes were there, however long they took', async () => {
    const model = await world.begin(here, world.draft(accountId), safetensorsFile().length);
    await world.test.database.execute(Prisma.sql`
      UPDATE models SET created_at = now() - make_interval(days => ${DAYS + 1}) WHERE id = ${model.id}::uuid`);
    await world.send(here, model, safetensorsFile());
    await here.uploads.complete(accountId, model.id, { uploadBytesPerDay: null, storageBytes: null });
    expect(await world.run(here, LOOP)).toBe(0);
    expect(await isThere(model)).toBe(true);
    await age(model, DAYS + 1, null);
    expect(await world.run(here, LOOP)).toBe(1);
  });
});

/** What the statement of a submission does that names these models. */
const submit = (tx: Statements, names: string[]): Promise<unknown> =>
  tx.query(Prisma.sql`SELECT use_models(${accountId}::uuid, ${names}::text[]) AS used`);

/** Work in a transaction that stays open until it is let go. */
async function open(work: (tx: Statements) => Promise<unknown>): Promise<() => Promise<void>> {
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const over = world.test.database.transaction(async (tx) => {
    await work(tx);
    begin();
    await held;
  });
  await begun;
  return () => {
    letGo();
    return over;
  };
}

const untilOneWaits = (): Promise<unknown> =>
  eventually('a statement to wait for a row', async () => {
    const [row] = await world.test.database.query<{ waiting: number }>(Prisma.sql`
      SELECT count(DISTINCT l.pid)::int AS waiting FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE NOT l.granted AND a.datname = current_database()`);
    return row?.waiting === 1;
  });

describe('a model that is deleted while a job is submitted that names it', () => {
  it('stays where the submission comes first, though it commits after the sweep has looked', async () => {
    const model = await modelOf(DAYS + 1, null);
    expect(await store.listOf(world.test.database, accountId, DAYS)).toHaveLength(1);
    const commit = await open((tx) => submit(tx, [model.name]));
    const removing = store.remove(world.test.database, model, DAYS);
    await untilOneWaits();
    await commit();
    expect(await removing).toBeNull();
    expect(await isThere(model)).toBe(true);
  });

  it('refuses the submission where the sweep comes first', async () => {
    const model = await modelOf(DAYS + 1, null);
    const commit = await open((tx) => store.remove(tx, model, DAYS));
    const submitting = expect(submit(world.test.database, [model.name])).rejects.toEqual(
      new RefusedError('model_gone'),
    );
    await untilOneWaits();
    await commit();
    await submitting;
  });

  it('stays where its owner deletes it, too: the submission is waited for, and its job names the model', async () => {
    // Used a minute ago: nothing of it is written.
    const model = await modelOf(1, 0);
    const commit = await open((tx) => submit(tx, [model.name]));
    const removing = expect(world.remove(here, model)).rejects.toMatchObject({ code: 'model_in_use' });
    await untilOneWaits();
    await world.jobNaming(accountId, model.name);
    await commit();
    await removing;
    expect(await isThere(model)).toBe(true);
  });

  it('is noted once an hour at most, and only where all are there that a submission names', async () => {
    const model = await modelOf(1, null);
    await expect(submit(world.test.database, [model.name, 'none.safetensors'])).rejects.toThrow('model_gone');
    const used = async (): Promise<Date | null> =>
      (await world.test.database.models.libraryModel.findUniqueOrThrow({ where: { id: model.id } })).lastUsedAt;
    expect(await used()).toBeNull();
    await submit(world.test.database, [model.name]);
    const first = await used();
    expect(first).not.toBeNull();
    await submit(world.test.database, [model.name]);
    expect(await used()).toEqual(first);
  });

  it('is one of the account itself, or one that is shared: no other is there', async () => {
    const stranger = await world.account();
    const name = `${newId()}.safetensors`;
    const lent = await world.upload(here, world.draft(stranger, { name }), safetensorsFile());
    await expect(submit(world.test.database, [name])).rejects.toThrow('model_gone');
    await world.share(here, lent);
    await submit(world.test.database, [name]);
  });
});
