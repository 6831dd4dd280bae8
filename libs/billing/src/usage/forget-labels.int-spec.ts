import { newId } from '@millrace/contracts';
import { createTestDatabase, testBilling, type TestDatabase } from '@millrace/testing';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('labels are forgotten after 400 days, and nothing else of the record', async () => {
  const record = async (daysAgo: number): Promise<string> => {
    const jobId = newId();
    const what = { status: 'succeeded', billableMs: 5n, chargedMicros: 7n, labels: { project: 'film' } };
    const finishedAt = new Date(Date.now() - daysAgo * 86_400_000);
    await test.database.models.usageRecord.create({ data: { jobId, accountId: newId(), finishedAt, ...what } });
    return jobId;
  };
  const [young, old] = [await record(399), await record(401)];
  const loop = testBilling(test.database).loops.find(({ name }) => name === 'forget-labels');
  expect(await loop?.runOnce()).toBe(1);
  expect(await loop?.runOnce()).toBe(0);
  const [kept, forgotten] = await Promise.all(
    [young, old].map((jobId) => test.database.models.usageRecord.findUniqueOrThrow({ where: { jobId } })),
  );
  expect(kept?.labels).toEqual({ project: 'film' });
  expect(forgotten).toMatchObject({ labels: {}, billableMs: 5n, chargedMicros: 7n });
});
