import { newId } from '@millrace/contracts';
import { createLogger } from '@millrace/platform';
import { SmtpSink } from '@millrace/testing';
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
  const store = {
    claim: (_: unknown, __: number, leaseSeconds: number): Promise<ClaimedMail[]> => {
      leases.push(leaseSeconds);
      return Promise.resolve([claimed]);
    },
    postpone: (_: unknown, { attempts }: ClaimedMail, seconds: number): Promise<void> => {
      leases.push(seconds);
      return attempts === claimed.attempts ? Promise.reject(new Error('PostgreSQL is away')) : Promise.resolve();
    },
    delete: () => Promise.resolve(),
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
  answer();
  expect(await run).toBe(1);
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
  expect(await run).toBe(0);
});
