import { randomBytes } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { Prisma } from '@prisma/client';
import pino from 'pino';
import { newId } from '@millrace/contracts';
import { KeyRing, createLogger } from '@millrace/platform';
import { SmtpSink, createTestDatabase, createTestFolder, type TestDatabase } from '@millrace/testing';
import { DeliverMailLoop } from './deliver-mail.loop';
import { composeMailDelivery } from './composition';
import { FolderSender } from './folder-sender';
import type { MailSender } from './mail';
import { MailOutbox } from './mail-outbox';
import { MailOutboxStore } from './mail-outbox.store';
import { mailPlaceOf } from './mail.settings';
import { SmtpSender } from './smtp-sender';
import { SweepMailLoop } from './sweep-mail.loop';

const FROM = 'Millrace <no-reply@mail.test>';
const MAIL = { to: 'ada@example.test', subject: 'Hello', text: 'A line with the link https://x.test/#link=secret' };
const logger = createLogger('maintenance', 'fatal');
const ring = KeyRing.parse(randomBytes(32).toString('base64')) as KeyRing;
const store = new MailOutboxStore();
const outbox = new MailOutbox(store, ring, true);

let test: TestDatabase;
let sink: SmtpSink;
let account: string;
beforeAll(async () => {
  test = await createTestDatabase();
  account = await newAccount();
});
beforeEach(async () => {
  sink = await SmtpSink.open();
});
afterEach(async () => {
  await sink.close();
  await test.database.execute(Prisma.sql`DELETE FROM mail_messages`);
});
afterAll(() => test.drop());

/** A loop of which each run ends with the mails that it began. */
const loopOf = (sender: MailSender, log = logger): DeliverMailLoop =>
  new DeliverMailLoop(test.database, store, outbox, sender, log, { runMs: 120_000, closeMs: 0 });
const loopTo = (url: string): DeliverMailLoop => loopOf(new SmtpSender(url, FROM));
const rows = () => test.database.models.mailMessage.findMany();
const makeDue = () => test.database.execute(Prisma.sql`UPDATE mail_messages SET due_at = now() - interval '1 s'`);
const newAccount = async (): Promise<string> =>
  (await test.database.models.account.create({ data: { id: newId(), name: 'a test' } })).id;
const add = (lifeSeconds = 900, of = account) => outbox.add(test.database, of, MAIL, lifeSeconds);

it('is recorded with what causes it, or not at all, and says nothing in the database', async () => {
  const undone = test.database.transaction(async (tx) => {
    await outbox.add(tx, account, MAIL, 900);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await rows()).toEqual([]);
  await add();
  const [row] = await rows();
  const stored = Buffer.from(row?.sealed ?? []).toString('latin1');
  for (const text of [MAIL.to, 'secret', MAIL.subject]) expect(stored).not.toContain(text);
});

it('is sent once to the mail server, and forgotten', async () => {
  await add();
  expect(await loopTo(sink.url).runOnce()).toBe(1);
  expect(sink.mails).toMatchObject([{ to: [MAIL.to], from: 'no-reply@mail.test' }]);
  expect(sink.mails[0]?.text).toContain('#link=secret');
  expect(await rows()).toEqual([]);
  expect(await loopTo(sink.url).runOnce()).toBe(0);
});

it('is tried again later where the mail server is away or says that it cannot now, under the same Message-ID', async () => {
  await add();
  sink.refuses = { of: 'RCPT TO', code: 451 };
  const failed: unknown[] = [];
  const report = { failed: (_: string, error: unknown) => failed.push(error), resting: () => undefined };
  expect(await loopTo(sink.url).runOnce(report)).toBe(0);
  const [row] = await rows();
  expect(row?.attempts).toBe(1);
  expect(row?.dueAt.getTime()).toBeGreaterThan(row?.createdAt.getTime() ?? 0);
  await makeDue();
  expect(await loopTo('smtp://127.0.0.1:1').runOnce(report)).toBe(0);
  expect(failed).toHaveLength(2);
  sink.refuses = null;
  await makeDue();
  expect(await loopTo(sink.url).runOnce(report)).toBe(1);
  expect(sink.mails[0]?.text).toContain(`Message-ID: <${row?.id}@mail.test>`);
});

it.each([
  { of: 'RCPT TO', code: 550, text: '5.1.1 no such mailbox' },
  { of: 'RCPT TO', code: 553 },
  { of: 'the message', code: 554, text: '5.7.1 looks like spam' },
] as const)('is given up where the mail server refuses $of for good: $code $text', async (refusal) => {
  await add();
  sink.refuses = refusal;
  expect(await loopTo(sink.url).runOnce()).toBe(1);
  expect([await rows(), sink.mails]).toEqual([[], []]);
});

it.each([
  { of: 'MAIL FROM', code: 550, text: '5.1.8 no such domain' },
  { of: 'MAIL FROM', code: 553, text: 'sender not allowed' },
  // Many servers say what they have against the sender, or against us, when they are asked for the recipient.
  { of: 'RCPT TO', code: 550, text: '5.1.8 sender address rejected' },
  { of: 'RCPT TO', code: 550, text: '5.1.7 sender address rejected' },
  { of: 'RCPT TO', code: 554, text: '5.7.1 relay access denied' },
] as const)('waits where the mail server refuses our settings: $of, $code $text', async (refusal) => {
  await add();
  sink.refuses = refusal;
  expect(await loopTo(sink.url).runOnce()).toBe(0);
  expect(await rows()).toHaveLength(1);
  sink.refuses = null;
  await makeDue();
  expect(await loopTo(sink.url).runOnce()).toBe(1);
  expect(sink.mails).toHaveLength(1);
});

it.each([
  { of: 'RCPT TO', code: 550, text: `5.1.1 <${MAIL.to}>: no such mailbox`, says: 'RCPT TO, 550 5.1.1, EENVELOPE' },
  { of: 'RCPT TO', code: 451, text: `4.2.1 <${MAIL.to}>: try later`, says: 'RCPT TO, 451 4.2.1, EENVELOPE' },
  { of: 'MAIL FROM', code: 550, text: `not for ${MAIL.to}`, says: 'MAIL FROM, 550, EENVELOPE' },
  { of: 'the message', code: 554, text: `5.7.1 spam to ${MAIL.to}`, says: 'DATA, 554 5.7.1, EMESSAGE' },
] as const)(
  'is named by its id in what is logged, never by its recipient: $of, $code',
  async ({ says, ...refusal }) => {
    await add();
    const [{ id } = { id: '' }] = await rows();
    sink.refuses = refusal;
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const report = { failed: (item: string, err: unknown) => log.warn({ err, item }), resting: () => undefined };
    await loopOf(new SmtpSender(sink.url, FROM), log).runOnce(report);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(id);
    expect(lines[0]).toContain(says);
    expect(lines[0]).not.toContain('ada');
  },
);

it('says in what is logged why the mail server was not reached', async () => {
  const due = { id: newId(), ...MAIL };
  const failed = new SmtpSender('smtp://127.0.0.1:1', FROM).send(due);
  await expect(failed).rejects.toThrow('the mail server did not take a mail: CONN, ESOCKET, ECONNREFUSED');
});

it('is not sent when it is of no use any more, and deleted', async () => {
  await add(0);
  await add(900);
  expect(await loopTo(sink.url).runOnce()).toBe(1);
  expect(await rows()).toHaveLength(1);
  expect(await new SweepMailLoop(test.database, store).runOnce()).toBe(1);
  expect([await rows(), sink.mails.length]).toEqual([[], 1]);
});

it('of one account does not keep that of others waiting, nor what is urgent of its own', async () => {
  const others = [await newAccount(), await newAccount()];
  const day = 86_400;
  for (let n = 0; n < 30; n += 1) await add(day);
  for (const of of others) await add(day, of);
  await add(900);
  const accountsOf = async (count: number): Promise<(string | undefined)[]> => {
    const claimed = (await store.claim(test.database, count, 300)).map(({ id }) => id);
    return (await rows()).filter(({ id }) => claimed.includes(id)).map(({ accountId }) => accountId ?? undefined);
  };
  const isUrgent = { expiresAt: { lt: new Date(Date.now() + 1_800_000) }, attempts: 1 };
  expect((await accountsOf(3)).sort()).toEqual([account, ...others].sort());
  expect(await test.database.models.mailMessage.count({ where: isUrgent })).toBe(1);
  expect(await accountsOf(40)).toHaveLength(30);
});

it('is due for the next statement, in whichever part of a millisecond it was recorded', async () => {
  for (let n = 0; n < 40; n += 1) {
    await add();
    expect(await store.claim(test.database, 10, 300)).toHaveLength(1);
  }
});

it('of two processes one sends it, and what a lost claim does changes nothing', async () => {
  await add();
  const [claimed] = await store.claim(test.database, 10, 300);
  expect(await store.claim(test.database, 10, 300)).toEqual([]);
  await makeDue();
  const [again] = await store.claim(test.database, 10, 300);
  if (claimed === undefined || again === undefined) throw new Error('not claimed');
  await store.delete(test.database, claimed);
  await store.postpone(test.database, claimed, 0);
  expect(await rows()).toHaveLength(1);
  expect(await store.claim(test.database, 10, 300)).toEqual([]);
  await store.delete(test.database, again);
  expect(await rows()).toEqual([]);
});

it('is a file in a folder where there is no mail server', async () => {
  const folder = await createTestFolder();
  await add();
  expect(await loopOf(new FolderSender(`${folder.path}/mail`, FROM)).runOnce()).toBe(1);
  const [file, ...more] = await readdir(`${folder.path}/mail`);
  expect(more).toEqual([]);
  const text = await readFile(`${folder.path}/mail/${file}`, 'utf8');
  expect(text).toMatch(/To: ada@example\.test\r\n/);
  expect(text).toContain('#link=');
  await folder.drop();
});

it('is sent by one way, or by none', () => {
  const both = { mailSmtpUrl: 'smtp://127.0.0.1', mailFolder: '/tmp/x', mailFrom: FROM };
  expect(() => mailPlaceOf(both)).toThrow('both set');
  const parts = { database: test.database, secretKey: ring, logger, settings: { mailFrom: FROM } };
  // What was recorded before is swept all the same.
  expect(composeMailDelivery(parts).loops.map(({ name }) => name)).toEqual(['sweep-mail']);
  const settings = { mailFrom: FROM, mailFolder: '/nonexistent' };
  const names = composeMailDelivery({ ...parts, settings }).loops.map(({ name }) => name);
  expect(names).toEqual(['sweep-mail', 'deliver-mail']);
});
