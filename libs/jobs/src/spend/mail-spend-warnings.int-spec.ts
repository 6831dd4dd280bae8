import { Prisma } from '@prisma/client';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { createTestDatabase, eventually, makeAccount, onOneDay, type TestDatabase } from '@millrace/testing';
import { labelLoops } from '../labels';
import { composeSpendCaps } from './compose-spend';
import { NOTHING_SUMMED } from './summed-usage.store';
import { MailSpendWarningsLoop } from './mail-spend-warnings.loop';
import type { SpendCapDraft } from './spend-caps.service';

let test: TestDatabase;
let sent: { accountId: string; subject: string; lines: readonly string[] }[];
let broken: string | null;
let whileMailing: (accountId: string) => Promise<void>;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase(4);
});
beforeEach(() => onOneDay());
beforeEach(async () => {
  [sent, broken, accountId] = [[], null, await makeAccount(test.database, { micros: 1n })];
  whileMailing = () => Promise.resolve();
});
afterAll(() => test.drop());

/** One of a process: it remembers what failed. */
const loopOf = (): MailSpendWarningsLoop =>
  new MailSpendWarningsLoop(test.database, {
    add: async (_tx, of, notice) => {
      await whileMailing(of);
      if (of === broken) throw new Error('no room for a mail');
      sent.push({ accountId: of, ...notice });
    },
  });
const mail = (): Promise<number> => loopOf().runOnce();
/** As if the last mail had been sent so long ago. */
const wait = (seconds: number): Promise<number> =>
  test.database.execute(
    Prisma.sql`UPDATE balances SET spend_mail_at = spend_mail_at - make_interval(secs => ${seconds})`,
  );
const said = (): string[] => sent.flatMap(({ lines }) => lines.map((line) => line.replace(/ \(.*/, '')));

const cap = (label: string, value: string | null, dailyMicros: bigint | null, monthlyMicros: bigint | null = null) =>
  test.database.models.labelRule.create({
    data: { id: newId(), accountId, label, value, dailyMicros, monthlyMicros },
  });
const none: SpendCapDraft = {
  ...{ scope: 'account', keyId: null, dailyMicros: null, monthlyMicros: null },
  ...{ dailyAtCap: 'finish', monthlyAtCap: 'finish' },
};
/** Set a cap of the account, as it does itself. */
const put = (draft: Partial<SpendCapDraft>) =>
  test.database.transaction((tx) =>
    composeSpendCaps(test.database).put(tx, accountId, { ...none, ...draft }, NOTHING_SUMMED),
  );
const use = (label: string, value: string, heldMicros: bigint, of = accountId) =>
  test.database.models.labelUse.upsert({
    where: { accountId_label_value: { accountId: of, label, value } },
    create: { accountId: of, label, value, heldMicros },
    update: { heldMicros },
  });
/** As if that had been noted so many days ago. */
const noted = (daysAgo: number): Promise<number> =>
  test.database.execute(Prisma.sql`
    UPDATE label_use SET day_mail_on = day_mail_on - ${daysAgo}::int, month_mail_on = month_mail_on - ${daysAgo}::int
    WHERE account_id = ${accountId}::uuid`);
/** As if what a month has had been noted so many days after its first: below zero, in the month before. */
const monthNoted = (days: number): Promise<number> =>
  test.database.execute(Prisma.sql`
    UPDATE label_use SET month_mail_on = date_trunc('month', now() AT TIME ZONE 'UTC')::date + ${days}::int
    WHERE account_id = ${accountId}::uuid`);

it('mails each level of a cap once', async () => {
  await cap('@account', '', 10_000_000n, 20_000_000n);
  await use('@account', '', 4_999_999n);
  expect(await mail()).toBe(0);
  await use('@account', '', 5_000_000n);
  await mail();
  await use('@account', '', 0n);
  await use('@account', '', 5_000_000n);
  await wait(600);
  await mail();
  expect(sent).toEqual([
    {
      accountId,
      subject: '50 percent of a spend cap',
      lines: [
        expect.stringMatching(/^- 50 percent of the daily cap of the account, 10 credits \(\d{4}-\d\d-\d\d, UTC\)$/),
      ],
    },
  ]);
  await use('@account', '', 10_000_000n);
  await mail();
  expect(sent[1]).toMatchObject({ subject: '100 percent of a spend cap' });
  expect(sent[1]?.lines).toEqual([
    expect.stringContaining('100 percent of the daily cap'),
    expect.stringContaining('50 percent of the monthly cap of the account, 20 credits'),
  ]);
});

it('mails it once when two processes look at the same time', async () => {
  await cap('@account', '', 1_000_000n);
  await use('@account', '', 1_000_000n);
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  let isMailing = false;
  whileMailing = () => {
    isMailing = true;
    return gate;
  };
  const both = [mail()];
  try {
    await eventually('the first to mail', () => isMailing);
    both.push(mail());
    await eventually('the second to wait for the first', async () => {
      const waiting = await test.database.rows(Prisma.sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      return waiting.length > 0;
    });
  } finally {
    goOn();
  }
  expect(await Promise.all(both)).toEqual([1, 0]);
  expect(sent).toHaveLength(1);
});

it('mails caps of keys in one mail, and none of labels', async () => {
  await cap('@key', null, 1_000_000n);
  await cap('user', null, 1_000_000n);
  const [first, second] = [newId(), newId()];
  for (const key of [first, second]) await use('@key', key, 800_000n);
  await use('user', 'ada', 1_000_000n);
  expect(await mail()).toBe(1);
  expect(sent.map(({ lines }) => [...lines].sort())).toEqual([
    [first, second].sort().map((key): unknown => expect.stringContaining(`daily cap of the API key ${key}, 1 credits`)),
  ]);
});

it('takes nothing where its mail is not recorded', async () => {
  await cap('@account', '', 1_000_000n);
  await use('@account', '', 1_000_000n);
  broken = accountId;
  await expect(mail()).rejects.toThrow('no room');
  broken = null;
  expect(await mail()).toBe(1);
  expect(sent).toHaveLength(1);
});

it('goes on where one account fails, and has no account wait for another', async () => {
  const accounts = [accountId, await makeAccount(test.database), await makeAccount(test.database)].sort();
  for (const of of accounts) {
    accountId = of;
    await cap('@account', '', 1_000_000n);
    await use('@account', '', 1_000_000n);
  }
  broken = accounts[0] ?? '';
  const looker = new pg.Client({ connectionString: test.url });
  await looker.connect();
  whileMailing = async (of) => {
    const ids = accounts.filter((id) => id !== of);
    await looker.query('SELECT FROM label_use WHERE account_id = ANY ($1) FOR UPDATE NOWAIT', [ids]);
  };
  try {
    expect(await mail()).toBe(2);
  } finally {
    await looker.end();
  }
  expect(sent.map((one) => one.accountId)).toEqual(accounts.slice(1));
  // Its warning is still to be mailed: not by other tests.
  await test.database.execute(Prisma.sql`DELETE FROM label_use WHERE account_id = ${broken}::uuid`);
});

it('says nothing of a cap that was deleted meanwhile', async () => {
  const { id } = await cap('@account', '', 1_000_000n);
  await use('@account', '', 1_000_000n);
  await test.database.models.labelRule.delete({ where: { id } });
  expect(await mail()).toBe(1);
  expect(sent).toEqual([]);
});

it('names the cap as it is now, at the level that is true of it', async () => {
  await put({ dailyMicros: 1_000_000n, monthlyMicros: 1_000_000n });
  await use('@account', '', 1_000_000n);
  await put({ dailyMicros: 2_000_000n, monthlyMicros: 9_000_000n });
  await mail();
  expect(said()).toEqual(['- 50 percent of the daily cap of the account, 2 credits']);
});

it('says nothing again of a cap that was changed after its mail, where the level is no higher', async () => {
  await put({ dailyMicros: 1_000_000n });
  await use('@account', '', 900_000n);
  await mail();
  await put({ dailyMicros: 1_050_000n });
  await wait(600);
  expect(await mail()).toBe(0);
  await put({ dailyMicros: 900_000n });
  await mail();
  expect(said()).toEqual([
    '- 80 percent of the daily cap of the account, 1 credits',
    '- 100 percent of the daily cap of the account, 0.9 credits',
  ]);
});

it('is one mail in ten minutes, however often caps are changed back and forth', async () => {
  await use('@account', '', 1_000_000n);
  for (let time = 0; time < 5; time += 1) {
    await put({ dailyMicros: 1_000_000n });
    await mail();
    await put({ dailyMicros: 9_000_000n });
    await mail();
  }
  expect(sent).toHaveLength(1);
  await put({ dailyMicros: 1_000_000n });
  await wait(500);
  expect(await mail()).toBe(0);
  await wait(100);
  expect(await mail()).toBe(1);
  expect(sent).toHaveLength(2);
});

it('is of today and yesterday, each with its day, and of no day before', async () => {
  await cap('@account', '', 1_000_000n, 2_000_000n);
  await use('@account', '', 1_000_000n);
  await noted(2);
  await monthNoted(-2);
  expect(await mail()).toBe(1);
  expect(sent).toEqual([]);
  expect(await mail()).toBe(0);
  await use('@account', '', 1_999_999n);
  await noted(1);
  await use('@account', '', 2_000_000n);
  await mail();
  const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  expect(sent[0]?.lines).toEqual([
    expect.stringContaining(`100 percent of the monthly cap of the account, 2 credits (${day(0)}, UTC)`),
  ]);
});

it('is of a month for as long as it goes on, however long no mail was sent', async () => {
  await cap('@account', '', 1_000_000n, 2_000_000n);
  await use('@account', '', 1_000_000n);
  await noted(2);
  await monthNoted(0);
  await mail();
  const first = `${new Date().toISOString().slice(0, 7)}-01`;
  expect(sent[0]?.lines).toEqual([
    expect.stringContaining(`50 percent of the monthly cap of the account, 2 credits (${first}, UTC)`),
  ]);
});

it('is not lost, and not repeated, when unused labels are swept', async () => {
  const [sweep] = labelLoops(test.database);
  const rows = (): Promise<number> => test.database.models.labelUse.count({ where: { accountId } });
  await put({ dailyMicros: 1_000_000n });
  await use('@account', '', 1_000_000n);
  await use('@account', '', 0n);
  await sweep?.runOnce();
  expect(await mail()).toBe(1);
  await sweep?.runOnce();
  expect(await rows()).toBe(1);
  await use('@account', '', 1_000_000n);
  await wait(600);
  expect(await mail()).toBe(0);
});
