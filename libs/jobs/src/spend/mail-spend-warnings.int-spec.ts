import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { MailSpendWarningsLoop } from './mail-spend-warnings.loop';

let test: TestDatabase;
let sent: { accountId: string; subject: string; lines: readonly string[] }[];
let broken: boolean;
let loop: MailSpendWarningsLoop;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase(4);
  const add = (_tx: unknown, of: string, notice: { subject: string; lines: readonly string[] }): Promise<void> => {
    if (broken) return Promise.reject(new Error('no room for a mail'));
    sent.push({ accountId: of, ...notice });
    return Promise.resolve();
  };
  loop = new MailSpendWarningsLoop(test.database, { add });
});
beforeEach(async () => {
  [sent, broken, accountId] = [[], false, await makeAccount(test.database, { micros: 1n })];
});
afterAll(() => test.drop());

const cap = (label: string, value: string | null, dailyMicros: bigint | null, monthlyMicros: bigint | null = null) =>
  test.database.models.labelRule.create({
    data: { id: newId(), accountId, label, value, dailyMicros, monthlyMicros },
  });
const use = (label: string, value: string, heldMicros: bigint) =>
  test.database.models.labelUse.upsert({
    where: { accountId_label_value: { accountId, label, value } },
    create: { accountId, label, value, heldMicros },
    update: { heldMicros },
  });

it('mails each level of a cap once, also when several processes look', async () => {
  await cap('@account', '', 10_000_000n, 20_000_000n);
  await use('@account', '', 4_999_999n);
  expect(await loop.runOnce()).toBe(0);
  await use('@account', '', 5_000_000n);
  await Promise.all([loop.runOnce(), loop.runOnce(), loop.runOnce()]);
  await use('@account', '', 0n);
  await use('@account', '', 5_000_000n);
  await loop.runOnce();
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
  await loop.runOnce();
  expect(sent[1]).toMatchObject({ subject: '100 percent of a spend cap' });
  expect(sent[1]?.lines).toEqual([
    expect.stringContaining('100 percent of the daily cap'),
    expect.stringContaining('50 percent of the monthly cap of the account, 20 credits'),
  ]);
});

it('mails caps of keys in one mail, and none of labels', async () => {
  await cap('@key', null, 1_000_000n);
  await cap('user', null, 1_000_000n);
  const [first, second] = [newId(), newId()];
  for (const key of [first, second]) await use('@key', key, 800_000n);
  await use('user', 'ada', 1_000_000n);
  expect(await loop.runOnce()).toBe(2);
  expect(sent.map(({ lines }) => [...lines].sort())).toEqual([
    [first, second].sort().map((key): unknown => expect.stringContaining(`daily cap of the API key ${key}, 1 credits`)),
  ]);
});

it('takes nothing where its mail is not recorded', async () => {
  await cap('@account', '', 1_000_000n);
  await use('@account', '', 1_000_000n);
  broken = true;
  await expect(loop.runOnce()).rejects.toThrow('no room');
  broken = false;
  expect(await loop.runOnce()).toBe(1);
  expect(sent).toHaveLength(1);
});

it('says nothing of a cap that was deleted meanwhile', async () => {
  const { id } = await cap('@account', '', 1_000_000n);
  await use('@account', '', 1_000_000n);
  await test.database.models.labelRule.delete({ where: { id } });
  expect(await loop.runOnce()).toBe(1);
  expect(sent).toEqual([]);
});
