import { Prisma } from '@prisma/client';
import fc from 'fast-check';
import { eventually } from '@millrace/testing';
import { AUDIT_LOG_FLOOR_SECONDS } from '../accounts.settings';
import { AuditLogStore } from '../audit-log';
import { contentDigestOf, entryDigestOf, segmentHashOf } from './format/digests';
import { encoded } from './format/encoding';
import { AuditWorld, BEFORE_ALL } from './fixtures/audit-world';
import { SealAuditLogLoop } from './seal-audit-log.loop';
import { addressStays } from './format/sealed-entry';
import { NO_HASH } from './format/segment';

const DAY_SECONDS = 86_400;
/** Waits for nothing but the moment at which it is let go. */
function gate(): { open: () => void; passed: Promise<void> } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
}

let world: AuditWorld;
beforeAll(async () => {
  world = await AuditWorld.open();
});
beforeEach(() => world.clear());
afterAll(() => world.test.drop());

const unsealed = async (): Promise<number> =>
  (await world.database.models.auditEntry.findMany({ where: { segment: null } })).length;
const logged: object[] = [];
const loopOf = (waitSeconds: number): SealAuditLogLoop =>
  new SealAuditLogLoop(
    world.database,
    world.segments,
    { info: (fields: object) => void logged.push(fields) },
    waitSeconds,
  );

describe('what is sealed', () => {
  it('is what PostgreSQL and this process hash alike', async () => {
    await world.append({ actor: 'admin', reason: 'ticket 1', details: { value: 'ä€𝄞', n: 1.5, list: [null, true] } });
    await world.append({ actor: 'api_key:1', accountId: null, address: null });
    await world.append({ actor: 'operator:ada@example.com' });
    await world.seal();
    await world.sealed(2);
    const [first, second] = await world.all();
    for (const segment of [first, second]) {
      if (segment === undefined) throw new Error('there are two segments');
      for (const { facts, content, salt, contentDigest, digest } of segment.found) {
        expect(contentDigestOf(salt ?? NO_HASH, content)).toEqual(contentDigest);
        expect(entryDigestOf(facts, contentDigest)).toEqual(digest);
      }
      expect(
        segmentHashOf(
          segment,
          segment.found.map(({ digest }) => digest),
        ),
      ).toEqual(segment.hash);
    }
    expect([first?.no, first?.entries, first?.previousHash]).toEqual([1n, 3, NO_HASH]);
    expect([second?.no, second?.entries, second?.previousHash]).toEqual([2n, 2, first?.hash]);
    const salts = [first, second].flatMap((segment) => segment?.found.map(({ salt }) => salt?.toString('hex')) ?? []);
    expect(new Set(salts).size).toBe(5);
    expect(salts.every((salt) => salt?.length === 64)).toBe(true);
  });

  it('is encoded alike, with any fields', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((one) => !one.includes('\0'));
    const lists = fc.sample(fc.array(fc.option(text, { nil: null }), { minLength: 1, maxLength: 6 }), 200);
    const rows = await world.database.rows<{ bytes: Buffer }>(Prisma.sql`
      SELECT audit_encoded(VARIADIC ARRAY(SELECT f FROM jsonb_array_elements_text(list) WITH ORDINALITY AS t (f, n) ORDER BY n)) AS bytes
      FROM jsonb_array_elements(${JSON.stringify(lists)}::jsonb) WITH ORDINALITY AS given (list, place) ORDER BY place`);
    expect(rows.map(({ bytes }) => bytes)).toEqual(lists.map(encoded));
  });

  it.each([
    ...['admin', 'token:ci', 'operator:ada@example.com', 'api_key:1', 'member:1', 'session:1', 'stripe'],
    ...['unauthenticated', 'invitation', 'sign_in_link', 'self_hosted', 'administrator', 'an actor of the future'],
  ])('has the same rule for the address of %s', async (actor) => {
    const [row] = await world.database.rows<{ stays: boolean }>(
      Prisma.sql`SELECT audit_address_stays(${actor}) AS stays`,
    );
    expect(row?.stays).toBe(addressStays(actor));
  });
});

describe('the loop', () => {
  it('waits until an entry has waited, or there are enough for a segment', async () => {
    await world.append();
    expect(await loopOf(60).runOnce()).toBe(0);
    expect(await world.segments.seal(world.database, 60, 1)).toBe(1n);
    await world.asOwner(Prisma.sql`UPDATE audit_log SET segment = NULL`);
    await world.asOwner(Prisma.sql`UPDATE audit_log SET at = at - interval '61 s'`);
    expect(await loopOf(60).runOnce()).toBe(1);
    expect(await loopOf(0).runOnce()).toBe(0);
  });

  it('seals a long log in bounded segments, the oldest first, and logs the hash of each', async () => {
    logged.length = 0;
    const ids: string[] = [];
    for (let nth = 0; nth < 7; nth += 1) ids.push(await world.append());
    const segments = [3, 3, 1];
    for (let nth = 0; nth < 3; nth += 1) expect(await world.segments.seal(world.database, 0, 3)).toBe(BigInt(nth + 1));
    const all = await world.all();
    expect(all.map(({ entries }) => entries)).toEqual(segments);
    expect(all.flatMap(({ found }) => found.map(({ facts }) => facts.id))).toEqual(ids);
    await world.append();
    await loopOf(0).runOnce();
    const [hash] = (await world.all()).slice(-1).map((segment) => segment.hash.toString('hex'));
    expect(logged).toEqual([{ segment: '4', hash, entries: 1 }]);
  });

  it('shows how long what is not sealed waits', async () => {
    expect(await world.segments.waiting(world.database)).toEqual({ sealSeconds: 0, exportSeconds: 0 });
    await world.append();
    await world.asOwner(Prisma.sql`UPDATE audit_log SET at = at - interval '100 s'`);
    expect((await world.segments.waiting(world.database)).sealSeconds).toBeGreaterThanOrEqual(100);
    await world.seal();
    const { sealSeconds, exportSeconds } = await world.segments.waiting(world.database);
    expect([sealSeconds, exportSeconds >= 0 && exportSeconds < 60]).toEqual([0, true]);
  });
});

describe('while others write', () => {
  it('an entry that commits late is sealed later, and none is lost or sealed twice', async () => {
    const late = gate();
    let lateId = '';
    const begun = gate();
    const transaction = world.database.transaction(async (tx) => {
      lateId = await world.append({}, tx);
      begun.open();
      await late.passed;
    });
    await begun.passed;
    const [after] = await world.sealed(1);
    expect((after ?? '') > lateId).toBe(true);
    late.open();
    await transaction;
    await world.seal();
    const all = await world.all();
    expect(all.map(({ found }) => found.map(({ facts }) => facts.id))).toEqual([[after], [lateId]]);
    expect(await world.findings()).toEqual([]);
  });

  it('many append while two seal: every entry is in one segment, and the chain is whole', async () => {
    let writing = true;
    const ids: string[] = [];
    const writers = Array.from({ length: 4 }, async () => {
      for (let nth = 0; nth < 40; nth += 1) ids.push(await world.append());
    });
    const sealers = Array.from({ length: 2 }, async () => {
      while (writing) await world.segments.seal(world.database, 0, 7);
    });
    await Promise.all(writers);
    writing = false;
    await Promise.all(sealers);
    await eventually('all to be sealed', async () => {
      await world.segments.seal(world.database, 0);
      return (await unsealed()) === 0;
    });
    const all = await world.all();
    expect(all.flatMap(({ found }) => found.map(({ facts }) => facts.id)).sort()).toEqual([...ids].sort());
    expect(all.map(({ no }) => no)).toEqual(all.map((_, index) => BigInt(index + 1)));
    expect(await world.findings()).toEqual([]);
  });

  it('an entry that is being struck out is left for later, nobody waits for it, and it is sealed as it is then', async () => {
    await world.append({ action: 'erasure.request', details: {} });
    const struck = await world.append();
    const commit = gate();
    const begun = gate();
    const erasure = world.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SELECT redact_audit_log(${world.accountId}::uuid, NULL, ${BEFORE_ALL}::uuid, 100)`);
      begun.open();
      await commit.passed;
    });
    await begun.passed;
    await world.seal();
    expect(await unsealed()).toBe(1);
    commit.open();
    await erasure;
    await world.seal();
    const [, last] = await world.all();
    expect(last?.found.map(({ facts, content }) => [facts.id, content.details])).toEqual([
      [struck, '{"erased": true}'],
    ]);
    expect(await world.findings()).toEqual([]);
  });
});

describe('the database', () => {
  const refused = (sql: Prisma.Sql, why: string): Promise<void> =>
    expect(world.database.execute(sql)).rejects.toMatchObject({ message: expect.stringContaining(why) as string });

  it('lets nobody append what says that it is sealed, nor change, take out or empty what is', async () => {
    const [id] = await world.sealed(1);
    const asOf = Prisma.sql`id = ${id}::uuid`;
    await refused(
      Prisma.sql`INSERT INTO audit_log (id, actor, action, subject_type, subject_id, segment)
        VALUES (gen_random_uuid(), 'admin', 'a', 'b', 'c', 1)`,
      'sealed after it was appended',
    );
    for (const set of [
      'segment = NULL',
      'segment = 2',
      'salt = NULL',
      "digest = '\\x00'",
      "content_digest = '\\x00'",
    ]) {
      await refused(Prisma.sql`UPDATE audit_log SET ${Prisma.raw(set)} WHERE ${asOf}`, 'only appended to');
    }
    await refused(Prisma.sql`DELETE FROM audit_log WHERE ${asOf}`, '90 days at least');
    for (const set of ["hash = '\\x00'", 'entries = 2', 'no = 2', 'sealed_at = now()', 'first_at = now()']) {
      await refused(Prisma.sql`UPDATE audit_segments SET ${Prisma.raw(set)}`, 'stays as it is');
    }
    await refused(Prisma.sql`DELETE FROM audit_segments`, '90 days at least');
  });

  it('notes once that a segment was exported', async () => {
    const no = await world.append().then(() => world.seal());
    expect(await world.segments.recordExport(world.database, no, 'a')).toBe(true);
    expect(await world.segments.recordExport(world.database, no, 'b')).toBe(false);
    await refused(Prisma.sql`UPDATE audit_segments SET exported_at = NULL, object_key = NULL`, 'stays as it is');
    // What is exported is read for it no more.
    expect(await world.segments.entriesToExport(world.database, no)).toEqual([]);
  });

  it('seals no entry a second time', async () => {
    const [id] = await world.sealed(1);
    await refused(
      Prisma.sql`UPDATE audit_log SET segment = 9, salt = '\\x00', content_digest = '\\x00', digest = '\\x00' WHERE id = ${id}::uuid`,
      'only appended to',
    );
  });
});

describe('retention', () => {
  const log = new AuditLogStore();
  const age = async (seconds: number): Promise<void> => {
    await world.asOwner(
      Prisma.sql`UPDATE audit_log SET at = at - make_interval(secs => ${seconds}) WHERE segment IS NULL`,
    );
    await world.seal();
  };
  const left = async (): Promise<bigint[]> => (await world.all()).map(({ no }) => no);

  it('deletes whole segments of which every entry is old, from the oldest, and what is left still verifies', async () => {
    for (const days of [402, 401]) {
      await world.append();
      await world.append();
      await age(days * DAY_SECONDS);
    }
    await world.append();
    await age(401 * DAY_SECONDS);
    // One entry is young, so its segment stays, and all that follow.
    await world.append();
    await world.asOwner(Prisma.sql`UPDATE audit_log SET at = at - interval '402 days' WHERE segment IS NULL`);
    await world.append();
    await world.seal();
    await world.append();
    await age(401 * DAY_SECONDS);
    expect(await log.deleteOld(world.database, 400 * DAY_SECONDS, 3)).toBe(4);
    expect(await left()).toEqual([3n, 4n, 5n]);
    expect(await log.deleteOld(world.database, 400 * DAY_SECONDS, 100)).toBe(1);
    expect(await log.deleteOld(world.database, 400 * DAY_SECONDS, 100)).toBe(0);
    expect(await left()).toEqual([4n, 5n]);
    expect(await world.findings()).toEqual([]);
  });

  it('never deletes what is not sealed, nor the newest segment, which the next one follows', async () => {
    await world.append();
    await world.asOwner(Prisma.sql`UPDATE audit_log SET at = at - interval '500 days'`);
    expect(await log.deleteOld(world.database, 400 * DAY_SECONDS, 100)).toBe(0);
    await world.seal();
    expect(await log.deleteOld(world.database, 400 * DAY_SECONDS, 100)).toBe(0);
    await world.sealed(1);
    expect(await log.deleteOld(world.database, 400 * DAY_SECONDS, 100)).toBe(1);
    expect(await left()).toEqual([2n]);
    await world.sealed(1);
    expect(await left()).toEqual([2n, 3n]);
    expect(await world.findings()).toEqual([]);
  });

  it('deletes nothing below the floor, however it is called', async () => {
    await world.append();
    await age(AUDIT_LOG_FLOOR_SECONDS - 60);
    await world.sealed(1);
    await expect(log.deleteOld(world.database, 0, 100)).rejects.toMatchObject({
      message: expect.stringContaining('90 days at least') as string,
    });
    expect(await left()).toEqual([1n, 2n]);
  });
});
