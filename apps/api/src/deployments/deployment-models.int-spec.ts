import { EngineClassStore, readEngineClasses } from '@millrace/deployments';
import type { Answer } from '@millrace/testing';
import { addModel, shareModel } from '../fixtures/library-model';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

interface Named {
  folder: string;
  name: string;
}
interface Deployment {
  id: string;
  models: Named[];
}
interface ErrorView {
  error: { code: string; message: string; details?: { fields: { field: string; reason: string }[] } };
}

let api: RunningApi;
let account: TestAccount;
let stranger: TestAccount;
let modelId: string;
beforeAll(async () => {
  api = await RunningApi.open({
    MILLRACE_DEPLOYMENT_LIMIT_PER_ACCOUNT: '100',
    MILLRACE_DEPLOYMENT_WORKER_LIMIT_PER_ACCOUNT: '1000',
  });
  const document = JSON.stringify({ classes: [{ name: 'cpu', engine: 'cpu' }] });
  await new EngineClassStore().reconcile(api.test.database, readEngineClasses(document));
  [account, stranger] = [await api.account(), await api.account()];
  modelId = await addModel(api, account, { name: 'mine.safetensors' });
  await shareModel(api, await addModel(api, stranger, { folder: 'loras', name: 'shared.safetensors' }));
  await addModel(api, stranger, { name: 'theirs.safetensors' });
});
afterAll(() => api.close());

const MINE = { folder: 'checkpoints', name: 'mine.safetensors' };
const SHARED = { folder: 'loras', name: 'shared.safetensors' };
const THEIRS = { folder: 'checkpoints', name: 'theirs.safetensors' };

const own = <T = Deployment>(method: string, path: string, json?: object): Promise<Answer<T>> =>
  api.client(account.key).call<T>(method, `/platform/v1/deployments${path}`, json === undefined ? {} : { json });
const operate = <T = Deployment>(method: string, path: string, json?: object): Promise<Answer<T>> =>
  api.operator().call<T>(method, `/admin/v1/deployments${path}`, json === undefined ? {} : { json });
const draft = (models: Named[]): object => ({ name: 'a test', engine_class: 'cpu', models });
async function create(models: Named[]): Promise<Deployment> {
  const { status, body, text } = await own('POST', '', draft(models));
  if (status !== 201) throw new Error(text);
  return body;
}
const fieldsOf = ({ status, body }: Answer<unknown>): unknown[] => {
  const { error } = body as ErrorView;
  return [status, error.code, error.details?.fields.map(({ field }) => field)];
};

describe('the models that a deployment names', () => {
  it('are kept in their order, and shown by both APIs and in its history', async () => {
    const deployment = await create([SHARED, MINE]);
    expect(deployment.models).toEqual([SHARED, MINE]);
    expect((await operate('GET', `/${deployment.id}`)).body.models).toEqual([SHARED, MINE]);
    const changed = await own('PATCH', `/${deployment.id}`, { models: [MINE] });
    expect(changed.body.models).toEqual([MINE]);
    expect((await own('PATCH', `/${deployment.id}`, { idle_seconds: 5 })).body.models).toEqual([MINE]);
    const byOperator = await operate('PATCH', `/${deployment.id}`, { models: [] });
    expect(byOperator.body.models).toEqual([]);
    const { changes } = (await own<{ changes: { details: object }[] }>('GET', `/${deployment.id}/changes`)).body;
    expect(changes.map(({ details }) => details)).toMatchObject([
      { models: [] },
      { idle_seconds: 5 },
      { models: [MINE] },
      { models: [SHARED, MINE] },
    ]);
    expect((await create([])).models).toEqual([]);
  });

  it('are refused by their place where the library of the account has them not', async () => {
    const unknown = { folder: 'vae', name: 'mine.safetensors' };
    const refused = await own<ErrorView>('POST', '', draft([MINE, THEIRS, unknown]));
    expect(fieldsOf(refused)).toEqual([422, 'invalid_request', ['models.1', 'models.2']]);
    expect(refused.body.error.details?.fields[0]?.reason).toContain('checkpoints/theirs.safetensors');
    const { id } = await create([]);
    for (const answer of [
      await own('PATCH', `/${id}`, { models: [THEIRS] }),
      await operate('PATCH', `/${id}`, { models: [THEIRS] }),
      await own('POST', `/${id}/versions`, { models: [THEIRS] }),
      await operate('POST', `/${id}/versions`, { models: [THEIRS] }),
      await operate('POST', '', { account_id: account.id, ...draft([THEIRS]) }),
    ]) {
      expect(fieldsOf(answer)).toEqual([422, 'invalid_request', ['models.0']]);
    }
  });

  it('are 64 at most, each once', async () => {
    const many = Array.from({ length: 65 }, (_, index) => ({ folder: 'vae', name: `${index}.safetensors` }));
    expect(fieldsOf(await own('POST', '', draft(many)))).toEqual([422, 'invalid_request', ['models']]);
    expect(fieldsOf(await own('POST', '', draft([MINE, MINE])))).toEqual([422, 'invalid_request', ['models.1']]);
  });

  it('are those of a new version, too, unless it names others', async () => {
    interface Versions {
      versions: { version: number; models: Named[] | null }[];
    }
    const { id } = await create([MINE]);
    const same = await own<Versions>('POST', `/${id}/versions`, {});
    expect(same.body.versions.map(({ models }) => models)).toEqual([[MINE], [MINE]]);
    await own('DELETE', `/${id}/versions/2`);
    const other = await operate<Versions>('POST', `/${id}/versions`, { models: [SHARED] });
    expect(other.body.versions.map(({ models }) => models)).toEqual([[SHARED], null, [MINE]]);
    await own('DELETE', `/${id}/versions/1`);
    expect((await own('GET', `/${id}`)).body.models).toEqual([SHARED]);
  });

  it('are not deleted from the library until no deployment names them', async () => {
    const { id } = await create([MINE]);
    const remove = (): Promise<Answer<ErrorView>> =>
      api.client(account.key).call<ErrorView>('DELETE', `/platform/v1/models/${modelId}`);
    const refused = await remove();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'model_in_use']);
    expect(refused.body.error.message).toContain('deployment “a test” names it');
    const operated = await api.operator().call<ErrorView>('DELETE', `/admin/v1/models/${modelId}`);
    expect(operated.body.error.code).toBe('model_in_use');
    for (const deployment of (await own<{ deployments: Deployment[] }>('GET', '')).body.deployments) {
      if (deployment.id !== id) await own('DELETE', `/${deployment.id}`);
    }
    expect((await remove()).status).toBe(409);
    await own('PATCH', `/${id}`, { models: [] });
    expect((await remove()).status).toBe(204);
  });
});
