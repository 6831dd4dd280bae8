import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { NO_SUBMISSION_DEFAULTS, newId, type SubmissionDefaults } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { hashApiKey } from './api-key';
import { ApiKeyStore } from './api-key.store';
import { SubmissionDefaultsStore } from './submission-defaults.store';

const NO_END = { expiresAt: null, expiresByAge: false, askedExpiresAt: null };

let test: TestDatabase;
let accounts: string[];
beforeAll(async () => {
  test = await createTestDatabase();
  accounts = await Promise.all([1, 2, 3].map(() => makeAccount(test.database)));
});
afterAll(() => test.drop());

it('keys that are presented together are each found as whose they are, and those that are not valid are not', async () => {
  const store = new ApiKeyStore();
  const of = async (accountId: string | undefined): Promise<Buffer> => {
    const hash = hashApiKey(randomBytes(16).toString('hex'));
    const draft = { name: 'k', lastFour: 'abcd', scopes: [], labels: null, allowedAddresses: [] };
    const owner = { accountId: accountId ?? '', parentId: null, memberId: null, spendsFor: [] };
    await store.create(test.database, { ...draft, ...owner, ...NO_END, hash });
    return hash;
  };
  const [one, revoked, other] = [await of(accounts[0]), await of(accounts[0]), await of(accounts[1])];
  await test.database.execute(Prisma.sql`UPDATE api_keys SET revoked_at = now() WHERE key_hash = ${revoked}`);
  const asked = [other, hashApiKey('nobody has it'), one, revoked, other];
  const found = await store.findHolders(test.database, asked);
  expect(found.map((holder) => holder?.caller.accountId ?? null)).toEqual([
    accounts[1],
    null,
    accounts[0],
    null,
    accounts[1],
  ]);
});

it('what accounts have set for their submissions is found for each, and null where nothing is set or nobody is', async () => {
  const store = new SubmissionDefaultsStore();
  const [set = '', unset = '', other = ''] = accounts;
  const some: SubmissionDefaults = { ...NO_SUBMISSION_DEFAULTS, reuse: 'exact' };
  const more = NO_SUBMISSION_DEFAULTS;
  await store.write(test.database, set, some);
  await store.write(test.database, other, more);
  expect(await store.findEach(test.database, [other, newId(), set, unset, set])).toEqual([
    more,
    null,
    some,
    null,
    some,
  ]);
});
