import { Prisma } from '@prisma/client';
import { newId, type NodeCatalogue, type NodeClasses } from '@millrace/contracts';
import { McpClient, eventually, type Answer } from '@millrace/testing';
import { announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';
import { makeSubKey } from '../fixtures/sub-keys';

const LOADER = 'CheckpointLoaderSimple';
const OF_ENGINE = 'of-the-engine.safetensors';
const CLASSES: NodeCatalogue = {
  [LOADER]: {
    displayName: '',
    category: 'loaders',
    description: '',
    inputs: { ckpt_name: { type: 'COMBO', required: true, options: [OF_ENGINE], libraryModels: true } },
    outputs: [{ type: 'MODEL', name: '', list: false }],
    outputNode: false,
  },
};

let api: RunningApi;
let owner: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '', CLASSES);
});
afterAll(() => api.close());
beforeEach(async () => {
  await api.test.database.execute(Prisma.sql`DELETE FROM models`);
  [owner, other] = await Promise.all([api.account(), api.account()]);
});

/** A model in the library of an account. What stands behind it is not there. */
async function add(accountId: string, name: string, { shared = false, state = 'ready' } = {}): Promise<void> {
  await api.test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    await tx.execute(Prisma.sql`
      INSERT INTO models (id, account_id, folder, name, format, state, shared, asset_id, digest, size_bytes)
      VALUES (${newId()}::uuid, ${accountId}::uuid, 'checkpoints', ${name}, 'safetensors', ${state}, ${shared}, ${newId()}::uuid, ${name}, 1)`);
  });
}
const ask = (key: string, headers: Record<string, string> = {}): Promise<Answer<NodeClasses>> =>
  api.client(key).call<NodeClasses>('GET', '/api/v2/node-classes', { headers });
async function shownTo(key: string): Promise<{ options: unknown; ofLibrary: unknown }> {
  const { body } = await ask(key);
  const { options, library_options: ofLibrary } = body.node_classes[LOADER]?.inputs['ckpt_name'] ?? {};
  return { options, ofLibrary };
}

describe('the node classes of a deployment', () => {
  it.each([
    ['scaled to zero', true],
    ['whose last worker was lost', false],
  ])('are read without a worker coming for it: one %s', async (_which, wentInOrder) => {
    const { models } = api.test.database;
    const [id, now] = [newId(), new Date()];
    await announceCatalogue(api, id, CLASSES);
    await models.deployment.create({
      data: { id, accountId: owner.id, name: 'idle', poolId: id, createdAt: new Date(0) },
    });
    const stopped = {
      state: 'stopped',
      readyAt: now,
      lastSeenAt: now,
      stoppedAt: new Date(now.getTime() + (wentInOrder ? 0 : 60_000)),
    };
    const facts = { engine: 'cpu', version: 'test', host: 'test', pid: 1, capacity: 1 };
    await models.worker.create({ data: { id: newId(), poolId: id, ...facts, ...stopped } });
    const { status } = await api.client(owner.key).call('GET', `/deployment/${id}/api/v2/node-classes`);
    expect(status).toBe(200);
    expect((await models.deployment.findUniqueOrThrow({ where: { id } })).wantedAt).toBeNull();
  });
});

describe('the choices of an input that takes models', () => {
  it('are those of the engine, of the account and what is shared, and no other account sees its own', async () => {
    await add(owner.id, 'mine.safetensors');
    await add(owner.id, 'half.safetensors', { state: 'uploading' });
    await add(other.id, 'shared.safetensors', { shared: true });
    await add(other.id, 'theirs.safetensors');
    expect(await shownTo(owner.key)).toEqual({
      options: [OF_ENGINE, 'mine.safetensors', 'shared.safetensors'],
      ofLibrary: ['mine.safetensors', 'shared.safetensors'],
    });
    expect((await shownTo(other.key)).ofLibrary).toEqual(['shared.safetensors', 'theirs.safetensors']);
  });

  it('are those of the engine alone to a key that may not read assets, and to a sub-key what all may use', async () => {
    await add(owner.id, 'mine.safetensors');
    await add(other.id, 'shared.safetensors', { shared: true });
    const json = { name: 'reads jobs', scopes: ['jobs:read'] };
    const made = await api.client(owner.key).call<{ key: string }>('POST', '/platform/v1/api-keys', { json });
    expect(await shownTo(made.body.key)).toEqual({ options: [OF_ENGINE], ofLibrary: undefined });
    const { key } = await makeSubKey(api, owner, { user: 'ada' });
    expect((await shownTo(key)).ofLibrary).toEqual(['shared.safetensors']);
  });

  it('have an ETag, which changes when a model is there', async () => {
    const { headers } = await ask(owner.key);
    const etag = headers['etag'] ?? '';
    const known = { 'If-None-Match': etag };
    expect((await ask(owner.key, known)).status).toBe(304);
    expect(headers['cache-control']).toBe('private, no-cache');
    await add(owner.id, 'new.safetensors');
    await eventually('the new model to be shown', async () => (await ask(owner.key, known)).status === 200);
    // It is none of the other's, to whom nothing has changed.
    expect((await ask(other.key, known)).status).toBe(304);
  });

  it('are shown to agents, those of the library first', async () => {
    await add(owner.id, 'mine.safetensors');
    const client = await McpClient.connect(`${api.publicUrl}/mcp`, owner.key);
    try {
      const { value } = await client.call('describe_nodes', { class_types: [LOADER] });
      expect(value).toMatchObject({
        node_classes: {
          [LOADER]: {
            inputs: { ckpt_name: { options: ['mine.safetensors', OF_ENGINE], library_options: ['mine.safetensors'] } },
          },
        },
      });
    } finally {
      await client.close();
    }
  });
});
