import { AsyncLocalStorage } from 'node:async_hooks';
import { Prisma } from '@prisma/client';
import { blake3 } from '@napi-rs/blake-hash';
import { wholeAccount } from '@millrace/assets';
import { newId } from '@millrace/contracts';
import { readingRows } from '@millrace/testing';
import { composeModelNames } from '../composition';
import { safetensorsFile } from '../fixtures/model-files';
import { ModelWorld, PART_BYTES, type LibraryProcess } from '../fixtures/model-world';
import { ModelStore } from './model.store';

const FILE = safetensorsFile();
let world: ModelWorld;
let here: LibraryProcess;
let accountId: string;
beforeAll(async () => {
  world = await ModelWorld.open();
  here = world.process();
});
afterAll(() => world.drop());
beforeEach(async () => {
  accountId = await world.account();
});

const code = (expected: string): unknown => expect.objectContaining({ name: 'Refusal', code: expected });
const names = async (of: string | null = accountId): Promise<string[]> => {
  const filter = { folder: null, shared: null, cursor: null, limit: 100 };
  return (await here.library.list(of, filter)).items.map(({ folder, name }) => `${folder}/${name}`);
};

describe('a model that is uploaded', () => {
  it('is ready with what its header says, and its bytes are those that were sent', async () => {
    const draft = world.draft(accountId, { name: 'sdxl/base.safetensors', licence: 'openrail++' });
    const model = await world.upload(here, draft, FILE);
    expect(model).toMatchObject({ state: 'ready', kind: 'checkpoint', parameters: 10, sizeBytes: FILE.length });
    expect(model).toMatchObject({ format: 'safetensors', licence: 'openrail++', problem: null, shared: false });
    const [file] = await here.source.find(accountId, ['sdxl/base.safetensors', 'other.safetensors']);
    expect(file).toEqual({
      folder: 'checkpoints',
      name: 'sdxl/base.safetensors',
      digest: model.digest,
      sizeBytes: FILE.length,
    });
    expect(await world.read(here, accountId, model.digest ?? '', 0, FILE.length)).toEqual(FILE);
    expect(await world.read(here, accountId, model.digest ?? '', 9, 20)).toEqual(FILE.subarray(9, 20));
    expect(await world.read(here, accountId, model.digest ?? '', 9, 9)).toEqual(Buffer.alloc(0));
    expect((await here.library.get(accountId, model.id)).lastUsedAt).not.toBeNull();
  });

  it('goes on where it broke off, and shows what has arrived', async () => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    await world.send(here, model, FILE.subarray(0, PART_BYTES)).catch(() => undefined);
    const open = await here.uploads.partsOf(model);
    expect(open?.parts.filter(({ received }) => received).map(({ number }) => number)).toEqual([1]);
    const none = { uploadBytesPerDay: null, storageBytes: null };
    await expect(here.uploads.complete(accountId, model.id, none)).rejects.toEqual(code('upload_incomplete'));
    await world.send(here, model, FILE);
    expect(await here.uploads.complete(accountId, model.id, none)).toMatchObject({ state: 'ready' });
    expect(await here.uploads.complete(accountId, model.id, none)).toMatchObject({ state: 'ready' });
  });

  it('takes its bytes with it when it is deleted while it is completed', async () => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    await world.send(here, model, FILE);
    const { content } = world.assets;
    const openPart = content.openPart.bind(content);
    jest.spyOn(content, 'openPart').mockImplementationOnce(async (...part) => {
      // The upload is an asset by now, and the model is not ready.
      await here.uploads.drop(await world.remove(here, model));
      return openPart(...part);
    });
    const none = { uploadBytesPerDay: null, storageBytes: null };
    await expect(here.uploads.complete(accountId, model.id, none)).rejects.toEqual(code('not_found'));
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(0);
  });

  it('takes its bytes with it when it is deleted after its header could not be read', async () => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    await world.send(here, model, FILE);
    jest.spyOn(world.assets.content, 'openPart').mockRejectedValueOnce(new Error('the store is slow'));
    const none = { uploadBytesPerDay: null, storageBytes: null };
    await expect(here.uploads.complete(accountId, model.id, none)).rejects.toThrow('slow');
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(1);
    await here.uploads.drop(await world.remove(here, model));
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(0);
    expect(await world.test.database.models.resumableUpload.count({ where: { accountId } })).toBe(0);
  });

  it('made ready by two requests at once keeps its bytes', async () => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    await world.send(here, model, FILE);
    const { content } = world.assets;
    const openPart = content.openPart.bind(content);
    const none = { uploadBytesPerDay: null, storageBytes: null };
    jest.spyOn(content, 'openPart').mockImplementationOnce(async (...part) => {
      await here.uploads.complete(accountId, model.id, none);
      return openPart(...part);
    });
    expect(await here.uploads.complete(accountId, model.id, none)).toMatchObject({ state: 'ready' });
    expect(await world.read(here, accountId, blake3(FILE).toString('hex'), 0, FILE.length)).toEqual(FILE);
  });

  it('is refused when its header is none, and leaves no bytes and a free name', async () => {
    const wrong = Buffer.concat([FILE.subarray(0, -1), Buffer.alloc(20)]);
    await expect(world.upload(here, world.draft(accountId), wrong)).rejects.toEqual(code('model_refused'));
    const { items } = await here.library.list(accountId, { folder: null, shared: null, cursor: null, limit: 10 });
    expect(items).toMatchObject([{ state: 'failed', problem: 'The file has bytes behind its last tensor.' }]);
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(0);
    expect(await here.source.find(accountId, ['a.safetensors'])).toEqual([]);
    expect(await world.upload(here, world.draft(accountId), FILE)).toMatchObject({ state: 'ready' });
    expect(await names()).toEqual(['checkpoints/a.safetensors']);
  });

  it('must have the announced hash', async () => {
    const draft = world.draft(accountId, { expectedHash: `blake3:${'0'.repeat(64)}` });
    await expect(world.upload(here, draft, FILE)).rejects.toEqual(code('hash_mismatch'));
    const { items } = await here.library.list(accountId, { folder: null, shared: null, cursor: null, limit: 10 });
    const problem = expect.stringContaining('The bytes that arrived have the hash') as string;
    expect(items).toMatchObject([{ state: 'failed', problem }]);
  });

  it('has a name of its own in its folder, and no more are taken than an account may have', async () => {
    await world.upload(here, world.draft(accountId), FILE);
    await expect(world.begin(here, world.draft(accountId), 100)).rejects.toEqual(code('model_exists'));
    await world.begin(here, world.draft(accountId, { folder: 'loras' }), 100);
    const small = world.process({}, { modelsPerAccount: 2 });
    const another = world.draft(accountId, { name: 'b.gguf' });
    await expect(world.begin(small, another, 100)).rejects.toEqual(code('model_limit'));
    // What was refused holds no room.
    expect(await world.test.database.models.resumableUpload.count({ where: { accountId, assetId: null } })).toBe(1);
  });

  it('is recorded with its upload, also where the answer to the commit is lost', async () => {
    const { database } = world.test;
    const transaction = database.transaction.bind(database);
    const lost = jest.spyOn(database, 'transaction').mockImplementationOnce(async (...given) => {
      await transaction(...given);
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    });
    expect(await world.upload(here, world.draft(accountId), FILE)).toMatchObject({ state: 'ready' });
    expect(lost).toHaveBeenCalled();
    lost.mockRestore();
  });

  it('may be a pickle only where the operator says so', async () => {
    const draft = world.draft(accountId, { name: 'a.ckpt' });
    await expect(world.begin(here, draft, 100)).rejects.toEqual(code('invalid_request'));
    const bold = world.process({ MILLRACE_MODEL_PICKLES: 'true' });
    expect(await world.upload(bold, draft, Buffer.from('a program'))).toMatchObject({
      state: 'ready',
      format: 'pickle',
      kind: null,
    });
  });

  it('becomes ready also when its request died after the bytes were joined', async () => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    await world.send(here, model, FILE);
    // The request got so far, and no further.
    const terms = { uploadBytesPerDay: null };
    await world.assets.resumable.complete(wholeAccount(accountId), model.uploadId ?? '', terms);
    expect(await here.library.get(accountId, model.id)).toMatchObject({ state: 'uploading' });
    expect(await world.run(here, 'settle-model-uploads')).toBe(1);
    expect(await here.library.get(accountId, model.id)).toMatchObject({ state: 'ready', kind: 'checkpoint' });
  });

  it.each([
    ['models are settled', ['settle-model-uploads', 'sweep-uploads']],
    ['uploads are swept', ['sweep-uploads', 'settle-model-uploads']],
  ])('becomes ready also long after its upload has expired, where first %s', async (_, loops) => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    await world.send(here, model, FILE);
    const uploadId = model.uploadId ?? '';
    await world.assets.resumable.complete(wholeAccount(accountId), uploadId, { uploadBytesPerDay: null });
    const data = { expiresAt: new Date(Date.now() - 1_000) };
    await world.test.database.models.resumableUpload.update({ where: { id: uploadId }, data });
    const all = [...here.chores.loops, ...world.assets.loops];
    for (const name of [...loops, ...loops]) await all.find((loop) => loop.name === name)?.runOnce();
    expect(await here.library.get(accountId, model.id)).toMatchObject({ state: 'ready', kind: 'checkpoint' });
    expect(await world.test.database.models.resumableUpload.count({ where: { id: uploadId } })).toBe(0);
    expect(await world.test.database.models.asset.count({ where: { accountId } })).toBe(1);
  });

  it('fails where its bytes were deleted before its request came back, and keeps no other waiting', async () => {
    const terms = { uploadBytesPerDay: null };
    const joined = async (name: string): Promise<{ id: string; assetId: string }> => {
      const model = await world.begin(here, world.draft(accountId, { name }), FILE.length);
      await world.send(here, model, FILE);
      const { asset } = await world.assets.resumable.complete(wholeAccount(accountId), model.uploadId ?? '', terms);
      return { id: model.id, assetId: asset.id };
    };
    const gone = await joined('gone.safetensors');
    await world.assets.assets.remove(wholeAccount(accountId), gone.assetId);
    const other = await joined('other.safetensors');
    expect(await world.run(here, 'settle-model-uploads')).toBe(2);
    const problem = 'The file was deleted before it was looked at.';
    expect(await here.library.get(accountId, gone.id)).toMatchObject({ state: 'failed', problem });
    expect(await here.library.get(accountId, other.id)).toMatchObject({ state: 'ready' });
    expect(await world.run(here, 'settle-model-uploads')).toBe(0);
  });

  it('gives its name back when its upload has expired', async () => {
    const model = await world.begin(here, world.draft(accountId), FILE.length);
    expect(await world.run(here, 'settle-model-uploads')).toBe(0);
    await world.assets.resumable.abort(wholeAccount(accountId), model.uploadId ?? '');
    expect(await world.run(here, 'settle-model-uploads')).toBe(1);
    expect(await names()).toEqual([]);
  });
});

describe('the bytes of a model', () => {
  it('stay while it is there, though assets expire, and go with it', async () => {
    const model = await world.upload(here, world.draft(accountId), FILE);
    const id = model.assetId ?? '';
    await expect(world.assets.assets.remove(wholeAccount(accountId), id)).rejects.toEqual(code('asset_in_use'));
    const data = { expiresAt: new Date(Date.now() - 1_000) };
    await world.test.database.models.asset.update({ where: { id }, data });
    const expiry = world.assets.loops.find(({ name }) => name === 'expire-assets');
    await expiry?.runOnce();
    expect(await world.read(here, accountId, model.digest ?? '', 0, 8)).toEqual(FILE.subarray(0, 8));
    await world.test.database.models.asset.update({ where: { id }, data: { expiresAt: null } });
    await world.remove(here, model);
    expect(await world.test.database.models.asset.count({ where: { id } })).toBe(0);
    await expect(world.read(here, accountId, model.digest ?? '', 0, 8)).rejects.toEqual(code('not_found'));
  });

  it('are stored once for one account, under two names', async () => {
    const one = await world.upload(here, world.draft(accountId), FILE);
    const two = await world.upload(here, world.draft(accountId, { name: 'b.safetensors' }), FILE);
    expect(await world.test.database.models.blob.count({ where: { accountId } })).toBe(1);
    await world.remove(here, one);
    expect(await world.read(here, accountId, two.digest ?? '', 0, 8)).toEqual(FILE.subarray(0, 8));
  });

  it('outlive it where a job has them as its input', async () => {
    const model = await world.upload(here, world.draft(accountId), FILE);
    const assetId = model.assetId ?? '';
    const jobId = await world.jobNaming(accountId, 'another.safetensors');
    await world.test.database.models.jobInput.create({ data: { jobId, assetId } });
    await world.remove(here, model);
    expect(await names()).toEqual([]);
    expect(await world.test.database.models.asset.count({ where: { id: assetId } })).toBe(1);
  });
});

describe('a model', () => {
  it("is another account's neither by id, nor by name, nor by hash", async () => {
    const model = await world.upload(here, world.draft(accountId), FILE);
    const other = await world.account();
    await expect(here.library.get(other, model.id)).rejects.toEqual(code('not_found'));
    await expect(here.library.getOwn(other, model.id)).rejects.toEqual(code('not_found'));
    await expect(world.remove(here, { accountId: other, id: model.id })).rejects.toEqual(code('not_found'));
    expect(await here.source.find(other, ['a.safetensors'])).toEqual([]);
    await expect(world.read(here, other, model.digest ?? '', 0, 8)).rejects.toEqual(code('not_found'));
    expect(await names(other)).not.toContain('checkpoints/a.safetensors');
  });

  it('that is shared is found by all, after their own of the same name, and can be deleted by nobody', async () => {
    const name = `${newId()}.safetensors`;
    const shared = await world.upload(here, world.draft(accountId, { name }), FILE);
    await world.share(here, shared);
    const other = await world.account();
    expect(await here.source.find(other, [name])).toMatchObject([{ digest: shared.digest }]);
    expect(await world.read(here, other, shared.digest ?? '', 0, 8)).toEqual(FILE.subarray(0, 8));
    expect(await here.library.get(other, shared.id)).toMatchObject({ shared: true });
    const own = await world.upload(here, world.draft(other, { name }), safetensorsFile({ other: [3] }));
    expect(await here.source.find(other, [name])).toMatchObject([{ digest: own.digest }]);
    await expect(world.share(here, own)).rejects.toEqual(code('model_exists'));
    await expect(world.remove(here, shared)).rejects.toEqual(code('model_in_use'));
    await expect(world.remove(here, { accountId: other, id: shared.id })).rejects.toEqual(code('not_found'));
    await world.share(here, shared, false);
    expect(await here.source.find(await world.account(), [name])).toEqual([]);
    await world.remove(here, shared);
  });

  it('that is not ready is not shared', async () => {
    const model = await world.begin(here, world.draft(accountId), 100);
    await expect(world.share(here, model)).rejects.toEqual(code('model_refused'));
    await expect(world.share(here, { id: newId() })).rejects.toEqual(code('not_found'));
  });

  it('is not deleted while a job that has not ended names it', async () => {
    const model = await world.upload(here, world.draft(accountId), FILE);
    await world.jobNaming(await world.account(), 'a.safetensors');
    const id = await world.jobNaming(accountId, 'a.safetensors');
    await expect(world.remove(here, model)).rejects.toEqual(code('model_in_use'));
    await world.test.database.models.job.delete({ where: { id } });
    await world.remove(here, model);
    expect(await names()).toEqual([]);
  });

  it('is not deleted while a batch that uses it is recorded, which nothing waits for with a connection', async () => {
    const model = await world.upload(here, world.draft(accountId), FILE);
    const { id } = model;
    const beside = AsyncLocalStorage.snapshot();
    await world.test.database.transaction(async (tx) => {
      await tx.query(Prisma.sql`SELECT 1 AS used FROM models WHERE id = ${id}::uuid FOR KEY SHARE`);
      await beside(() => expect(world.remove(here, model)).rejects.toEqual(code('model_in_use')));
    }, 60_000);
    await world.remove(here, model);
    expect(await names()).toEqual([]);
  });

  it.each([
    ['as it is', `{"1":{"inputs":{"lora_name":"Größe/a.safetensors"}}}`],
    ['with escapes', String.raw`{"1":{"inputs":{"lora_name":"Gr\u00f6\u00DFe\/a.safetensors"}}}`],
  ])('is not deleted while a graph names it that has not ended, %s, wherever that is', async (_how, graph) => {
    const name = 'Größe/a.safetensors';
    const model = await world.upload(here, world.draft(accountId, { folder: 'loras', name }), FILE);
    await world.jobNaming(await world.account(), null, graph);
    await world.jobNaming(accountId, null, '{"1":{"inputs":{"lora_name":"other.safetensors"}}}');
    const id = await world.jobNaming(accountId, null, graph);
    await expect(world.remove(here, model)).rejects.toEqual(code('model_in_use'));
    await world.test.database.models.job.delete({ where: { id } });
    await world.remove(here, model);
    expect(await names()).toEqual([]);
  });

  it('is not deleted while a deployment of its account names it, which the refusal names', async () => {
    const model = await world.upload(here, world.draft(accountId), FILE);
    const models = [{ folder: 'checkpoints', name: 'a.safetensors' }];
    await world.deployment(await world.account(), { models });
    await world.deployment(accountId, { models: [{ folder: 'vae', name: 'a.safetensors' }] });
    const id = await world.deployment(accountId, { models });
    const refused = { code: 'model_in_use', message: expect.stringContaining('“portraits” names it') as string };
    await expect(world.remove(here, model)).rejects.toMatchObject(refused);
    const { deployment } = world.test.database.models;
    await deployment.update({ where: { id }, data: { models: [] } });
    await world.addVersion(id, 2, models);
    await expect(world.remove(here, model)).rejects.toMatchObject(refused);
    await world.test.database.models.deploymentVersion.updateMany({ data: { endedAt: new Date() } });
    await world.remove(here, model);
    expect(await names()).toEqual([]);
  });

  it('is known by its folder and name to its account, and to all where it is shared', async () => {
    const named = [
      { folder: 'checkpoints', name: 'a.safetensors' },
      { folder: 'vae', name: 'a.safetensors' },
      { folder: 'checkpoints', name: 'b.safetensors' },
    ];
    const lacking = (by: string): Promise<unknown> => composed.lacking(world.test.database, by, named);
    const composed = composeModelNames(world.test.database);
    const model = await world.upload(here, world.draft(accountId), FILE);
    await world.begin(here, world.draft(accountId, { name: 'b.safetensors' }), 100);
    expect(await lacking(accountId)).toEqual(named.slice(1));
    const other = await world.account();
    expect(await lacking(other)).toEqual(named);
    await world.share(here, model);
    expect(await lacking(other)).toEqual(named.slice(1));
    await world.share(here, model, false);
    await world.remove(here, model);
  });

  it('is listed by folder and page by page, newest first', async () => {
    for (const name of ['a.gguf', 'b.gguf', 'c.gguf']) await world.begin(here, world.draft(accountId, { name }), 10);
    await world.begin(here, world.draft(accountId, { folder: 'vae' }), 10);
    const filter = { folder: 'checkpoints', shared: false, cursor: null, limit: 2 };
    const first = await here.library.list(accountId, filter);
    expect(first.items.map(({ name }) => name)).toEqual(['c.gguf', 'b.gguf']);
    const second = await here.library.list(accountId, { ...filter, cursor: first.nextCursor ?? null });
    expect(second.items.map(({ name }) => name)).toEqual(['a.gguf']);
    expect(second.nextCursor).toBeUndefined();
  });
});

it('counts the models that an account has without reading those that failed', async () => {
  const { database } = world.test;
  await database.execute(Prisma.sql`
    INSERT INTO models (id, account_id, folder, name, state, problem, format)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'loras', i || '.safetensors', 'failed', 'was not there', 'safetensors' FROM generate_series(1, 5000) i`);
  await database.execute(Prisma.sql`ANALYZE models`);
  await world.upload(here, world.draft(accountId), FILE);
  const counted = (most: number): Promise<{ result: number; rows: number }> =>
    database.transaction((tx) => readingRows(tx, 'models', () => new ModelStore().countLocked(tx, accountId, most)));
  const { result, rows } = await counted(200);
  expect(result).toBe(1);
  expect(rows).toBeLessThan(20);
  expect((await counted(0)).result).toBe(0);
});
