import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, testBilling, type TestDatabase } from '@millrace/testing';
import { PostingStore } from '../ledger';
import type { Adjustment } from './credits.service';

const NOON = '2030-01-01T12:00:00.000Z';

let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase(2);
});
afterAll(() => test.drop());
beforeEach(async () => {
  accountId = await makeAccount(test.database);
});

const adjust = (change: Pick<Adjustment, 'amountMicros'> & Partial<Adjustment>): Promise<{ repeated: boolean }> =>
  test.database.transaction((tx) =>
    testBilling(test.database).credits.adjust(tx, 'test', accountId, {
      ...{ reason: 'a test', expiresAt: null, corrects: null, key: null },
      ...change,
    }),
  );

/** @returns the transaction of it. */
async function grant(amountMicros: bigint): Promise<string> {
  const key = newId();
  await adjust({ amountMicros, key });
  const where = { cause: `adjust:${accountId}:${key}` };
  return (await test.database.models.ledgerTransaction.findUniqueOrThrow({ where })).id;
}

const ANOTHER = { code: 'idempotency_key_reuse' };

it('is another one when it corrects another transaction', async () => {
  const [one, other] = [await grant(500n), await grant(500n)];
  const taken = { amountMicros: -100n, key: 'k' };
  await adjust({ ...taken, corrects: one });
  await expect(adjust({ ...taken, corrects: other })).rejects.toMatchObject(ANOTHER);
  expect(await adjust({ ...taken, corrects: one })).toMatchObject({ repeated: true });

  const ofBoth = { amountMicros: -600n, key: 'of both' };
  await adjust(ofBoth);
  await expect(adjust({ ...ofBoth, corrects: other })).rejects.toMatchObject(ANOTHER);
  expect(await adjust(ofBoth)).toMatchObject({ repeated: true, availableMicros: 300n });
});

it('is another one when it expires at another time', async () => {
  const granted = { amountMicros: 100n, key: 'k' };
  await adjust({ ...granted, expiresAt: new Date(NOON) });
  await expect(adjust(granted)).rejects.toMatchObject(ANOTHER);
  await expect(adjust({ ...granted, expiresAt: new Date('2030-01-02T12:00:00.000Z') })).rejects.toMatchObject(ANOTHER);
  expect(await adjust({ ...granted, expiresAt: new Date(NOON) })).toMatchObject({ repeated: true });
});

it('is the same one after others under keys that begin alike', async () => {
  const one = await grant(1_000n);
  await adjust({ amountMicros: 10n, key: 'k' });
  await adjust({ amountMicros: 20n, key: 'k 2' });
  expect(await adjust({ amountMicros: 10n, key: 'k' })).toMatchObject({ repeated: true });

  await adjust({ amountMicros: -30n, corrects: one, key: `k ${one}` });
  expect(await adjust({ amountMicros: 10n, key: 'k' })).toMatchObject({ repeated: true, availableMicros: 1_000n });
});

it('is the same one where a process of before took it from several grants', async () => {
  const [one, other] = [await grant(500n), await grant(500n)];
  const cause = `adjust:${accountId}:k`;
  await test.database.transaction(async (tx) => {
    const postings = new PostingStore();
    await postings.lockBalance(tx, accountId);
    for (const [corrects, amountMicros, its] of [
      [other, 500n, cause],
      [one, 100n, `${cause} ${one}`],
    ] as const) {
      const noted = {
        accountId,
        kind: 'correction',
        jobId: null,
        actor: 'test',
        reason: 'a test',
        expiresAt: null,
      } as const;
      const moves = [{ from: 'available', to: 'promotions', amountMicros } as const];
      await postings.post(tx, { ...noted, id: newId(), cause: its, corrects, moves });
    }
  });
  expect(await adjust({ amountMicros: -600n, key: 'k' })).toMatchObject({ repeated: true });
  await expect(adjust({ amountMicros: -500n, key: 'k' })).rejects.toMatchObject(ANOTHER);
});
