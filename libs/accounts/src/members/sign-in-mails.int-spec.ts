import { randomBytes } from 'node:crypto';
import type { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { composeMailOutbox, type MailOutbox } from '@millrace/mail';
import { KeyRing, type Loop, type LoopReport } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { composeMemberChores } from './composition';
import { SignInRequestStore } from './sign-in-request.store';
import { SignInSeal } from './sign-in-seal';

const ORIGIN = 'https://api.test';
const newRing = (): KeyRing => KeyRing.of(randomBytes(32));
const ring = newRing();
const seal = new SignInSeal(ring);
const requests = new SignInRequestStore();
const settings = { mailFolder: '/nonexistent', mailFrom: 'a@test' };
const outbox: MailOutbox = composeMailOutbox(ring, settings);

let test: TestDatabase;
let loop: Loop;
beforeAll(async () => {
  test = await createTestDatabase();
  const found = composeMemberChores(test.database, ring, outbox).find(({ name }) => name === 'send-sign-in-mails');
  if (found === undefined) throw new Error('no such loop');
  loop = found;
});
afterEach(async () => {
  jest.restoreAllMocks();
  const { mailMessage, signInLink, signInRequest } = test.database.models;
  await mailMessage.deleteMany();
  await signInLink.deleteMany();
  await signInRequest.deleteMany();
});
afterAll(() => test.drop());

/** A member of an account of their own. */
async function member(email: string): Promise<string> {
  const [accountId, memberId] = [newId(), newId()];
  const { account, apiKey, member: members } = test.database.models;
  await account.create({ data: { id: accountId, name: 'a test' } });
  await members.create({ data: { id: memberId, accountId, email, role: 'viewer' } });
  const key = { id: newId(), accountId, memberId, name: 'x', scopes: [], lastFour: '0000', isSessionKey: true };
  await apiKey.create({ data: { ...key, keyHash: randomBytes(32) } });
  return accountId;
}
const ask = async (email: string, browser: Buffer, network: Buffer, by = seal, lifeSeconds = 900): Promise<void> => {
  const id = newId();
  const sealed = by.seal(id, { email, origin: ORIGIN });
  await requests.insert(test.database, { id, sealed, browserHash: browser, networkHash: network }, lifeSeconds);
};
const some = () => randomBytes(32);
/** Carry out what was asked for. @returns how many mails there are. */
const carryOut = async (): Promise<number> => {
  await loop.runOnce();
  return test.database.models.mailMessage.count();
};

it('a mail goes to each account of the address, and to none that is suspended', async () => {
  const email = 'ada@example.com';
  const [first, second, suspended] = [await member(email), await member(email), await member(email)];
  await test.database.models.account.update({ where: { id: suspended }, data: { status: 'suspended' } });
  await ask(email, some(), some());
  expect(await carryOut()).toBe(2);
  const rows = await test.database.models.mailMessage.findMany();
  expect(rows.map(({ accountId }) => accountId).sort()).toEqual([first, second].sort());
  const [row] = rows;
  const mail = outbox.open(row?.id ?? '', Buffer.from(row?.sealed ?? []));
  expect(mail).toMatchObject({ to: email, text: expect.stringContaining(`${ORIGIN}/console/#link=`) as string });
  const ends = (await test.database.models.signInLink.findMany()).map(({ expiresAt }) => expiresAt.getTime());
  for (const end of ends) expect(Math.abs(end - Date.now() - 900_000)).toBeLessThan(60_000);
});

it('a person of many accounts is sent a link for twenty of them, those of which they were a member first', async () => {
  const email = 'ivan@example.com';
  const accounts: string[] = [];
  for (let n = 0; n < 21; n += 1) accounts.push(await member(email));
  await ask(email, some(), some());
  expect(await carryOut()).toBe(20);
  const rows = await test.database.models.mailMessage.findMany();
  expect(rows.map(({ accountId }) => accountId).sort()).toEqual(accounts.slice(0, 20).sort());
});

it('a stranger does not use up the links of a member: they count for a browser and a network', async () => {
  const email = 'bob@example.com';
  await member(email);
  const [stranger, own, home] = [some(), some(), some()];
  for (let n = 0; n < 9; n += 1) await ask(email, some(), stranger);
  expect(await carryOut()).toBe(4);
  for (let n = 0; n < 5; n += 1) await ask(email, own, home);
  expect(await carryOut()).toBe(7);
  await ask(email, own, some());
  expect(await carryOut()).toBe(7);
  await ask(email, some(), home);
  expect(await carryOut()).toBe(8);
  await test.database.models.signInLink.updateMany({ where: { browserHash: own }, data: { expiresAt: new Date(0) } });
  await ask(email, own, home);
  expect(await carryOut()).toBe(9);
});

it('no more links of a membership can be used at a time than its number, no matter who asks', async () => {
  const [email, other] = ['eve@example.com', 'carol@example.com'];
  await member(email);
  await member(other);
  for (let n = 0; n < 70; n += 1) await ask(email, some(), some());
  await ask(other, some(), some());
  expect(await carryOut()).toBe(41);
});

it('requests for addresses that nobody has are looked up together, and delay no member', async () => {
  const email = 'frank@example.com';
  await member(email);
  for (let n = 0; n < 99; n += 1) await ask(`nobody-${n}@example.com`, some(), some());
  await ask(email, some(), some());
  const statements = countStatements();
  expect(await carryOut()).toBe(1);
  // What was asked, whose the addresses are, the link of one, and its mail.
  expect(statements()).toBe(4);
});

/** @returns how many statements transactions have run since. */
function countStatements(): () => number {
  let count = 0;
  const transaction = test.database.transaction.bind(test.database);
  const counting: ProxyHandler<Statements> = {
    get(tx, name: keyof Statements) {
      count += 1;
      return (sql: Prisma.Sql) => (tx[name] as Statements['rows'])(sql);
    },
  };
  const counted: typeof transaction = (act) => transaction((tx) => act(new Proxy(tx, counting)));
  jest.spyOn(test.database, 'transaction').mockImplementation(counted);
  return () => count;
}

it('a request that has expired, or that nobody can open any more, is carried out never and keeps none waiting', async () => {
  const email = 'grace@example.com';
  await member(email);
  await ask(email, some(), some(), seal, 0);
  await ask(email, some(), some(), new SignInSeal(newRing()));
  await ask(email, some(), some());
  const failed: string[] = [];
  const report: LoopReport = { failed: (item) => failed.push(item), resting: () => undefined };
  expect(await loop.runOnce(report)).toBe(2);
  expect([await test.database.models.mailMessage.count(), failed.length]).toEqual([1, 1]);
  expect(await test.database.models.signInRequest.count()).toBe(1);
  expect(await requests.deleteExpired(test.database, 10)).toBe(1);
  expect(await requests.deleteExpired(test.database, 10)).toBe(0);
});

it('the address of who was removed goes after 90 days, and no other', async () => {
  const days = (count: number): Date => new Date(Date.now() - count * 86_400_000);
  const { member: members } = test.database.models;
  const accountId = await member('heidi@example.com');
  const [old, young] = [newId(), newId()];
  for (const [id, removedAt] of [
    [old, days(91)],
    [young, days(89)],
  ] as const) {
    await members.create({ data: { id, accountId, email: `${id}@example.com`, role: 'viewer', removedAt } });
  }
  const forget = composeMemberChores(test.database, ring, composeMailOutbox(ring, { mailFrom: 'a@test' }));
  expect(forget.map(({ name }) => name)).toEqual(['forget-removed-members']);
  expect([await forget[0]?.runOnce(), await forget[0]?.runOnce()]).toEqual([1, 0]);
  const emails = (await members.findMany({ where: { accountId } })).map(({ email }) => email);
  expect(emails.sort()).toEqual(['heidi@example.com', `removed-${old}`, `${young}@example.com`].sort());
});
