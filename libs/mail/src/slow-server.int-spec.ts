import { newId } from '@millrace/contracts';
import { createLogger } from '@millrace/platform';
import { SmtpSink, eventually } from '@millrace/testing';
import { DeliverMailLoop } from './deliver-mail.loop';
import type { MailSender } from './mail';
import type { ClaimedMail, MailOutboxStore } from './mail-outbox.store';
import { SmtpSender } from './smtp-sender';

const FROM = 'Millrace <no-reply@mail.test>';
const MAIL = { to: 'ada@example.test', subject: 'Hello', text: 'A line' };
const MINUTE = 60_000;

let sink: SmtpSink;
const answers: (() => void)[] = [];
beforeEach(async () => {
  sink = await SmtpSink.open();
});
afterEach(async () => {
  jest.useRealTimers();
  for (const answer of answers.splice(0)) answer();
  await sink.close();
});

/** Only what the code under test sets: sockets have timers of their own. */
function stopClock(): void {
  const doNotFake = [
    'nextTick',
    'setImmediate',
    'clearImmediate',
    'queueMicrotask',
    'performance',
    'hrtime',
    'Date',
  ] as const;
  jest.useFakeTimers({ doNotFake: [...doNotFake] });
}

/** What was to run at once has. */
const othersRan = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Have the server answer to this only when it is let. */
function hold(to: 'RCPT TO' | 'the message'): { reached: Promise<void>; answer: () => void } {
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    sink.beforeAnswer = (of) => {
      if (of !== to) return Promise.resolve();
      resolve();
      return answered;
    };
  });
  answers.push(answer);
  return { reached, answer };
}

const LONG = { dialogMs: 60_000, answerMs: 60_000 };
const sendWith = (limits = LONG): Promise<unknown> =>
  new SmtpSender(sink.url, FROM, limits).send({ id: newId(), ...MAIL }).then(
    () => 'sent',
    (error: unknown) => error,
  );
const GIVEN_UP = { message: 'the mail server did not take a mail: EABORT' };

it('a server that has the message is waited for longer than one that is not ready for it', async () => {
  const limits = { ...LONG, dialogMs: 1_000 };
  const first = hold('the message');
  const result = sendWith(limits);
  await first.reached;
  // When this one is given up, the limit has passed for the first one, too.
  const second = hold('RCPT TO');
  expect(await sendWith(limits)).toMatchObject(GIVEN_UP);
  second.answer();
  first.answer();
  expect(await result).toBe('sent');
  expect(sink.mails).toHaveLength(1);
});

it('a server that never says whether it took the message is given up', async () => {
  hold('the message');
  expect(await sendWith({ ...LONG, answerMs: 100 })).toMatchObject(GIVEN_UP);
});

it('the lease of a mail is renewed until the server has answered', async () => {
  const claimed = { id: newId(), sealed: Buffer.of(), attempts: 1 };
  const leases: number[] = [];
  let isDeleted = false;
  const store = {
    claim: (_: unknown, __: number, leaseSeconds: number): Promise<ClaimedMail[]> => {
      leases.push(leaseSeconds);
      return Promise.resolve([claimed]);
    },
    postpone: (_: unknown, { attempts }: ClaimedMail, seconds: number): Promise<void> => {
      leases.push(seconds);
      return attempts === claimed.attempts ? Promise.reject(new Error('PostgreSQL is away')) : Promise.resolve();
    },
    delete: () => Promise.resolve((isDeleted = true)),
  } as unknown as MailOutboxStore;
  let answer: () => void = () => undefined;
  const send = (): Promise<void> => new Promise((resolve) => (answer = resolve));
  const sender: MailSender = { send, close: () => undefined };
  const outbox = { open: () => MAIL };
  stopClock();
  const loop = new DeliverMailLoop(undefined as never, store, outbox, sender, createLogger('maintenance', 'silent'));
  const run = loop.runOnce();
  await Promise.resolve();
  jest.advanceTimersByTime(10 * MINUTE);
  expect(leases).toEqual(Array.from({ length: 21 }, () => leases[0]));
  await run;
  answer();
  await loop.close();
  expect(isDeleted).toBe(true);
  jest.advanceTimersByTime(MINUTE);
  expect(leases).toHaveLength(21);
});

it('a mail that failed while its lease was renewed has its pause written last, and no renewal after it', async () => {
  const written: { seconds: number; end: () => void }[] = [];
  const store = {
    claim: (): Promise<ClaimedMail[]> => Promise.resolve([{ id: newId(), sealed: Buffer.of(), attempts: 1 }]),
    postpone: (_: unknown, __: ClaimedMail, seconds: number): Promise<void> =>
      new Promise((end) => written.push({ seconds, end })),
  } as unknown as MailOutboxStore;
  let fail: () => void = () => undefined;
  const send = (): Promise<void> => new Promise((_, reject) => (fail = () => reject(new Error('given up'))));
  const sender: MailSender = { send, close: () => undefined };
  const outbox = { open: () => MAIL };
  stopClock();
  const loop = new DeliverMailLoop(undefined as never, store, outbox, sender, createLogger('maintenance', 'silent'));
  const run = loop.runOnce();
  await Promise.resolve();
  jest.advanceTimersByTime(MINUTE / 2);
  fail();
  await othersRan();
  expect(written.map(({ seconds }) => seconds)).toEqual([120]);
  written[0]?.end();
  await othersRan();
  jest.advanceTimersByTime(MINUTE);
  expect(written.map(({ seconds }) => seconds)).toEqual([120, 5]);
  written[1]?.end();
  await run;
  await loop.close();
});

/** Claims of which each run gets one, and what is recorded of their mails. */
function storeOf(...claims: ClaimedMail[][]): { store: MailOutboxStore; rooms: number[]; recorded: object[] } {
  const [rooms, recorded]: [number[], object[]] = [[], []];
  const store = {
    claim: (_: unknown, room: number): Promise<ClaimedMail[]> => {
      rooms.push(room);
      return Promise.resolve(claims.shift() ?? []);
    },
    postpone: (_: unknown, { id }: ClaimedMail, seconds: number) => Promise.resolve(recorded.push({ id, seconds })),
    delete: (_: unknown, { id }: ClaimedMail) => Promise.resolve(recorded.push({ id, isSent: true })),
  };
  return { store: store as unknown as MailOutboxStore, rooms, recorded };
}

const dueMail = (): ClaimedMail => ({ id: newId(), sealed: Buffer.of(), attempts: 1 });
const loopOf = (store: MailOutboxStore, limits: { runMs: number; closeMs: number }): DeliverMailLoop => {
  const logger = createLogger('maintenance', 'silent');
  const sender = new SmtpSender(sink.url, FROM, LONG);
  return new DeliverMailLoop(undefined as never, store, { open: () => MAIL }, sender, logger, limits);
};
const [BRIEF_MS, LONG_MS] = [50, MINUTE];

it('a mail that the server takes its time for leaves the others their turns, and takes one place', async () => {
  const [slow, quick] = [dueMail(), dueMail()];
  const { store, rooms, recorded } = storeOf([slow], [quick]);
  const loop = loopOf(store, { runMs: BRIEF_MS, closeMs: LONG_MS });
  const server = hold('the message');
  expect(await loop.runOnce()).toBe(0);
  await server.reached;
  sink.beforeAnswer = () => Promise.resolve();
  await loop.runOnce();
  await eventually('the other mail was sent', () => recorded.length === 1);
  expect(recorded).toEqual([{ id: quick.id, isSent: true }]);
  expect(rooms[1]).toBe((rooms[0] ?? 0) - 1);
  server.answer();
  await loop.close();
  expect(recorded).toEqual([quick, slow].map(({ id }) => ({ id, isSent: true })));
});

it('a process claims no mail while it has as many under way as it may', async () => {
  const { store, rooms } = storeOf(Array.from({ length: 10 }, dueMail));
  const loop = loopOf(store, { runMs: BRIEF_MS, closeMs: LONG_MS });
  const server = hold('the message');
  expect([await loop.runOnce(), await loop.runOnce()]).toEqual([0, 0]);
  expect(rooms).toEqual([10]);
  server.answer();
  await loop.close();
  expect(sink.mails).toHaveLength(10);
});

it.each(['RCPT TO', 'the message'] as const)(
  'a process that stops gives up a server that does not answer to %s, and its mail is due again',
  async (command) => {
    const mail = dueMail();
    const { store, recorded } = storeOf([mail]);
    const loop = loopOf(store, { runMs: BRIEF_MS, closeMs: BRIEF_MS });
    const server = hold(command);
    await loop.runOnce();
    await server.reached;
    await loop.close();
    expect(recorded).toEqual([{ id: mail.id, seconds: 5 }]);
  },
);
