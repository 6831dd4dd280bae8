import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { Prisma } from '@prisma/client';
import { Refusal, newId } from '@millrace/contracts';
import { AddressGuard, KeyRing, createLogger } from '@millrace/platform';
import {
  createTestDatabase,
  eventually,
  followersOf,
  makeAccount,
  testBilling,
  type TestDatabase,
} from '@millrace/testing';
import { DailyExports, ExportStore } from '../exports';
import { claimDeliveries, planDeliveries, recordWrite, type ClaimRoom, type WriteOutcome } from './claim.store';
import { ExportDeliveries } from './deliveries.service';
import { DeliveryStore } from './delivery.store';
import { DestinationSecrets } from './destination-secrets';
import { DestinationStore } from './destination.store';
import { ExportDestinations } from './destinations.service';
import { ExportDeliverer } from './export-deliverer';
import type { ExportBucket, ObjectDraft, ObjectWriter } from './export-destination';
import { ResealExportSecretsLoop } from './reseal-export-secrets.loop';
import { PAUSES_SECONDS, pauseSeconds } from './retry-schedule';
import { SweepExportsLoop } from './sweep-exports.loop';

const DAY = '2026-03-14';
const AFTER = new Date('2026-03-15T00:10:00.000Z');
const SECRET = 'the-secret-of-the-bucket';
const BUCKET: ExportBucket = {
  bucket: 'acme-finance',
  region: 'eu-central-1',
  endpoint: null,
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: SECRET,
};

/** A bucket in memory, whose answers a test decides. */
class MemoryBucket implements ObjectWriter {
  readonly objects = new Map<string, Buffer>();
  readonly targets: (ExportBucket | null)[] = [];
  /** Null: it takes what comes. */
  fault: string | null = null;
  /** Waited for before an object is written. */
  gate: Promise<void> = Promise.resolve();

  async write(target: ExportBucket | null, { name, bytes }: ObjectDraft): Promise<string | null> {
    this.targets.push(target);
    const chunks: Buffer[] = [];
    for await (const chunk of bytes) chunks.push(chunk as Buffer);
    await this.gate;
    if (this.fault !== null) return this.fault;
    this.objects.set(name, Buffer.concat(chunks));
    return null;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const ROOM: ClaimRoom = { lane: 'quick', limit: 1, slow: [], taken: [], after: null };
const ring = KeyRing.of(Buffer.alloc(32, 7));
const secrets = new DestinationSecrets(ring);
const places = new DestinationStore();
const store = new DeliveryStore();
const logger = createLogger('test', 'silent');

let test: TestDatabase;
let accountId: string;
let bucket: MemoryBucket;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  await test.database.execute(Prisma.sql`DELETE FROM export_deliveries`);
  await test.database.execute(Prisma.sql`DELETE FROM export_destinations`);
  accountId = await makeAccount(test.database);
  bucket = new MemoryBucket();
});
afterAll(() => test.drop());

const exportsAt = (now: Date): DailyExports => new DailyExports(test.database, new ExportStore(), now);
const destinationsAt = (now = AFTER, hasOwnBucket = true): ExportDestinations =>
  new ExportDestinations(test.database, places, secrets, new AddressGuard([]), exportsAt(now), hasOwnBucket);
const deliveriesAt = (now = AFTER): ExportDeliveries => new ExportDeliveries(test.database, store, exportsAt(now));
const delivererAt = (now = AFTER, opened = secrets): ExportDeliverer =>
  new ExportDeliverer(test.database, exportsAt(now), opened, bucket, 'the-service', logger);

const setBucket = (target: ExportBucket | null = BUCKET, prefix = 'millrace/'): Promise<unknown> =>
  destinationsAt().put(test.database, accountId, { target, prefix });

/** Do all that is due. */
async function deliver(now = AFTER, opened = secrets): Promise<void> {
  for (let begun = 1; begun > 0;) {
    const deliverer = delivererAt(now, opened);
    begun = await deliverer.deliverDue();
    await deliverer.close();
  }
}
const listed = async (): Promise<[string | null, string][]> =>
  (await deliveriesAt().list(accountId, { cursor: null, limit: 100 })).items.map(({ day, state }) => [day, state]);

/** Jobs that were charged `micros` each, with what the ledger has of it. */
async function charge(count: number, micros: bigint, at = new Date(`${DAY}T12:00:00.000Z`)): Promise<void> {
  await test.database.execute(Prisma.sql`
    WITH job AS (SELECT gen_random_uuid() AS id, gen_random_uuid() AS transaction_id FROM generate_series(1, ${count}::int)),
    account AS (INSERT INTO balances (account_id) VALUES (${accountId}::uuid) ON CONFLICT DO NOTHING),
    usage AS (
      INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
      SELECT id, ${accountId}::uuid, 'succeeded', 1500, ${micros}, '{}', ${at} FROM job),
    made AS (
      INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor, at)
      SELECT transaction_id, ${accountId}::uuid, 'settle', id, 'job:' || id || ':end', 'lifecycle', ${at} FROM job)
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT transaction_id, 1, 'held', 'revenue', ${micros}::bigint FROM job`);
}

async function findings(): Promise<string[]> {
  const found: string[] = [];
  for await (const { check } of testBilling(test.database).audit.findings()) found.push(check);
  return found;
}

describe('a day', () => {
  it('is written once it is complete: usage, ledger, and last what both add up to', async () => {
    await charge(1_500, 3n);
    await setBucket();
    await deliver();
    const names = [`millrace/usage/${DAY}.csv.gz`, `millrace/ledger/${DAY}.csv.gz`, `millrace/manifest/${DAY}.json`];
    expect([...bucket.objects.keys()]).toEqual(names);
    const [usage = Buffer.alloc(0), ledger = Buffer.alloc(0), manifest = Buffer.alloc(0)] = bucket.objects.values();
    expect(gunzipSync(usage).toString().split('\r\n')).toHaveLength(1_502);
    const fact = (dataset: string, bytes: Buffer): object => ({
      dataset,
      rows: 1_500,
      charged_micros: 4_500,
      size_bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    expect(JSON.parse(manifest.toString())).toMatchObject({
      account_id: accountId,
      day: DAY,
      files: [fact('usage', usage), fact('ledger', ledger)],
    });
    const [delivery] = (await deliveriesAt().list(accountId, { cursor: null, limit: 10 })).items;
    expect(delivery).toMatchObject({
      day: DAY,
      state: 'delivered',
      location: 's3://acme-finance/millrace/',
      usageRows: 1_500n,
      usageMicros: 4_500n,
      ledgerRows: 1_500n,
      ledgerMicros: 4_500n,
      dueAt: null,
      attempts: [{ attempt: 1, error: null }],
    });
    expect(bucket.targets[0]).toEqual(BUCKET);
    expect((await findings()).filter((check) => check === 'delivered-export-is-of-the-ledger')).toEqual([]);
  });

  it('is written once, however many processes look for it, and the next when it is over', async () => {
    await setBucket();
    await Promise.all([deliver(), deliver(), deliver()]);
    await deliver(new Date('2026-03-16T00:09:59.999Z'));
    expect(await listed()).toEqual([[DAY, 'delivered']]);
    expect(bucket.targets).toHaveLength(3);
    await deliver(new Date('2026-03-18T12:00:00.000Z'));
    expect((await listed()).map(([day]) => day).sort()).toEqual([DAY, '2026-03-15', '2026-03-16', '2026-03-17']);
  });

  it('leaves nothing on what cuts attempts off when the process stops', async () => {
    await setBucket();
    const deliverer = delivererAt();
    await deliverer.deliverDue();
    await eventually('the day to be written', async () => (await listed())[0]?.[1] === 'delivered');
    expect(followersOf((Reflect.get(deliverer, 'closing') as AbortController).signal)).toBe(0);
    await deliverer.close();
  });

  it('that is written again has the same bytes under the same names', async () => {
    await charge(20, 7n);
    await setBucket();
    await deliver();
    const before = new Map(bucket.objects);
    await deliveriesAt().requestDay(accountId, DAY);
    expect(await listed()).toEqual([[DAY, 'pending']]);
    bucket.objects.clear();
    await deliver();
    expect(await listed()).toEqual([[DAY, 'delivered']]);
    expect([...bucket.objects.keys()]).toEqual([...before.keys()]);
    for (const [name, bytes] of before) expect(bucket.objects.get(name)?.equals(bytes)).toBe(true);
  });

  it('before the destination can be asked for; one that is not over cannot, nor where there is no destination', async () => {
    await expect(deliveriesAt().requestDay(accountId, DAY)).rejects.toThrow(Refusal);
    await setBucket();
    await deliveriesAt().requestDay(accountId, '2026-01-31');
    await deliver();
    expect(bucket.objects.has('millrace/usage/2026-01-31.csv.gz')).toBe(true);
    for (const day of ['2026-03-15', '2026-02-30']) {
      await expect(deliveriesAt().requestDay(accountId, day)).rejects.toThrow(Refusal);
    }
  });

  it('of another account is not found', async () => {
    await setBucket();
    const { id } = await deliveriesAt().test(accountId);
    await expect(deliveriesAt().get(await makeAccount(test.database), id)).rejects.toThrow(Refusal);
  });

  it('that was written with other sums than the books have is found by the audit', async () => {
    await charge(2, 5n);
    await setBucket();
    await deliver();
    expect(await findings()).not.toContain('delivered-export-is-of-the-ledger');
    await test.database.execute(Prisma.sql`
      UPDATE export_deliveries SET ledger_micros = ledger_micros + 1 WHERE account_id = ${accountId}::uuid`);
    expect(await findings()).toContain('delivered-export-is-of-the-ledger');
  });

  it('to which something was posted after it was written is found by the audit', async () => {
    await charge(2, 5n);
    await setBucket();
    await deliver();
    await charge(1, 5n);
    expect(await findings()).toContain('delivered-export-is-of-the-ledger');
    await deliveriesAt().requestDay(accountId, DAY);
    await deliver();
    expect(await findings()).not.toContain('delivered-export-is-of-the-ledger');
  });
});

describe("the service's own bucket", () => {
  it('has the files of each account under a name of its own', async () => {
    await setBucket(null, 'a/');
    await deliver();
    expect([...bucket.objects.keys()][0]).toBe(`exports/${accountId}/a/usage/${DAY}.csv.gz`);
    expect(bucket.targets[0]).toBeNull();
    const [delivery] = (await deliveriesAt().list(accountId, { cursor: null, limit: 10 })).items;
    expect(delivery?.location).toBe(`s3://the-service/exports/${accountId}/a/`);
  });

  it('is refused where there is none', async () => {
    const draft = { target: null, prefix: '' };
    await expect(destinationsAt(AFTER, false).put(test.database, accountId, draft)).rejects.toThrow(Refusal);
  });
});

describe('a bucket that does not take files', () => {
  const state = async (): Promise<{
    dueIn: number;
    tries: number;
    failingSince: Date | null;
    disabledReason: string | null;
  }> => {
    const [row] = await test.database.rows<Awaited<ReturnType<typeof state>>>(Prisma.sql`
      SELECT extract(epoch FROM v.due_at - now())::float8 AS due_in, v.tries, d.failing_since, d.disabled_reason
      FROM export_deliveries v JOIN export_destinations d USING (account_id) WHERE v.account_id = ${accountId}::uuid AND v.day IS NOT NULL`);
    return row as Awaited<ReturnType<typeof state>>;
  };
  const makeDue = (): Promise<number> =>
    test.database.execute(
      Prisma.sql`UPDATE export_deliveries SET due_at = now() - interval '1 s' WHERE account_id = ${accountId}::uuid`,
    );

  it('gets them later, after pauses that grow', async () => {
    bucket.fault = 'The server refused the connection.';
    await setBucket();
    for (const [index, pause] of PAUSES_SECONDS.entries()) {
      await makeDue();
      await deliver();
      const { dueIn, tries, failingSince } = await state();
      expect(tries).toBe(index + 1);
      expect(failingSince).not.toBeNull();
      expect(dueIn).toBeLessThan(pause * 1.2 + 1);
      expect(pauseSeconds(index + 1, () => 0)).toBeCloseTo(pause * 0.8);
    }
    const [delivery] = (await deliveriesAt().list(accountId, { cursor: null, limit: 10 })).items;
    expect(delivery?.attempts.map(({ error }) => error)).toEqual(PAUSES_SECONDS.map(() => bucket.fault));
    expect(await listed()).toEqual([[DAY, 'pending']]);
    bucket.fault = null;
    await makeDue();
    await deliver();
    expect([await listed(), (await destinationsAt().get(accountId)).failingSince]).toEqual([
      [[DAY, 'delivered']],
      null,
    ]);
  });

  it('for three days is disabled, its account is notified, and days that were missed come when it is enabled', async () => {
    const endpointId = newId();
    await test.database.execute(Prisma.sql`
      INSERT INTO webhook_endpoints (id, account_id, url, event_types, origin)
      VALUES (${endpointId}::uuid, ${accountId}::uuid, 'https://a.example.com', '{exports.disabled}', 'https://b.example.com')`);
    bucket.fault = 'There is no such bucket.';
    await setBucket();
    await deliver();
    await test.database.execute(Prisma.sql`
      UPDATE export_destinations SET failing_since = now() - interval '72 hours 1 second' WHERE account_id = ${accountId}::uuid`);
    await makeDue();
    await deliver();
    expect((await state()).disabledReason).toBe('failing');
    const messages = await test.database.rows<{ type: string; data: object }>(Prisma.sql`
      SELECT type, data FROM webhook_messages WHERE endpoint_id = ${endpointId}::uuid`);
    expect(messages).toMatchObject([{ type: 'exports.disabled', data: { reason: 'failing', bucket: 'acme-finance' } }]);
    bucket.fault = null;
    await makeDue();
    await deliver(new Date('2026-03-17T12:00:00.000Z'));
    expect(await listed()).toEqual([[DAY, 'pending']]);
    await destinationsAt().enable(test.database, accountId, true);
    await deliver(new Date('2026-03-17T12:00:00.000Z'));
    expect((await listed()).sort()).toEqual([
      [DAY, 'delivered'],
      ['2026-03-15', 'delivered'],
      ['2026-03-16', 'delivered'],
    ]);
  });

  it('delays no other: a few attempts at failing ones leave places for the rest', async () => {
    const failing: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      await setBucket();
      failing.push(accountId);
      accountId = await makeAccount(test.database);
    }
    await test.database.execute(Prisma.sql`UPDATE export_destinations SET failing_since = now()`);
    await setBucket();
    let open = (): void => undefined;
    bucket.gate = new Promise((resolve) => (open = resolve));
    const deliverer = delivererAt();
    await deliverer.deliverDue();
    await eventually('places to be taken', () => Promise.resolve(bucket.targets.length >= 4 || null));
    const [own] = await test.database.rows<{ attempt: number }>(Prisma.sql`
      SELECT attempt FROM export_deliveries WHERE account_id = ${accountId}::uuid`);
    expect(own?.attempt).toBe(1);
    open();
    await deliverer.close();
  });
});

describe('what was begun', () => {
  const claim = async (leaseSeconds = 60) => {
    const [claimed] = await claimDeliveries(test.database, ROOM, leaseSeconds);
    if (claimed === undefined) throw new Error('nothing is due');
    return claimed;
  };
  const sums = { rows: 0n, chargedMicros: 0n, sizeBytes: 1, sha256: Buffer.alloc(32) };
  const outcome: WriteOutcome = { kind: 'delivered', location: 's3://a/', files: { usage: sums, ledger: sums } };

  it('is nobody else’s while its lease lasts, and due again when its process died', async () => {
    await setBucket();
    await deliveriesAt().requestDay(accountId, DAY);
    const first = await claim(0);
    const second = await claim();
    expect([first.attempt, second.attempt]).toEqual([1, 2]);
    expect(await claimDeliveries(test.database, ROOM, 60)).toEqual([]);
    expect(await recordWrite(test.database, first, outcome, 1)).toBe(false);
    expect(await listed()).toEqual([[DAY, 'pending']]);
    expect(await recordWrite(test.database, second, outcome, 1)).toBe(true);
    expect(await listed()).toEqual([[DAY, 'delivered']]);
  });

  it('does not count for a place that has changed since', async () => {
    await setBucket();
    await deliveriesAt().requestDay(accountId, DAY);
    const before = await claim();
    await setBucket({ ...BUCKET, bucket: 'another' });
    expect(await recordWrite(test.database, before, outcome, 1)).toBe(false);
    await deliver();
    const [delivery] = (await deliveriesAt().list(accountId, { cursor: null, limit: 10 })).items;
    expect([delivery?.state, delivery?.location]).toEqual(['delivered', 's3://another/millrace/']);
  });

  it('is written to the next place, and does not count, when one is set after its own was removed', async () => {
    await setBucket();
    await planDeliveries(test.database, AFTER);
    const before = await claim();
    await destinationsAt().delete(test.database, accountId);
    await setBucket(null);
    await planDeliveries(test.database, AFTER);
    expect(await recordWrite(test.database, before, outcome, 1)).toBe(false);
    await deliver();
    expect([await listed(), bucket.targets]).toEqual([[[DAY, 'delivered']], [null, null, null]]);
  });

  it('does not count when the day was asked for again meanwhile', async () => {
    await setBucket();
    await deliveriesAt().requestDay(accountId, DAY);
    const before = await claim();
    await deliveriesAt().requestDay(accountId, DAY);
    expect(await recordWrite(test.database, before, outcome, 1)).toBe(false);
    expect(await listed()).toEqual([[DAY, 'pending']]);
  });

  it('is given up when the destination is removed, with its credentials', async () => {
    await setBucket();
    await deliveriesAt().requestDay(accountId, DAY);
    await destinationsAt().delete(test.database, accountId);
    await deliver();
    expect([await listed(), bucket.targets]).toEqual([[[DAY, 'failed']], []]);
    await expect(destinationsAt().get(accountId)).rejects.toThrow(Refusal);
  });
});

describe('a test', () => {
  it('writes a small file, once; two that wait are one', async () => {
    await setBucket(BUCKET, '');
    const [one, two] = [await deliveriesAt().test(accountId), await deliveriesAt().test(accountId)];
    expect(one.id).toBe(two.id);
    await deliver(new Date(`${DAY}T00:10:00.000Z`));
    expect([...bucket.objects.keys()]).toContain('test.txt');
    expect((await deliveriesAt().get(accountId, one.id)).state).toBe('delivered');
  });

  it('says why it failed, and leaves the days alone; of a disabled destination too', async () => {
    await setBucket();
    await destinationsAt().enable(test.database, accountId, false);
    bucket.fault = 'There is no such bucket.';
    const { id } = await deliveriesAt().test(accountId);
    await deliver();
    expect(await deliveriesAt().get(accountId, id)).toMatchObject({
      state: 'failed',
      attempts: [{ error: 'There is no such bucket.' }],
    });
    expect((await destinationsAt().get(accountId)).failingSince).toBeNull();
  });
});

describe('the secret of a bucket', () => {
  const sealed = async (): Promise<Buffer> => {
    const [row] = await test.database.rows<{ sealedSecret: Buffer }>(Prisma.sql`
      SELECT sealed_secret FROM export_destinations WHERE account_id = ${accountId}::uuid`);
    return Buffer.from(row?.sealedSecret ?? Buffer.alloc(0));
  };

  it('is kept sealed for its account alone, and is in no answer', async () => {
    const shown = await destinationsAt().put(test.database, accountId, { target: BUCKET, prefix: '' });
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect((await sealed()).includes(SECRET)).toBe(false);
    expect(secrets.open(await sealed(), accountId)).toBe(SECRET);
    expect(() => secrets.open(Buffer.from([...Buffer.from('mr2.')]), accountId)).toThrow();
    const other = await sealed();
    expect(() => secrets.open(other, newId())).toThrow();
  });

  it('is sealed again with a new key, before the old one is removed', async () => {
    await setBucket();
    const both = KeyRing.parse(
      `next:${Buffer.alloc(32, 9).toString('base64')},old:${Buffer.alloc(32, 7).toString('base64')}`,
    );
    if (typeof both === 'string') throw new Error(both);
    const opened = new DestinationSecrets(both);
    await test.database.execute(Prisma.sql`
      UPDATE export_destinations SET sealed_secret = ${new DestinationSecrets(onlyOld()).seal(SECRET, accountId)}
      WHERE account_id = ${accountId}::uuid`);
    expect(await new ResealExportSecretsLoop(test.database, places, opened).runOnce()).toBe(1);
    expect(await new ResealExportSecretsLoop(test.database, places, opened).runOnce()).toBe(0);
    expect(opened.open(await sealed(), accountId)).toBe(SECRET);
    expect((await sealed()).subarray(0, opened.sealedHead.length).equals(opened.sealedHead)).toBe(true);
  });

  it('that cannot be opened any more says so, and is asked for', async () => {
    await setBucket();
    await deliver(AFTER, new DestinationSecrets(KeyRing.of(Buffer.alloc(32, 1))));
    const [delivery] = (await deliveriesAt().list(accountId, { cursor: null, limit: 10 })).items;
    expect(delivery?.attempts[0]?.error).toMatch(/Set the destination again/);
  });

  function onlyOld(): KeyRing {
    const old = KeyRing.parse(`old:${Buffer.alloc(32, 7).toString('base64')}`);
    if (typeof old === 'string') throw new Error(old);
    return old;
  }
});

it('an endpoint to which nothing is sent is refused', async () => {
  for (const endpoint of ['http://s3.example.com', 'https://169.254.169.254', 'https://localhost:9000']) {
    const draft = { target: { ...BUCKET, endpoint }, prefix: '' };
    await expect(destinationsAt().put(test.database, accountId, draft)).rejects.toThrow(Refusal);
  }
});

it('what was written long ago is forgotten, and tests sooner', async () => {
  await setBucket();
  await deliveriesAt().test(accountId);
  await deliver();
  const age = (days: number): Promise<number> =>
    test.database.execute(Prisma.sql`
      UPDATE export_deliveries SET created_at = now() - make_interval(days => ${days}) WHERE account_id = ${accountId}::uuid`);
  const sweep = new SweepExportsLoop(test.database, store);
  await age(13);
  expect(await sweep.runOnce()).toBe(0);
  await age(15);
  expect(await sweep.runOnce()).toBe(1);
  expect(await listed()).toEqual([[DAY, 'delivered']]);
  await age(401);
  expect([await sweep.runOnce(), await listed()]).toEqual([1, []]);
});
