import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Prisma } from '@prisma/client';
import { AccountErasureStore, AuditLog, AuditLogStore } from '@millrace/accounts';
import { openBlobStore, assetSettings, type NoteStore } from '@millrace/assets';
import { lowestIdAt, newId, type ErasureSubject } from '@millrace/contracts';
import { DeploymentLifeStore } from '@millrace/deployments';
import { KeyRing, readSettings } from '@millrace/platform';
import {
  createTestDatabase,
  createTestFolder,
  makeAccount,
  type TestDatabase,
  type TestFolder,
} from '@millrace/testing';
import { WebhookErasureStore } from '@millrace/webhooks';
import { Erasures, ErasureStore } from '../erasure';
import type { ErasureLease } from '../erasure/erasure';
import { ErasureRunner } from '../erasure/erasure-runner';
import { ErasureSteps, type Erasers } from '../erasure/erasure-steps';
import { ErasureAuditor } from './erasure-auditor';
import { ErasureNotes } from './erasure-notes';
import { ReappliedErasures, type Reapplied } from './reapplied-erasures.service';
import { ResealErasureNotesLoop } from './reseal-erasure-notes.loop';
import { SweepErasureNotesLoop } from './sweep-erasure-notes.loop';
import { UnknownErasures } from './unknown-erasures';

const operator = { actor: 'restore', address: null };
const owner = { ...operator, keyId: null };
const ring = KeyRing.of(randomBytes(32));
const label = { kind: 'label', label: 'user', value: 'ada@example.com' } as const;
const store = new ErasureStore();

let test: TestDatabase;
let folder: TestFolder;
let files: NoteStore;
let notes: ErasureNotes;
let erasures: Erasures;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  folder = await createTestFolder();
  files = (await openBlobStore({ ...readSettings(assetSettings, {}), blobDir: folder.path })).notes;
  notes = new ErasureNotes(files, ring);
  const audit = new AuditLog(test.database, new AuditLogStore());
  const known = (): Promise<boolean> => Promise.resolve(true);
  const owners = { hold: () => Promise.reject(new Error('an operator asks')) };
  const sources = {
    accounts: new AccountErasureStore(),
    webhooks: new WebhookErasureStore(),
    deployments: new DeploymentLifeStore(),
  };
  erasures = new Erasures(test.database, store, sources, known, audit, owners, () => undefined);
  await test.database.execute(Prisma.sql`DELETE FROM erasures`);
  accountId = await makeAccount(test.database);
});
afterEach(() => folder.drop());

const unknown = (): UnknownErasures => new UnknownErasures(test.database, store, files);
const reapply = (by = notes): Promise<Reapplied> => new ReappliedErasures(unknown(), by, erasures).run(operator);
const found = async (): Promise<string[]> => {
  const subjects: string[] = [];
  for await (const { subject } of new ErasureAuditor(unknown()).findings()) subjects.push(subject);
  return subjects;
};
/** An erasure that was asked for and noted, as the database had it. @returns its id. */
async function noted(subject: ErasureSubject, of = accountId): Promise<string> {
  const { erasure } = await erasures.request(owner, of, subject);
  await notes.keep({ ...erasure, subject });
  if (subject.kind === 'account') while ((await notes.dropOthers(erasure)) > 0);
  return erasure.id;
}
/** As a backup from before has it. */
const forget = (): Promise<number> => test.database.execute(Prisma.sql`DELETE FROM erasures`);

it('what was erased since the backup is asked for again after the restore, once, under its id and its pseudonym', async () => {
  const jobId = newId();
  const ids = [await noted(label), await noted({ kind: 'job', jobId })];
  const before = await Promise.all(ids.map((id) => store.find(test.database, null, id)));
  expect([await reapply(), await found()]).toEqual([{ asked: [], unreadable: [] }, []]);
  await forget();
  expect((await found()).sort()).toEqual([...ids].sort());
  expect((await reapply()).asked.sort()).toEqual([...ids].sort());
  const after = await Promise.all(ids.map((id) => store.find(test.database, null, id)));
  const shown = after.map((erasure) => ({ ...erasure, requestedAt: 'another' }));
  expect(shown).toEqual(before.map((erasure) => ({ ...erasure, requestedAt: 'another' })));
  expect([await reapply(), await found()]).toEqual([{ asked: [], unreadable: [] }, []]);
  const logged = await test.database.models.auditEntry.findMany({ where: { accountId, action: 'erasure.reapply' } });
  expect(logged.map(({ subjectId, actor }) => [subjectId, actor]).sort()).toEqual(
    ids.map((id) => [id, 'restore']).sort(),
  );
});

it('an account that was closed is closed again at once, and its note stands for all others of it', async () => {
  await noted(label);
  const id = await noted({ kind: 'account' });
  await forget();
  const { account, apiKey } = test.database.models;
  await test.database.execute(
    Prisma.sql`UPDATE accounts SET closed_at = NULL, status = 'active' WHERE id = ${accountId}::uuid`,
  );
  await apiKey.updateMany({ where: { accountId }, data: { revokedAt: null } });
  expect(await reapply()).toEqual({ asked: [id], unreadable: [] });
  expect(await account.findUniqueOrThrow({ where: { id: accountId } })).toMatchObject({
    status: 'suspended',
    closedAt: expect.any(Date) as Date,
  });
});

it('many notes for which that of an account stands go some at a time, between the steps of other erasures', async () => {
  const MANY = 1_000;
  const { erasure } = await erasures.request(owner, accountId, { kind: 'account' });
  const names = Array.from({ length: MANY }, () => `erasures/${accountId}/${newId()}`);
  await Promise.all([...names, `erasures/${accountId}/${erasure.id}`].map((name) => files.put(name, '{}')));
  await test.database.execute(Prisma.sql`UPDATE erasures SET step = 'notes'`);
  const other = await makeAccount(test.database);
  await erasures.request(owner, other, label);
  let [gone, most, underWay] = [0, 0, 0];
  const slow: NoteStore = {
    ...{ put: files.put.bind(files), get: files.get.bind(files), list: files.list.bind(files) },
    delete: async (name) => {
      most = Math.max(most, (underWay += 1));
      await files.delete(name);
      [gone, underWay] = [gone + 1, underWay - 1];
    },
  };
  const steps = new ErasureSteps({ notes: new ErasureNotes(slow, ring) } as unknown as Erasers);
  const seen: [string, number][] = [];
  const run = async (step: string, lease: ErasureLease): ReturnType<ErasureSteps['run']> => {
    const outcome = await (step === 'notes' ? steps.run(step, lease) : { next: 'over' as const });
    seen.push([lease.accountId, gone]);
    return outcome;
  };
  const runner = new ErasureRunner(test.database, store, { run } as ErasureSteps, 0);
  while ((await runner.runOnce()) === 'went_on');
  const left = seen.filter(([of]) => of === other).map(([, before]) => before);
  expect(left.filter((before) => before > 0 && before < MANY)).not.toEqual([]);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThan(100);
  const rest: string[] = [];
  for await (const { name } of files.list(`erasures/${accountId}/`)) rest.push(name);
  expect(rest).toEqual([`erasures/${accountId}/${erasure.id}`]);
});

it('an account that the backup does not have has nothing to erase', async () => {
  const id = newId();
  await notes.keep({ id, accountId: newId(), pseudonym: 'erased-1', subject: label });
  expect([await reapply(), await found()]).toEqual([{ asked: [], unreadable: [] }, []]);
});

it('a note names nobody to whom the keys of the service do not open it', async () => {
  const id = await noted(label);
  const text = await readFile(join(folder.path, 'notes', 'erasures', accountId, id), 'utf8');
  expect(text).not.toMatch(/ada|user/);
  await forget();
  const other = new ErasureNotes(files, KeyRing.of(randomBytes(32)));
  const { asked, unreadable } = await reapply(other);
  expect([asked, unreadable]).toEqual([[], [{ id, reason: expect.stringContaining('not in the ring') as string }]]);
  // Nor is it opened as that of another account.
  const stranger = await makeAccount(test.database);
  await files.put(`erasures/${stranger}/${id}`, text);
  await expect(notes.read({ accountId: stranger, id })).rejects.toThrow();
});

it('is sealed again with the first key of the ring, so that a former one can be removed', async () => {
  const [former, first] = ['former', 'first'].map((name) => `${name}:${randomBytes(32).toString('base64')}`);
  const notesOf = (...keys: (string | undefined)[]): ErasureNotes => {
    const parsed = KeyRing.parse(keys.join(','));
    if (typeof parsed === 'string') throw new Error(parsed);
    return new ErasureNotes(files, parsed);
  };
  const [before, rotating, after] = [notesOf(former), notesOf(first, former), notesOf(first)];
  const names = Array.from({ length: 101 }, () => ({ accountId, id: newId() }));
  for (const name of names) await before.keep({ ...name, pseudonym: 'erased-1', subject: label });
  const job = { kind: 'job', jobId: newId() } as const;
  await before.keep({ accountId, id: newId(), pseudonym: 'erased-2', subject: job });
  // What cannot be opened keeps no other from its turn.
  const lost = { accountId, id: newId() };
  await notesOf(`lost:${randomBytes(32).toString('base64')}`).keep({ ...lost, pseudonym: 'erased-3', subject: label });
  const failed: string[] = [];
  const report = { failed: (id: string) => void failed.push(id), resting: () => undefined };
  expect(await new ResealErasureNotesLoop(before).runOnce()).toBe(0);
  let nowMs = Date.now();
  const loop = new ResealErasureNotesLoop(rotating, () => nowMs);
  while ((await loop.runOnce(report)) > 0);
  for (const name of names) {
    expect(await after.read(name)).toEqual({ ...name, pseudonym: 'erased-1', subject: label });
  }
  expect(failed).toEqual([lost.id]);
  // By then no clock can say that they were written later.
  nowMs += 3_600_000;
  while ((await loop.runOnce(report)) > 0);
  const read = jest.spyOn(rotating, 'reseal');
  while ((await loop.runOnce(report)) > 0);
  expect(read).not.toHaveBeenCalled();
});

/** Two keys, so that every note may have to be sealed again. */
function rotatingNotes(of: NoteStore): ErasureNotes {
  const parsed = KeyRing.parse(
    ['first', 'former'].map((name) => `${name}:${randomBytes(32).toString('base64')}`).join(','),
  );
  if (typeof parsed === 'string') throw new Error(parsed);
  return new ErasureNotes(of, parsed);
}

it('takes a page of a million notes a run', async () => {
  let taken = 0;
  const list = async function* (): AsyncGenerator<{ name: string; modifiedAt: Date }> {
    for (let n = 0; n < 1_000_000; n += 1) {
      taken += 1;
      await Promise.resolve();
      yield { name: `erasures/${accountId}/${newId()}`, modifiedAt: new Date() };
    }
  };
  const many = { list, get: () => Promise.resolve(null) } as unknown as NoteStore;
  const loop = new ResealErasureNotesLoop(rotatingNotes(many));
  expect(await loop.runOnce()).toBe(1);
  expect(await loop.runOnce()).toBe(1);
  expect(taken).toBe(200);
});

it('looks again at what a listing that was cut off left out', async () => {
  const ids = Array.from({ length: 250 }, () => newId());
  let isCut = true;
  const list = async function* (): AsyncGenerator<{ name: string; modifiedAt: Date }> {
    for (const [at, id] of ids.entries()) {
      await Promise.resolve();
      if (isCut && at === 150) throw new Error('the store is away');
      yield { name: `erasures/${accountId}/${id}`, modifiedAt: new Date(0) };
    }
  };
  const met = new Set<string>();
  const get = (name: string): Promise<null> => {
    met.add(name);
    return Promise.resolve(null);
  };
  const loop = new ResealErasureNotesLoop(rotatingNotes({ list, get } as unknown as NoteStore));
  expect(await loop.runOnce()).toBe(1);
  await expect(loop.runOnce()).rejects.toThrow('away');
  isCut = false;
  while ((await loop.runOnce()) > 0);
  expect(met.size).toBe(250);
});

it('goes although another one cannot be deleted', async () => {
  const old = [40, 39, 38].map((days) => lowestIdAt(Date.now() - days * 86_400_000));
  for (const id of old) await notes.keep({ id, accountId, pseudonym: 'erased-1', subject: label });
  const denying: NoteStore = {
    put: (name, text) => files.put(name, text),
    get: (name) => files.get(name),
    list: (prefix) => files.list(prefix),
    delete: (name) => (name.includes(old[0] ?? '') ? Promise.reject(new Error('denied')) : files.delete(name)),
  };
  const failed: string[] = [];
  const report = { failed: (item: string) => void failed.push(item), resting: jest.fn() };
  const loop = new SweepErasureNotesLoop(new ErasureNotes(denying, ring), 30);
  expect(await loop.runOnce(report)).toBe(2);
  expect(failed).toEqual([old[0]]);
  // Where none can be deleted the loop fails.
  await expect(loop.runOnce(report)).rejects.toThrow('denied');
  expect(await notes.sweep(30, jest.fn())).toBe(1);
});

it('goes when no backup can be from before it, and not sooner', async () => {
  const days = (count: number): string => lowestIdAt(Date.now() - count * 86_400_000);
  for (const id of [days(31), days(29)]) await notes.keep({ id, accountId, pseudonym: 'erased-1', subject: label });
  expect(await new SweepErasureNotesLoop(notes, 30).runOnce()).toBe(1);
  expect(await notes.read({ accountId, id: days(31) })).toBeNull();
  expect(await notes.sweep(30, jest.fn())).toBe(0);
  expect(await reapply()).toMatchObject({ asked: [expect.any(String)] });
});
