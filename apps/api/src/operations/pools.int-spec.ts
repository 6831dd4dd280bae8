import { PoolStore } from '@millrace/deployments';
import { RunningApi } from '../fixtures/running-api';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
});
afterAll(() => api.close());

it('the pools of deployments follow those that all accounts share', async () => {
  const pool = 'zz-shared';
  await new PoolStore().ensure(api.test.database, pool, 'cpu');
  const { id: account_id } = await api.account();
  const json = { account_id, name: 'portraits' };
  const { body: made } = await api.operator().call<{ id: string }>('POST', '/admin/v1/deployments', { json });
  const { body } = await api.operator().call<{ pools: object[] }>('GET', '/admin/v1/pools');
  expect(body.pools).toMatchObject([
    { id: pool, deployment_id: null, deployment_name: null, account_id: null, account_name: null },
    { id: made.id, deployment_id: made.id, deployment_name: 'portraits', account_id, account_name: 'a test' },
  ]);
});
