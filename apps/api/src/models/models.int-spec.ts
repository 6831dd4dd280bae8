import { newId } from '@millrace/contracts';
import type { Answer } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface ModelView {
  id: string;
  name: string;
  state: string;
  shared: boolean;
  kind: string | null;
  hash: string | null;
  source_url: string | null;
  problem: string | null;
  account_id?: string;
  upload?: { parts: { url: string | null; received: boolean }[]; urls: { complete: string } };
}
interface ErrorView {
  error: { code: string; message: string };
}

const HEADER = JSON.stringify({ 'double_blocks.0.weight': { dtype: 'U8', shape: [8], data_offsets: [0, 8] } });
/** A whole safetensors file. */
const FILE = Buffer.concat([
  Buffer.from([HEADER.length, 0, 0, 0, 0, 0, 0, 0]),
  Buffer.from(HEADER),
  Buffer.alloc(8, 1),
]);

let api: RunningApi;
let account: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_MODELS_PER_ACCOUNT: '3',
    MILLRACE_MODEL_IMPORT_HOSTS: 'models.example.com,*.cdn.example.com',
  });
});
afterAll(() => api.close());
beforeEach(async () => {
  [account, other] = await Promise.all([api.account(), api.account()]);
});

const call = <T = ModelView>(method: string, path: string, json?: object, by = account): Promise<Answer<T>> =>
  api.client(by.key).call<T>(method, `/platform/v1${path}`, json === undefined ? {} : { json });
const operate = <T = ModelView>(method: string, path: string): Promise<Answer<T>> =>
  api.operator().call<T>(method, `/admin/v1/models${path}`);
const begin = (more: object = {}, by = account): Promise<Answer<ModelView>> =>
  call('POST', '/models', { folder: 'checkpoints', name: 'a.safetensors', size_bytes: FILE.length, ...more }, by);

/** Upload a file as a client does. */
async function upload(name: string, bytes = FILE, by = account): Promise<Answer<ModelView>> {
  const { body: begun } = await begin({ name, size_bytes: bytes.length }, by);
  const url = begun.upload?.parts[0]?.url ?? '';
  const sent = await fetch(url, { method: 'PUT', body: bytes });
  expect(sent.status).toBe(204);
  return call('POST', `/models/${begun.id}/complete`, undefined, by);
}

describe('a model', () => {
  it('is uploaded in parts, completed, read and deleted', async () => {
    const begun = await begin();
    expect(begun).toMatchObject({ status: 201, body: { state: 'uploading' } });
    expect(begun.body.upload?.urls.complete).toBe(`/platform/v1/models/${begun.body.id}/complete`);
    const again = await begin();
    expect(again).toMatchObject({ status: 409, body: { error: { code: 'model_exists' } } });
    const early = await call('POST', `/models/${begun.body.id}/complete`);
    expect(early).toMatchObject({ status: 409, body: { error: { code: 'upload_incomplete' } } });
    await fetch(begun.body.upload?.parts[0]?.url ?? '', { method: 'PUT', body: FILE });
    expect((await call('GET', `/models/${begun.body.id}`)).body.upload?.parts).toMatchObject([{ received: true }]);
    const ready = await call('POST', `/models/${begun.body.id}/complete`);
    expect(ready).toMatchObject({ status: 200, body: { state: 'ready', kind: 'diffusion_model' } });
    expect(ready.body.upload).toBeUndefined();
    const list = await call<{ models: ModelView[] }>('GET', '/models?folder=checkpoints&shared=false');
    expect(list.body.models).toMatchObject([{ id: begun.body.id, hash: ready.body.hash }]);
    expect((await call('DELETE', `/models/${begun.body.id}`)).status).toBe(204);
    expect((await call('GET', `/models/${begun.body.id}`)).status).toBe(404);
    const acts = await api.test.database.models.auditEntry.findMany({
      where: { subjectId: begun.body.id },
      orderBy: { id: 'asc' },
    });
    expect(acts.map(({ action, actor }) => [action, actor])).toEqual([
      ['model.upload', `api_key:${account.keyId}`],
      ['model.delete', `api_key:${account.keyId}`],
    ]);
  });

  it('is refused when the file is not what its name says', async () => {
    const refused = await upload('a.safetensors', Buffer.from('no weights at all'));
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'model_refused' } } });
  });

  it.each([
    ['name', { name: '../a.safetensors' }],
    ['name', { name: 'a.ckpt' }],
    ['folder', { folder: 'a/b' }],
    ['size_bytes', { size_bytes: 0 }],
    ['hash', { hash: 'blake3:1' }],
    ['source_url', { source_url: 'file:///etc/passwd' }],
    ['source_url', { source_url: 'https://example.com/\u0000' }],
    ['licence', { licence: 'a\u0000b' }],
  ])('with a wrong %s is refused, and the field is named (%j)', async (field, more) => {
    const { status, body } = await call<{ error: { details: { fields: { field: string }[] } } }>('POST', '/models', {
      folder: 'checkpoints',
      name: 'a.safetensors',
      size_bytes: 100,
      ...more,
    });
    expect(status).toBe(422);
    expect(body.error.details.fields).toMatchObject([{ field }]);
  });

  it('is not looked for in a folder that cannot be', async () => {
    expect((await call('GET', '/models?folder=a%00b')).status).toBe(400);
  });

  it('is one of so many that an account may have', async () => {
    for (const name of ['a.gguf', 'b.gguf', 'c.gguf']) expect((await begin({ name })).status).toBe(201);
    expect(await begin({ name: 'd.gguf' })).toMatchObject({ status: 422, body: { error: { code: 'model_limit' } } });
  });

  it('is shared by an operator with all accounts', async () => {
    const name = `${newId()}.safetensors`;
    const { body: model } = await upload(name);
    expect((await call('GET', `/models/${model.id}`, undefined, other)).status).toBe(404);
    expect(await operate('POST', `/${model.id}/share`)).toMatchObject({
      body: { shared: true, account_id: account.id },
    });
    const seen = await call<ModelView>('GET', `/models/${model.id}`, undefined, other);
    expect(seen).toMatchObject({ status: 200, body: { shared: true, name } });
    expect(seen.text).not.toContain(account.id);
    const { body: listed } = await call<{ models: ModelView[] }>('GET', '/models?shared=true', undefined, other);
    expect(listed.models.map(({ id }) => id)).toContain(model.id);
    expect((await call('DELETE', `/models/${model.id}`, undefined, other)).status).toBe(404);
    for (const refused of [await call('DELETE', `/models/${model.id}`), await operate('DELETE', `/${model.id}`)]) {
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'model_in_use' } } });
    }
    await operate('POST', `/${model.id}/unshare`);
    expect((await call('GET', `/models/${model.id}`, undefined, other)).status).toBe(404);
    expect((await operate('DELETE', `/${model.id}`)).status).toBe(204);
    expect((await operate('GET', `/${model.id}`)).status).toBe(404);
    const acts = await api.test.database.models.auditEntry.findMany({ where: { subjectId: model.id, actor: 'admin' } });
    expect(acts.map(({ action }) => action).sort()).toEqual(['model.delete', 'model.share', 'model.unshare']);
  });

  it('shows where it is from without what may be a credential, to all but its account', async () => {
    const secret = 'hf_secret';
    const { body: begun } = await begin({
      source_url: `https://user:${secret}@example.com/a/b?token=${secret}#${secret}`,
    });
    const own = await call('GET', `/models/${begun.id}`);
    expect(own.body.source_url).toContain(secret);
    await fetch(begun.upload?.parts[0]?.url ?? '', { method: 'PUT', body: FILE });
    expect((await call('POST', `/models/${begun.id}/complete`)).body.source_url).toContain(secret);
    const shared = await operate('POST', `/${begun.id}/share`);
    const listed = await call<{ models: ModelView[] }>('GET', '/models?shared=true', undefined, other);
    const views = [
      shared.body,
      (await operate('GET', `/${begun.id}`)).body,
      (await call('GET', `/models/${begun.id}`, undefined, other)).body,
      listed.body.models.find(({ id }) => id === begun.id),
    ];
    for (const view of views) expect(view?.source_url).toBe('https://example.com/a/b');
    const acts = await api.test.database.models.auditEntry.findMany({ where: { subjectId: begun.id } });
    expect(acts.length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(acts.map(({ details }) => details))).not.toContain(secret);
    await operate('POST', `/${begun.id}/unshare`);
  });

  it('is imported from an allowed host alone', async () => {
    const order = { folder: 'loras', name: 'a.safetensors' };
    for (const url of [
      'https://elsewhere.example.com/a',
      'https://cdn.example.com/a',
      'http://models.example.com/a',
      'https://models.example.com:22/a',
      'https://models.example.com@elsewhere.example.com/a',
      'https://models.example.com.elsewhere.com/a',
      'https://169.254.169.254/a',
      'file:///etc/passwd',
      'https://models.example.com/a\u0000b',
      'https://models.example.com/a b',
    ]) {
      const { status, body } = await call<ErrorView>('POST', '/model-imports', { ...order, url });
      expect([url, status, body.error.code]).toEqual([url, 422, 'invalid_request']);
    }
    const url = 'https://eu.cdn.example.com/a?download=true';
    const taken = await call('POST', '/model-imports', { ...order, url, hash: `sha256:${'A'.repeat(64)}` });
    expect(taken).toMatchObject({ status: 201, body: { state: 'importing', source_url: url } });
    expect((await call('DELETE', `/models/${taken.body.id}`)).status).toBe(204);
  });
});
