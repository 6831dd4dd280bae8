import { randomBytes } from 'node:crypto';
import { AccountErasureStore, AuditLog, AuditLogStore } from '@millrace/accounts';
import type { AssetEraser } from '@millrace/assets';
import { BookErasureStore } from '@millrace/billing';
import { newId } from '@millrace/contracts';
import { DeploymentLifeStore } from '@millrace/deployments';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { WebhookErasureStore } from '@millrace/webhooks';
import type { ErasureLease } from './erasure';
import { ErasureRunner } from './erasure-runner';
import { ErasureSteps, nextStep, type Erasers, type Outcome } from './erasure-steps';
import { ErasureStore } from './erasure.store';
import { Erasures } from './erasures.service';

let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
});
afterAll(() => test.drop());

/** Erases what stands in tables of accounts; of jobs and assets there are none. */
function stepsWith(assets: Partial<Erasers['assets']> = {}): ErasureSteps {
  const jobs = { cancelSome: () => Promise.resolve(0), listEnded: () => Promise.resolve([]) };
  return new ErasureSteps({
    jobs: { ...jobs, hasAny: () => Promise.resolve(false) },
    assets: { hasUploadBefore: () => Promise.resolve(false), ...assets },
    webhooks: new WebhookErasureStore(),
    deployments: new DeploymentLifeStore(),
    books: new BookErasureStore(),
    accounts: new AccountErasureStore(),
  } as unknown as Erasers);
}

async function run(step: string, steps = stepsWith()): Promise<Outcome> {
  const subject = { kind: 'account' };
  const lease = {
    id: newId(),
    accountId,
    subject,
    pseudonym: 'erased-1',
    place: null,
    settlesAt: new Date(0),
    isSettled: true,
  };
  const done = await steps.run(step, lease as ErasureLease);
  return typeof done === 'function' ? test.database.transaction(done) : done;
}

/** What a process accepts that has a key of the account cached. */
async function accept(): Promise<void> {
  const { models } = test.database;
  const { poolId } = await makePool(test.database);
  await models.deployment.create({ data: { id: newId(), accountId, name: 'adas-portraits', poolId } });
  const receiver = { url: 'https://ada.example.com/', origin: 'https://ada.example.com', eventTypes: ['job.failed'] };
  await models.webhookEndpoint.create({ data: { id: newId(), accountId, ...receiver } });
  await models.exportDestination.create({ data: { accountId, nextDay: new Date() } });
  const soon = new Date(Date.now() + 900_000);
  const mail = { id: newId(), accountId, sealed: randomBytes(8), expiresAt: soon };
  await models.mailMessage.create({ data: mail });
  await models.signInLink.create({ data: { id: newId(), accountId, tokenHash: randomBytes(32), expiresAt: soon } });
}

it('nothing is sent for the account and its deployments stop as soon as it is closed, though its erasure cannot be noted', async () => {
  await accept();
  const [webhooks, deployments] = [new WebhookErasureStore(), new DeploymentLifeStore()];
  const sources = { accounts: new AccountErasureStore(), webhooks, deployments };
  const audit = new AuditLog(test.database, new AuditLogStore());
  const erasures = new Erasures(
    test.database,
    new ErasureStore(),
    sources,
    () => Promise.resolve(true),
    audit,
    { hold: () => Promise.resolve() },
    () => undefined,
  );
  const operator = { actor: 'admin', address: null, keyId: null };
  await erasures.request(operator, accountId, { kind: 'account' });
  const keep = (): Promise<never> => Promise.reject(new Error('the bucket is away'));
  const steps = new ErasureSteps({ notes: { keep } } as unknown as Erasers);
  const runner = new ErasureRunner(test.database, new ErasureStore(), steps, 0);
  await expect(runner.runOnce()).rejects.toThrow('the bucket is away');
  const { models } = test.database;
  // What they were stays until the erasure is noted: after a restore it is asked for again by that.
  expect(await models.webhookEndpoint.findMany({ where: { accountId } })).toMatchObject([
    { url: 'https://ada.example.com/', deletedAt: expect.any(Date) as Date },
  ]);
  expect(await models.deployment.findMany({ where: { accountId } })).toMatchObject([
    { name: 'adas-portraits', desiredState: 'stopped', stoppedAt: expect.any(Date) as Date },
  ]);
});

it('what was accepted while the account was being closed is closed when no process has its keys any more', async () => {
  await run('close');
  await accept();
  for (let step = 'jobs'; step !== 'uploads'; step = nextStep('account', step) ?? '') await run(step);
  const { models } = test.database;
  const where = { accountId };
  expect(await models.deployment.findMany({ where })).toMatchObject([{ name: 'erased-1', desiredState: 'stopped' }]);
  const [endpoint] = await models.webhookEndpoint.findMany({ where });
  expect(endpoint).toMatchObject({ url: 'https://erased.invalid/', deletedAt: expect.any(Date) as Date });
  expect(await models.exportDestination.count({ where })).toBe(0);
  expect(await models.mailMessage.count({ where })).toBe(0);
  expect(await models.signInLink.count({ where })).toBe(0);
});

type Dropped = Awaited<ReturnType<AssetEraser['dropUploads']>>;

it('uploads are over when no request completes one any more', async () => {
  let isHeld = true;
  const dropUploads = (): Promise<Dropped> => Promise.resolve({ uploads: 0, refusal: null });
  const steps = stepsWith({ dropUploads, hasHeldUpload: () => Promise.resolve(isHeld) });
  expect(await run('uploads', steps)).toEqual({ next: 'wait' });
  isHeld = false;
  expect(await run('uploads', steps)).toEqual({ next: 'over' });
});

it.each(['label', 'account'] as const)(
  'an upload that cannot be dropped keeps nothing else of the %s',
  async (kind) => {
    const refusal = new Error('no handle of this store');
    const dropUploads = (): Promise<Dropped> => Promise.resolve({ uploads: 0, refusal });
    const steps = stepsWith({ dropUploads, hasHeldUpload: () => Promise.resolve(false) });
    expect(await run('uploads', steps)).toEqual({ next: 'over' });
    const order: string[] = [];
    for (let step = nextStep(kind, null); step !== null; step = nextStep(kind, step)) order.push(step);
    expect(order.slice(-3)).toEqual(
      kind === 'label' ? ['uploads-again', 'assets-again', 'bytes'] : ['uploads-again', 'bytes', 'notes'],
    );
    // It is not done as long as the upload is there.
    await expect(run('uploads-again', steps)).rejects.toThrow('no handle');
  },
);
