import { ApiClient, TestStack, eventually, type TestAccount, type TestProcess } from '@millrace/testing';

/** Within this a key must be refused everywhere. */
const EVERYWHERE_MS = 5_000;

let stack: TestStack;
let second: TestProcess;
let account: TestAccount;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 0 });
  second = await stack.spawn('api');
});
// Of each test, and of each time that it is measured again.
beforeEach(async () => {
  account = await stack.createAccount(0);
});
afterAll(() => stack.stop());

const statusAt = async (url: string, key: string): Promise<number> =>
  (await new ApiClient(url, key).call('GET', '/api/v2/jobs')).status;

it('a key revoked at one process is refused by every other within 5 s, though it was used there just before', async () => {
  const client = new ApiClient(stack.publicUrl, account.apiKey);
  const { body } = await client.call<{ id: string; key: string }>('POST', '/platform/v1/api-keys', {
    json: { name: 'to be revoked' },
  });
  expect(await statusAt(second.publicUrl, body.key)).toBe(200);
  expect((await client.call('DELETE', `/platform/v1/api-keys/${body.id}`)).status).toBe(204);
  expect(await statusAt(stack.publicUrl, body.key)).toBe(401);
  await eventually(
    'the other process to refuse the key',
    async () => (await statusAt(second.publicUrl, body.key)) === 401,
    EVERYWHERE_MS,
  );
  expect(await statusAt(second.publicUrl, account.apiKey)).toBe(200);
});

it('a suspension reaches every other process in the same time', async () => {
  expect(await statusAt(second.publicUrl, account.apiKey)).toBe(200);
  await stack.admin('PATCH', `/accounts/${account.id}`, { status: 'suspended' });
  await eventually(
    'the other process to refuse the account',
    async () => (await statusAt(second.publicUrl, account.apiKey)) === 403,
    EVERYWHERE_MS,
  );
});
