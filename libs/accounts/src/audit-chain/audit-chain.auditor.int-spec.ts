import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { makeAccount } from '@millrace/testing';
import { AuditWorld } from './fixtures/audit-world';

let world: AuditWorld;
beforeAll(async () => {
  world = await AuditWorld.open();
});
beforeEach(() => world.clear());
afterAll(() => world.test.drop());

/** What is found, as `check: subject detail`. */
async function found(): Promise<string[]> {
  return (await world.findings()).map(({ check, subject, detail }) => `${check}: ${subject} ${detail}`);
}
const tamper = (set: string, id = ''): Promise<number> =>
  world.asOwner(Prisma.sql`UPDATE audit_log SET ${Prisma.raw(set)} WHERE id = ${id}::uuid`);
const tamperSegment = (set: string, no: bigint): Promise<number> =>
  world.asOwner(Prisma.sql`UPDATE audit_segments SET ${Prisma.raw(set)} WHERE no = ${no}`);

it('a log that is whole has no fault, and is counted', async () => {
  await world.sealed(3);
  await world.sealed(2, { actor: 'admin', reason: 'ticket 1' });
  await world.append();
  const seen = {};
  expect(await world.findings(null, seen)).toEqual([]);
  expect(seen).toEqual({ segments: 2, entries: 5, 'struck out': 0, compared: 0 });
});

it('an empty log has no fault', async () => expect(await world.findings()).toEqual([]));

describe('a change of an entry by the owner of the tables is named', () => {
  const FACTS = 'is not what was sealed: who did what, to whom, when, or from where, was changed';
  const SAID = 'is not what was sealed: its details, reason or address were changed, or its salt';
  const HASH = 'does not have the hash of its entries: one of them, or the record of the segment, was changed';

  it.each([
    ["at = at + interval '1 ms'", FACTS],
    ["actor = 'api_key:2'", FACTS],
    ["action = 'label_rule.delete'", FACTS],
    ["subject_type = 'another'", FACTS],
    ["subject_id = 'another'", FACTS],
    ['account_id = NULL', FACTS],
    ["account_id = '00000000-0000-7000-8000-000000000000'", FACTS],
    [`details = '{"value": "eve"}'`, SAID],
    [`details = '{"value": "ada", "more": null}'`, SAID],
    ["reason = 'another'", SAID],
    ['reason = NULL', SAID],
    ["address = '192.0.2.8'", SAID],
    ['address = NULL', SAID],
    ["salt = '\\x00'", SAID],
  ])('%s', async (set, detail) => {
    const [, id] = await world.sealed(3, { reason: 'ticket 1' });
    await tamper(set, id);
    const named = `entry-is-as-it-was-sealed: entry ${id} of segment 1 ${detail}`;
    // A time can be the first or the last of its segment.
    expect((await found()).filter((line) => !line.startsWith('segment-is'))).toEqual([named]);
  });

  it.each([
    ["address = '192.0.2.8'", FACTS],
    ['address = NULL', FACTS],
    ["actor = 'operator:eve'", FACTS],
  ])('of an operator: %s', async (set, detail) => {
    const [, id] = await world.sealed(3, { actor: 'operator:ada', reason: 'ticket 1' });
    await tamper(set, id);
    expect(await found()).toEqual([`entry-is-as-it-was-sealed: entry ${id} of segment 1 ${detail}`]);
  });

  it('salt = NULL', async () => {
    const [, id] = await world.sealed(3);
    await tamper('salt = NULL', id);
    expect(await found()).toEqual([
      `entry-is-as-it-was-sealed: entry ${id} of segment 1 lost the salt of its digest, and was not struck out`,
    ]);
  });

  it("digest = '…'", async () => {
    const [, id] = await world.sealed(3);
    await tamper("digest = sha256('')", id);
    expect(await found()).toEqual([
      `entry-is-as-it-was-sealed: entry ${id} of segment 1 ${FACTS}`,
      `segment-is-as-it-was-sealed: segment 1 ${HASH}`,
    ]);
  });

  it("content_digest = '…'", async () => {
    const [, id] = await world.sealed(3);
    await tamper("content_digest = sha256('')", id);
    expect(await found()).toEqual([
      `entry-is-as-it-was-sealed: entry ${id} of segment 1 ${FACTS}`,
      `entry-is-as-it-was-sealed: entry ${id} of segment 1 ${SAID}`,
    ]);
  });

  it('id = another', async () => {
    const [, id] = await world.sealed(3);
    const other = newId();
    await tamper(`id = '${other}'`, id);
    expect(await found()).toContain(`entry-is-as-it-was-sealed: entry ${other} of segment 1 ${FACTS}`);
  });

  it('segment = another', async () => {
    const [, id] = await world.sealed(3);
    await world.sealed(2);
    await tamper('segment = 2', id);
    expect(await found()).toEqual([
      'segment-is-as-it-was-sealed: segment 1 has 2 entries, and was sealed with 3',
      'segment-is-as-it-was-sealed: segment 2 has more than 2 entries, and was sealed with 2',
    ]);
  });

  it.each([0, 7])('segment = %d, which is not there', async (no) => {
    const [, id] = await world.sealed(3);
    await tamper(`segment = ${no}`, id);
    expect((await found()).sort()).toEqual([
      `entry-has-its-segment: entry ${id} of segment ${no} there is no segment ${no}`,
      'segment-is-as-it-was-sealed: segment 1 has 2 entries, and was sealed with 3',
    ]);
  });

  it('segment = NULL, so that it is sealed again', async () => {
    const [, id] = await world.sealed(3);
    await tamper('segment = NULL, salt = NULL, content_digest = NULL, digest = NULL', id);
    await world.seal();
    expect(await found()).toEqual(['segment-is-as-it-was-sealed: segment 1 has 2 entries, and was sealed with 3']);
  });

  it('with its digests made again: the segment is named', async () => {
    const [, id] = await world.sealed(3);
    await world.asOwner(Prisma.sql`
      UPDATE audit_log SET actor = 'api_key:2', digest = sha256(audit_encoded('millrace audit entry 1', id::text, audit_micros(at),
        'api_key:2', action, subject_type, subject_id, account_id::text, NULL, encode(content_digest, 'hex'))) WHERE id = ${id}::uuid`);
    expect(await found()).toEqual([`segment-is-as-it-was-sealed: segment 1 ${HASH}`]);
  });
});

describe('entries and segments', () => {
  it('two that changed places', async () => {
    const [one, , two] = await world.sealed(3);
    const spare = newId();
    await tamper(`id = '${spare}'`, one);
    await tamper(`id = '${one}'`, two);
    await tamper(`id = '${two}'`, spare);
    const named = (await found()).filter((line) => line.startsWith('entry-is'));
    expect(named.map((line) => line.split(' ')[2]).sort()).toEqual([one, two].sort());
  });

  it('one that was taken out', async () => {
    const [, id] = await world.sealed(3);
    await world.asOwner(Prisma.sql`DELETE FROM audit_log WHERE id = ${id}::uuid`);
    expect(await found()).toEqual(['segment-is-as-it-was-sealed: segment 1 has 2 entries, and was sealed with 3']);
  });

  it('one that was put in', async () => {
    const [first] = await world.sealed(3);
    await world.asOwner(Prisma.sql`
      INSERT INTO audit_log (id, at, actor, action, subject_type, subject_id, details, segment, salt, content_digest, digest)
      SELECT gen_random_uuid(), at, 'admin', action, subject_type, subject_id, details, segment, salt, content_digest, digest
      FROM audit_log WHERE id = ${first}::uuid`);
    expect(await found()).toContain(
      'segment-is-as-it-was-sealed: segment 1 has more than 3 entries, and was sealed with 3',
    );
  });

  it.each([
    ['a segment in the middle, with its entries', [2n], 'segment 2 is not there, between 1 and 3'],
    ['two of them', [2n, 3n], 'segments 2 to 3 are not there, between 1 and 4'],
  ])('%s that was taken out', async (_, gone, fault) => {
    for (let nth = 0; nth < 4; nth += 1) await world.sealed(2);
    await world.asOwner(Prisma.sql`DELETE FROM audit_log WHERE segment = ANY(${gone})`);
    await world.asOwner(Prisma.sql`DELETE FROM audit_segments WHERE no = ANY(${gone})`);
    expect(await found()).toEqual([`segments-follow-each-other: ${fault}`]);
  });

  it('a segment whose entries stayed', async () => {
    for (let nth = 0; nth < 3; nth += 1) await world.sealed(1);
    await world.asOwner(Prisma.sql`DELETE FROM audit_segments WHERE no = 2`);
    const lines = await found();
    expect(lines[0]).toBe('segments-follow-each-other: segment 2 is not there, between 1 and 3');
    expect(lines[1]).toMatch(/^entry-has-its-segment: entry \S+ of segment 2 there is no segment 2$/);
    expect(lines).toHaveLength(2);
  });

  it.each([
    ["hash = sha256('')", ['segment 2 does not have the hash', 'segment 3 was sealed after another segment 2']],
    [
      "previous_hash = sha256('')",
      ['segment 2 was sealed after another segment 1', 'segment 2 does not have the hash'],
    ],
    ["sealed_at = sealed_at + interval '1 ms'", ['segment 2 does not have the hash']],
    ['entries = 1', ['segment 2 has more than 1 entries']],
    ['entries = 9', ['segment 2 has 2 entries, and was sealed with 9']],
    ['first_id = gen_random_uuid()', ['segment 2 does not begin and end with']],
    ['last_id = gen_random_uuid()', ['segment 2 does not begin and end with']],
    ["first_at = first_at - interval '1 s'", ['segment 2 does not begin and end with']],
    ["last_at = last_at + interval '1 s'", ['segment 2 does not begin and end with']],
    [
      'no = 9',
      [
        'segment 2 is not there',
        'entry-has-its-segment',
        'entry-has-its-segment',
        'segments 4 to 8 are not there',
        'segment 9 has 0 entries',
      ],
    ],
  ])('a record of a segment that says %s', async (set, faults) => {
    for (let nth = 0; nth < 3; nth += 1) await world.sealed(2);
    await tamperSegment(set, 2n);
    const lines = await found();
    expect(lines).toHaveLength(faults.length);
    for (const [index, fault] of faults.entries()) expect(lines[index]).toContain(fault);
  });

  it('a first segment that follows another', async () => {
    await world.sealed(1);
    await tamperSegment("previous_hash = sha256('')", 1n);
    expect(await found()).toContain('segments-follow-each-other: segment 1 is the first, and follows another');
  });
});

describe('what was struck out', () => {
  it('by an erasure is as it was sealed, and counted, be it sealed before or after', async () => {
    await world.append({ actor: 'admin', action: 'erasure.request', details: {}, reason: 'a ticket' });
    await world.sealed(2);
    const [operators] = await world.sealed(1, { actor: 'operator:ada', address: '198.51.100.1', reason: 'ticket 1' });
    const unsealed = await world.append({ actor: 'member:1' });
    expect(await world.strikeOut()).toBe(4);
    await world.seal();
    const seen: Partial<Record<string, number>> = {};
    expect(await world.findings(null, seen)).toEqual([]);
    expect(seen['struck out']).toBe(4);
    const entries = (await world.all()).flatMap((segment) => segment.found);
    const said = entries.filter(({ facts }) => facts.action !== 'erasure.request');
    expect(said.map(({ content }) => content)).toEqual(
      Array.from({ length: 4 }, () => ({ details: '{"erased": true}', reason: null, address: null })),
    );
    // From where an operator acted is not the account's, and stays proven.
    const kept = entries.find(({ facts }) => facts.id === operators);
    expect([kept?.salt, kept?.facts.operatorAddress]).toEqual([null, '198.51.100.1']);
    expect(entries.find(({ facts }) => facts.id === unsealed)?.salt).not.toBeNull();
    await tamper("address = '198.51.100.2'", operators);
    expect(await found()).toHaveLength(1);
  });

  it('twice is so as well', async () => {
    await world.append({ action: 'erasure.request', details: {} });
    await world.sealed(1);
    await world.strikeOut();
    await world.strikeOut();
    expect(await world.findings()).toEqual([]);
  });

  it('of an account of which nobody asked for an erasure is a fault, also by who may do all', async () => {
    const other = await makeAccount(world.database);
    await world.append({ action: 'erasure.request', details: {}, accountId: other });
    const [sealed] = await world.sealed(1);
    const later = await world.append();
    expect(await world.strikeOut()).toBe(2);
    await world.seal();
    const nobody = `was struck out, and nobody asked for an erasure in account ${world.accountId}`;
    expect(await found()).toEqual([
      `struck-out-by-an-erasure: entry ${sealed} of segment 1 ${nobody}`,
      `struck-out-by-an-erasure: entry ${later} of segment 2 ${nobody}`,
    ]);
  });

  it('and is of no account is a fault', async () => {
    const [id] = await world.sealed(1, { accountId: null });
    await world.asOwner(Prisma.sql`
      UPDATE audit_log SET details = '{"erased": true}', address = NULL, salt = NULL WHERE id = ${id}::uuid`);
    expect(await found()).toEqual([
      `struck-out-by-an-erasure: entry ${id} of segment 1 was struck out, and it is of no account`,
    ]);
  });

  it('but for its reason is a fault', async () => {
    await world.append({ action: 'erasure.request', details: {} });
    const [id] = await world.sealed(1, { reason: 'a name' });
    await world.asOwner(
      Prisma.sql`UPDATE audit_log SET details = '{"erased": true}', address = NULL, salt = NULL WHERE id = ${id}::uuid`,
    );
    expect(await found()).toEqual([
      `entry-is-as-it-was-sealed: entry ${id} of segment 1 lost the salt of its digest, and was not struck out`,
    ]);
  });

  it('by an erasure that is itself past its retention is none, for some days', async () => {
    const erase = (requestedAgo: string): Promise<number> =>
      world.database.execute(Prisma.sql`
        INSERT INTO erasures (id, account_id, subject, pseudonym, state, requested_by, requested_at, done_at)
        VALUES (${newId()}::uuid, ${world.accountId}::uuid, 'account', 'erased', 'done', 'admin',
          now() - ${requestedAgo}::interval, now())`);
    await world.sealed(2);
    await world.strikeOut();
    await erase('-1 second');
    expect(await found()).toHaveLength(2);
    await erase('1 hour');
    expect(await world.findings()).toEqual([]);
    // Of what is much younger than the end of the log it is no excuse.
    await tamperSegment("first_at = first_at - interval '8 days'", 1n);
    await erase('9 days');
    expect((await found()).filter((line) => line.startsWith('struck-out'))).toHaveLength(2);
  });
});

it('what is sealed, and deleted at the end of its retention, while it is read is no fault', async () => {
  for (let nth = 0; nth < 4; nth += 1) await world.sealed(1);
  const page = world.segments.page.bind(world.segments);
  const pages = jest.spyOn(world.segments, 'page');
  pages.mockImplementation(async (tx, after) => {
    const segments = (await page(tx, after)).slice(0, 1);
    // The segment that was read, and the one behind it, go; another one comes.
    if (after === null) {
      await world.asOwner(Prisma.sql`DELETE FROM audit_log WHERE segment <= 2`);
      await world.asOwner(Prisma.sql`DELETE FROM audit_segments WHERE no <= 2`);
      await world.sealed(1);
    }
    return segments;
  });
  const seen: Partial<Record<string, number>> = {};
  expect(await world.findings(null, seen)).toEqual([]);
  expect(seen.segments).toBe(4);
  pages.mockRestore();
});

it('a long log is read in pages, each of about as many entries as one segment may have', async () => {
  for (let nth = 0; nth < 12; nth += 1) await world.append();
  while ((await world.segments.seal(world.database, 0, 5)) !== null);
  await world.asOwner(Prisma.sql`UPDATE audit_segments SET entries = 600 WHERE no < 3`);
  expect((await world.segments.page(world.database, null)).map(({ no }) => no)).toEqual([1n, 2n]);
  expect((await world.segments.page(world.database, 2n)).map(({ no, found: of }) => [no, of.length])).toEqual([
    [3n, 2],
  ]);
});
