import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { makeAccount } from '@millrace/testing';
import { StorageStore } from '../records';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { FaultyBlobStore } from '../fixtures/faulty-blob-store';
import { wholeAccount } from '../records/asset-scope.store';

const SIZE = 10_000;
const bytes = (sizeBytes = SIZE): Buffer => randomBytes(sizeBytes);
const full: unknown = expect.objectContaining({ name: 'Refusal', code: 'storage_full', status: 422 });
const fields = {
  contentType: 'text/plain',
  filePath: null,
  tags: [],
  expiresInSeconds: null,
  labels: null,
  expectedHash: null,
};

let world: AssetWorld;
let here: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  here = world.process();
});
afterAll(() => world.drop());
beforeEach(async () => {
  accountId = await makeAccount(world.database);
});

const used = (): Promise<number> => here.quota.usedBytes(accountId);
const drift = async (): Promise<string[]> => {
  const found: string[] = [];
  for await (const { subject } of here.countAuditor.findings()) found.push(subject);
  return found;
};
afterEach(async () => expect(await drift()).toEqual([]));

/** Upload as a request does: with its size declared, or with the size found out as bytes arrive. */
async function upload(sent: Buffer, storageBytes: number, declares = true, process = here): Promise<string> {
  const staged = await process.uploads.stage(accountId, Readable.from([sent]), {
    uploadBytesPerDay: null,
    storageBytes,
    declaredBytes: declares ? sent.length : null,
  });
  const terms = { uploadBytesPerDay: null, storageBytes };
  return (await process.uploads.commit(accountId, staged, fields, terms)).asset.id;
}

async function outcomes(uploads: Promise<unknown>[]): Promise<{ passed: number; refused: number }> {
  const all = await Promise.allSettled(uploads);
  const refusals = all.filter((one) => one.status === 'rejected');
  for (const { reason } of refusals) expect(reason).toEqual(full);
  return { passed: all.length - refusals.length, refused: refusals.length };
}

describe('uploads at once', () => {
  it('of which three fit are three that pass, and no byte more', async () => {
    const all = Array.from({ length: 20 }, () => upload(bytes(), 3 * SIZE));
    expect(await outcomes(all)).toEqual({ passed: 3, refused: 17 });
    expect(await used()).toBe(3 * SIZE);
  });

  it('of unknown size never exceed the limit together, and one after the other fill it', async () => {
    const limit = 500_000;
    const all = Array.from({ length: 12 }, () => upload(bytes(150_000), limit, false));
    const { passed } = await outcomes(all);
    expect(passed).toBeLessThanOrEqual(3);
    expect(await used()).toBe(passed * 150_000);
    for (let count = passed; count < 3; count++) await upload(bytes(150_000), limit, false);
    await expect(upload(bytes(150_000), limit, false)).rejects.toEqual(full);
    expect(await used()).toBe(450_000);
  });

  it('of equal bytes count once', async () => {
    const sent = bytes();
    const all = Array.from({ length: 5 }, () => upload(sent, 5 * SIZE));
    expect(await outcomes(all)).toEqual({ passed: 5, refused: 0 });
    expect(await used()).toBe(SIZE);
  });

  it('of other accounts have room of their own', async () => {
    await upload(bytes(), SIZE);
    const other = await makeAccount(world.database);
    expect(await here.quota.usedBytes(other)).toBe(0);
    expect((await here.upload(other, bytes(), {}, { storageBytes: SIZE })).createdNew).toBe(true);
  });
});

describe('an upload beyond the limit', () => {
  it('is refused before it is read when its size is declared, and names the limit', async () => {
    const source = Readable.from([bytes()]);
    const options = { uploadBytesPerDay: null, storageBytes: SIZE - 1, declaredBytes: SIZE };
    const refused = await here.uploads.stage(accountId, source, options).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'storage_full', details: { limit_bytes: SIZE - 1 } });
    expect(source.destroyed).toBe(true);
    expect(await used()).toBe(0);
  });

  it('of unknown size ends as its bytes arrive, and leaves nothing', async () => {
    let sentBytes = 0;
    const endless = new Readable({
      read(): void {
        sentBytes += 32_768;
        this.push(bytes(32_768));
      },
    });
    const options = { uploadBytesPerDay: null, storageBytes: 200_000 };
    await expect(here.uploads.stage(accountId, endless, options)).rejects.toEqual(full);
    expect(sentBytes).toBeLessThan(600_000);
    expect(await used()).toBe(0);
  });

  it('uses the limit of the service where the account has none', async () => {
    const small = world.process(world.store, { storageBytesPerAccount: SIZE - 1 });
    const options = { uploadBytesPerDay: null, declaredBytes: SIZE };
    await expect(small.uploads.stage(accountId, Readable.from([bytes()]), options)).rejects.toEqual(full);
  });
});

describe('room', () => {
  it('is given back when the bytes are swept, not when the asset goes', async () => {
    const id = await upload(bytes(), SIZE);
    await here.assets.remove(wholeAccount(accountId), id);
    await expect(upload(bytes(), SIZE)).rejects.toEqual(full);
    await world.passGrace(accountId);
    await here.runLoop('sweep-blobs');
    expect(await used()).toBe(0);
    await upload(bytes(), SIZE);
  });

  it('is given back by an upload that fails or is discarded', async () => {
    const wrong = { ...fields, expectedHash: `blake3:${'0'.repeat(64)}` };
    const options = { uploadBytesPerDay: null, storageBytes: SIZE, declaredBytes: SIZE };
    const staged = await here.uploads.stage(accountId, Readable.from([bytes()]), options);
    await expect(here.uploads.commit(accountId, staged, wrong, options)).rejects.toMatchObject({
      code: 'hash_mismatch',
    });
    const broken = new Readable({ read: () => undefined });
    const staging = here.uploads.stage(accountId, broken, options);
    broken.destroy(new Error('the client went away'));
    await expect(staging).rejects.toThrow('went away');
    expect(await used()).toBe(0);
  });

  it.each(['after stage', 'before place', 'after place'] as const)(
    'of a process that dies %s counts once, until the sweeps come',
    async (point) => {
      const store = new FaultyBlobStore(world.store);
      store.dieAt(point);
      await expect(upload(bytes(), SIZE, true, world.process(store))).rejects.toThrow('dead');
      expect(await used()).toBeLessThanOrEqual(SIZE);
      await world.database.execute(Prisma.sql`UPDATE storage_reservations SET expires_at = now() - interval '1 s'`);
      await here.runLoop('sweep-reservations');
      await world.passGrace(accountId);
      await here.runLoop('sweep-blobs');
      expect(await used()).toBe(0);
      expect(await world.database.models.storageReservation.count()).toBe(0);
    },
  );

  it('of an upload in parts is taken when it begins, and given back when it is dropped', async () => {
    const terms = { uploadBytesPerDay: null, storageBytes: 2 * SIZE };
    const [first] = await Promise.all([
      here.resumable.begin(accountId, SIZE, fields, terms),
      here.resumable.begin(accountId, SIZE, fields, terms),
    ]);
    await expect(here.resumable.begin(accountId, 1, fields, terms)).rejects.toEqual(full);
    await expect(upload(bytes(1), 2 * SIZE)).rejects.toEqual(full);
    await here.resumable.abort(wholeAccount(accountId), first.id);
    expect(await used()).toBe(SIZE);
    await world.database.execute(Prisma.sql`UPDATE resumable_uploads SET expires_at = now() - interval '1 s'`);
    await here.runLoop('sweep-uploads');
    expect(await used()).toBe(0);
  });

  it('of an upload in parts becomes that of its blob when it is complete', async () => {
    const terms = { uploadBytesPerDay: null, storageBytes: SIZE };
    const { id } = await here.resumable.begin(accountId, SIZE, fields, terms);
    await here.resumable.receive(accountId, id, 1, Readable.from([bytes()]));
    await here.resumable.complete(wholeAccount(accountId), id, terms);
    expect(await used()).toBe(SIZE);
    await expect(upload(bytes(1), SIZE)).rejects.toEqual(full);
  });

  it('of an output is taken even beyond the limit', async () => {
    await upload(bytes(), SIZE);
    const jobId = await world.jobFor(accountId);
    const output = await here.assets.storeOutput(accountId, Readable.from([bytes()]), { name: 'a.txt' });
    expect(await world.mintOutput(jobId, { ...output, name: 'a.txt' })).not.toBeNull();
    expect(await used()).toBe(2 * SIZE);
    await expect(upload(bytes(1), SIZE)).rejects.toEqual(full);
  });
});

it('a count that is wrong is found, and corrected while uploads go on', async () => {
  await upload(bytes(), 100 * SIZE);
  await world.database.execute(Prisma.sql`
    UPDATE account_storage SET stored_bytes = stored_bytes + 7 WHERE account_id = ${accountId}::uuid`);
  expect(await drift()).toEqual([accountId]);
  const storage = new StorageStore();
  await Promise.all([
    ...Array.from({ length: 8 }, () => upload(bytes(), 100 * SIZE)),
    here.runLoop('recount-storage'),
    storage.recount(world.database, accountId),
  ]);
  await here.runLoop('recount-storage');
  expect(await used()).toBe(9 * SIZE);
});

it('blobs that an older process recorded are counted as well', async () => {
  const record = Prisma.sql`
    INSERT INTO blobs (account_id, hash, size_bytes)
    VALUES (${accountId}::uuid, ${`blake3:${'ab'.repeat(32)}`}, 123)`;
  await world.database.execute(record);
  expect(await used()).toBe(123);
  await world.database.execute(Prisma.sql`DELETE FROM blobs WHERE account_id = ${accountId}::uuid`);
  expect(await used()).toBe(0);
});

it('what was stored before there was a count is counted by the migration', async () => {
  await upload(bytes(), SIZE);
  await world.database.execute(Prisma.sql`DELETE FROM account_storage WHERE account_id = ${accountId}::uuid`);
  expect(await drift()).toEqual([accountId]);
  const migration = resolve('prisma/migrations/20261124010000_storage_counts/migration.sql');
  await world.database.execute(Prisma.raw(await readFile(migration, 'utf8')));
  expect(await used()).toBe(SIZE);
});

it('a reservation that expired while its upload was held up leaves the count right', async () => {
  const reservation = await here.quota.reserve(accountId, null, SIZE);
  await world.database.execute(Prisma.sql`DELETE FROM storage_reservations WHERE id = ${reservation.id}::uuid`);
  await expect(reservation.cover(1)).rejects.toEqual(full);
  await reservation.release();
  expect(await used()).toBe(0);
});
