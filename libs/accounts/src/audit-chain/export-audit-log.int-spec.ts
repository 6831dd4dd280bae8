import { Prisma } from '@prisma/client';
import type { LoopReport } from '@millrace/platform';
import { archivedLines } from './archived-segment';
import { ExportAuditLogLoop } from './export-audit-log.loop';
import { AuditWorld } from './fixtures/audit-world';
import { MemoryArchive } from './fixtures/memory-archive';
import { isSegmentOf, readSegmentFile } from './format/segment-file';

let world: AuditWorld;
let archive: MemoryArchive;
beforeAll(async () => {
  world = await AuditWorld.open();
});
beforeEach(async () => {
  await world.clear();
  archive = new MemoryArchive();
});
afterAll(() => world.test.drop());

const loopOf = (segments: ConstructorParameters<typeof ExportAuditLogLoop>[1] = world.segments): ExportAuditLogLoop =>
  new ExportAuditLogLoop(world.database, segments, archive, 'log/');
const place = (compared: 'newest' | 'all' = 'newest') => ({ archive, prefix: 'log/', compared });
async function found(compared: 'newest' | 'all' = 'newest'): Promise<string[]> {
  const findings = await world.findings(place(compared));
  return findings.map(({ check, subject, detail }) => `${check}: ${subject} ${detail}`);
}
const keys = (): string[] => [...archive.objects.keys()].sort();

describe('export', () => {
  it('writes each sealed segment once, the oldest first, as an object that verifies by itself', async () => {
    for (let nth = 0; nth < 3; nth += 1) await world.sealed(2, { actor: 'operator:ada', reason: 'ticket 1' });
    expect(await loopOf().runOnce()).toBe(3);
    expect(await loopOf().runOnce()).toBe(0);
    const segments = await world.all();
    expect(segments.map(({ objectKey }) => objectKey)).toEqual(keys());
    for (const { objectKey, hash } of segments) {
      const bytes = archive.objects.get(objectKey ?? '') ?? Buffer.alloc(0);
      const filed = readSegmentFile(bytes);
      expect(filed !== null && isSegmentOf(filed, hash)).toBe(true);
      expect([bytes.includes('operator:ada'), bytes.includes('ticket 1'), bytes.includes('"ada"')]).toEqual([
        true,
        false,
        false,
      ]);
    }
    const seen: Partial<Record<string, number>> = {};
    expect(await world.findings(place(), seen)).toEqual([]);
    expect(seen.compared).toBe(3);
  });

  it('a process that ends between the object and the note of it: the next one notes the same object', async () => {
    await world.sealed(2);
    const dying = {
      unexported: world.segments.unexported.bind(world.segments),
      entriesToExport: world.segments.entriesToExport.bind(world.segments),
      recordExport: () => Promise.reject(new Error('the process ended here')),
    };
    await expect(loopOf(dying).runOnce()).rejects.toThrow('ended here');
    expect([archive.writes, (await world.all())[0]?.objectKey]).toEqual([1, null]);
    expect(await world.findings(place())).toEqual([]);
    // What was struck out meanwhile does not make another object of it.
    await world.append({ action: 'erasure.request', details: {} });
    await world.strikeOut();
    expect(await loopOf().runOnce()).toBe(1);
    expect([archive.writes, (await world.all())[0]?.objectKey]).toEqual([1, keys()[0]]);
    expect(await world.findings(place())).toEqual([]);
  });

  it('an archive that takes nothing loses nothing: the sentence is thrown, and it is written when it does', async () => {
    await world.sealed(1);
    await world.sealed(1);
    const loop = loopOf();
    const reads = jest.spyOn(archive, 'read');
    archive.fault = new Error('The bucket audit: It has no Object Lock, so nothing is written. Name one that has.');
    await expect(loop.runOnce()).rejects.toThrow('no Object Lock');
    // With the first of them, as it would fail with each.
    expect(reads).toHaveBeenCalledTimes(1);
    archive.fault = null;
    expect(await loop.runOnce()).toBe(2);
  });

  it('a segment that is not as it was sealed is not written, is counted, and keeps no other back', async () => {
    const [id] = await world.sealed(1);
    await world.sealed(1);
    await world.asOwner(Prisma.sql`UPDATE audit_log SET actor = 'eve' WHERE id = ${id}::uuid`);
    const failed: string[] = [];
    const resting: number[] = [];
    const report: LoopReport = {
      failed: (item, error) => void failed.push(`${item}: ${(error as Error).message}`),
      resting: (count) => void resting.push(count),
    };
    const loop = loopOf();
    expect(await loop.runOnce(report)).toBe(1);
    expect(await loop.runOnce(report)).toBe(0);
    expect(resting).toEqual([1, 1]);
    expect(failed).toEqual([expect.stringContaining(`1: entry ${id} of segment 1 is not what was sealed`)]);
    expect((await world.all()).map(({ objectKey }) => objectKey !== null)).toEqual([false, true]);
    await expect(loopOf().runOnce()).rejects.toThrow(`entry ${id} of segment 1 is not what was sealed`);
  });

  it('is kept back neither by many segments that are not as they were sealed, nor by an object that somebody else wrote', async () => {
    for (let nth = 0; nth < 23; nth += 1) await world.sealed(1);
    const first = loopOf();
    while ((await first.runOnce()) > 0);
    const foreign = keys().at(-1) ?? '';
    await world.asOwner(Prisma.sql`UPDATE audit_segments SET exported_at = NULL, object_key = NULL`);
    archive.objects.clear();
    archive.objects.set(foreign, Buffer.from('{}\n'));
    await world.asOwner(Prisma.sql`UPDATE audit_log SET actor = 'eve' WHERE segment <= 21`);
    await world.sealed(1);
    const second = loopOf();
    while ((await second.runOnce()) > 0);
    const written = (await world.all()).filter(({ objectKey }) => objectKey !== null);
    expect(written.map(({ no }) => Number(no))).toEqual([22, 24]);
  });

  it('does not take for its own what somebody else wrote under the name', async () => {
    await world.sealed(1);
    await loopOf().runOnce();
    const [key = ''] = keys();
    await world.asOwner(Prisma.sql`UPDATE audit_segments SET exported_at = NULL, object_key = NULL`);
    archive.objects.set(key, Buffer.from('{}\n'));
    await expect(loopOf().runOnce()).rejects.toThrow(`The object ${key} is in the bucket and is not segment 1`);
  });
});

describe('an object that is deleted by nobody', () => {
  const lines = async (no: bigint): Promise<Record<string, unknown>[]> => {
    const list: Record<string, unknown>[] = [];
    for await (const line of archivedLines(world.database, world.segments, place(), no)) {
      list.push(JSON.parse(line) as Record<string, unknown>);
    }
    return list;
  };

  it('shows what an entry said while its salt is there, and not after it was struck out', async () => {
    const [id] = await world.sealed(1, { reason: 'ticket 1' });
    await loopOf().runOnce();
    const said = { address: '192.0.2.7', reason: 'ticket 1', details: { value: 'ada' }, readable: true };
    expect(await lines(1n)).toMatchObject([{ id, actor: 'api_key:1', ...said }]);
    await world.append({ action: 'erasure.request', details: {} });
    await world.strikeOut();
    const nothing = { address: null, reason: null, details: null, readable: false };
    expect(await lines(1n)).toMatchObject([{ id, actor: 'api_key:1', ...nothing }]);
    expect(await world.findings(place())).toEqual([]);
    await expect(lines(9n)).rejects.toThrow('The bucket has no segment 9.');
  });

  it('shows what an entry was before the owner of the tables changed it', async () => {
    const [id] = await world.sealed(1, { actor: 'operator:ada', address: '198.51.100.1' });
    await loopOf().runOnce();
    await world.asOwner(Prisma.sql`UPDATE audit_log SET actor = 'eve', details = '{}' WHERE id = ${id}::uuid`);
    expect(await lines(1n)).toMatchObject([
      { actor: 'operator:ada', address: '198.51.100.1', details: { value: 'ada' } },
    ]);
  });
});

describe('held against the archive', () => {
  const REWRITTEN = 'the database was rewritten, or restored from a backup that is older';
  /** What the owner can do who knows how it is sealed: make everything again from a segment on. */
  async function sealAgain(from: bigint): Promise<void> {
    await world.asOwner(Prisma.sql`
      UPDATE audit_log SET segment = NULL, salt = NULL, content_digest = NULL, digest = NULL WHERE segment >= ${from}`);
    await world.asOwner(Prisma.sql`DELETE FROM audit_segments WHERE no >= ${from}`);
    await world.seal();
  }

  it('a chain that was made again from an entry on is another one, and the entry is named', async () => {
    await world.sealed(1);
    const [, id] = await world.sealed(3);
    await loopOf().runOnce();
    await world.asOwner(Prisma.sql`UPDATE audit_log SET actor = 'eve' WHERE id = ${id}::uuid`);
    await sealAgain(2n);
    expect(await world.findings()).toEqual([]);
    const lines = await found();
    expect(lines[0]).toBe(
      `archive-has-the-segment: segment 2 is another one in the bucket, as ${keys()[1]}: ${REWRITTEN}`,
    );
    expect(lines).toContain(`archive-has-the-entry: entry ${id} of segment 2 is another one in the bucket`);
    // Also after it was exported beside the first.
    await loopOf().runOnce();
    expect(keys()).toHaveLength(3);
    expect(await found()).toContain(lines[0]);
  });

  it('entries that were taken out and put in are named', async () => {
    const [, out] = await world.sealed(3);
    await loopOf().runOnce();
    await world.asOwner(Prisma.sql`DELETE FROM audit_log WHERE id = ${out}::uuid`);
    const put = await world.append();
    await sealAgain(1n);
    const lines = await found();
    expect(lines).toContain(`archive-has-the-entry: entry ${out} of segment 1 is in the bucket and no more in the log`);
    expect(lines).toContain(`archive-has-the-entry: entry ${put} of segment 1 is not in the bucket`);
  });

  it('an end that was cut off is noticed, and one that is not exported yet is none', async () => {
    for (let nth = 0; nth < 3; nth += 1) await world.sealed(1);
    await loopOf().runOnce();
    await world.sealed(1);
    expect(await found()).toEqual([]);
    await world.asOwner(Prisma.sql`DELETE FROM audit_log WHERE segment > 1`);
    await world.asOwner(Prisma.sql`DELETE FROM audit_segments WHERE no > 1`);
    expect(await found()).toEqual([
      `archive-ends-with-the-log: segment 2 is in the bucket, as ${keys()[1]}, and the log ends with 1: ${REWRITTEN}`,
    ]);
    await world.clear();
    expect(await found()).toEqual([
      `archive-ends-with-the-log: a segment is in the bucket, as ${keys()[0]}, and the log has no segment at all: ${REWRITTEN}`,
    ]);
    // After a restore: another prefix, and what the bucket has of before stays where it is.
    await world.sealed(1);
    expect(await world.findings({ archive, prefix: 'restored/' })).toEqual([]);
  });

  it('an object that is gone, or is another one, is named', async () => {
    await world.sealed(1);
    await world.sealed(1);
    await loopOf().runOnce();
    const [first = '', second = ''] = keys();
    archive.objects.delete(first);
    archive.objects.set(second, Buffer.from('{}\n'));
    expect(await found()).toEqual([
      `archive-has-the-segment: segment 1 was exported, and the bucket has no object ${first}`,
      `archive-has-the-segment: segment 2 is not what its object ${second} is`,
    ]);
  });

  it('another name in the record hides no object', async () => {
    await world.sealed(1);
    await loopOf().runOnce();
    await world.asOwner(Prisma.sql`UPDATE audit_segments SET object_key = 'nowhere'`);
    expect(await found()).toEqual([]);
    archive.objects.clear();
    expect(await found()).toHaveLength(1);
  });

  it('the newest are compared, or all when it is asked for', async () => {
    for (let nth = 0; nth < 22; nth += 1) await world.sealed(1);
    while ((await loopOf().runOnce()) > 0);
    archive.objects.delete(keys()[0] ?? '');
    expect(await found()).toEqual([]);
    expect(await found('all')).toHaveLength(1);
  });

  it('an archive that does not answer is said once, and hides nothing of what the log shows', async () => {
    const [id] = await world.sealed(1);
    await world.sealed(1);
    await loopOf().runOnce();
    await world.asOwner(Prisma.sql`UPDATE audit_log SET actor = 'eve' WHERE id = ${id}::uuid`);
    archive.fault = new Error('The bucket audit: There is no such bucket.');
    const lines = await found();
    expect(lines[0]).toContain(`entry ${id} of segment 1 is not what was sealed`);
    expect(lines.slice(1)).toEqual([
      'archive-can-be-read: the bucket of the audit log The bucket audit: There is no such bucket.',
    ]);
  });
});
