import { newId, type MemberRole } from '@millrace/contracts';
import type { Mail } from '@millrace/mail';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { MemberDeveloperMails } from './developer-mails';
import { MemberStore } from './member.store';

const NOTICE = { subject: 'It is broken', lines: ['A line.'] };
const A_DAY = 20;

let test: TestDatabase;
let accountId: string;
let sent: Mail[];
let isOpen: boolean;
let mails: MemberDeveloperMails;
beforeAll(async () => {
  test = await createTestDatabase(8);
});
beforeEach(async () => {
  [sent, isOpen, accountId] = [[], true, await makeAccount(test.database)];
  const outbox = {
    get isOpen(): boolean {
      return isOpen;
    },
    add: (_tx: unknown, _of: string | null, mail: Mail): Promise<void> => {
      sent.push(mail);
      return Promise.resolve();
    },
  };
  mails = new MemberDeveloperMails(new MemberStore(), outbox);
});
afterAll(() => test.drop());

const member = (email: string, role: MemberRole, removedAt: Date | null = null): Promise<unknown> =>
  test.database.models.member.create({ data: { id: newId(), accountId, email, role, removedAt } });
const notify = (times: number): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, () => test.database.transaction((tx) => mails.add(tx, accountId, NOTICE))));
const account = () => test.database.models.account.findUniqueOrThrow({ where: { id: accountId } });

it('goes to owners and developers who are members still', async () => {
  await member('ada@example.test', 'owner');
  await member('bob@example.test', 'developer');
  await member('cleo@example.test', 'finance');
  await member('dan@example.test', 'developer', new Date());
  await notify(1);
  expect(sent.map(({ to }) => to)).toEqual(['ada@example.test', 'bob@example.test']);
  expect(sent[0]).toMatchObject({ subject: expect.stringMatching(/^It is broken: /) as string });
  expect(sent[0]?.text).toContain('\nA line.\n');
});

it('is so much a day at most, of which the last says so, also when many come at once', async () => {
  await member('ada@example.test', 'owner');
  await notify(A_DAY + 5);
  expect(sent).toHaveLength(A_DAY);
  expect(sent.filter(({ text }) => text.includes('no more mail of this kind today'))).toEqual([sent.at(-1)]);
  const yesterday = new Date(Date.now() - 86_400_000);
  await test.database.models.account.update({ where: { id: accountId }, data: { developerMailsOn: yesterday } });
  await notify(1);
  expect(sent).toHaveLength(A_DAY + 1);
});

it('is neither recorded nor counted where no mail is sent', async () => {
  await member('ada@example.test', 'owner');
  isOpen = false;
  await notify(1);
  expect([sent, (await account()).developerMails]).toEqual([[], 0]);
});
