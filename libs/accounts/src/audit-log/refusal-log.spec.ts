import type { Statements } from '@millrace/database';
import { createLogger } from '@millrace/platform';
import type { Act, Operator } from './audit-log';
import { RefusalLog } from './refusal-log';

const HOUR_MS = 3_600_000;
const act = (subjectId: string, accountId: string | null = 'a'): Act => ({
  action: 'api_key.refuse',
  subjectType: 'api_key',
  subjectId,
  accountId,
});

let nowMs: number;
let written: (Act & Pick<Operator, 'address'>)[];
let log: RefusalLog;
beforeEach(() => {
  nowMs = 0;
  written = [];
  const store = {
    appendRefusal: async (_: Statements, { actor, address }: Operator, entry: Act) => {
      expect(actor).toBe('unauthenticated');
      written.push({ ...entry, address });
    },
  };
  log = new RefusalLog({} as Statements, store, createLogger('api', 'fatal'), () => nowMs);
});
afterEach(() => log.close());

it('writes the first refusal of an hour at once, and how often it was repeated when the hour is over', () => {
  for (let i = 0; i < 1_000; i += 1) log.note(act('k'), '203.0.113.7');
  expect(written).toEqual([{ ...act('k'), address: '203.0.113.7' }]);
  log.flush();
  expect(written).toHaveLength(1);
  nowMs = HOUR_MS;
  log.flush();
  const details = { repeated: 999, until: new Date(0).toISOString() };
  expect(written[1]).toEqual({ ...act('k'), address: '203.0.113.7', details });
  log.note(act('k'), '203.0.113.7');
  expect(written).toHaveLength(3);
});

it('writes nothing more of a refusal that was not repeated', () => {
  log.note(act('k'), '203.0.113.7');
  nowMs = HOUR_MS;
  log.flush();
  expect(written).toHaveLength(1);
});

it('has an entry for each key and each network, of one account at most fifty in an hour, and counts the rest together', () => {
  for (let i = 0; i < 200; i += 1) log.note(act(`k${i % 2}`), `network ${i}`);
  expect(written).toHaveLength(51);
  expect(written[50]).toEqual({
    action: 'credentials.refuse',
    subjectType: 'account',
    subjectId: 'a',
    accountId: 'a',
    address: null,
  });
  log.note(act('k', 'another account'), 'network 0');
  expect(written).toHaveLength(52);
  nowMs = HOUR_MS;
  log.flush();
  expect(written.slice(52)).toMatchObject([{ action: 'credentials.refuse', details: { repeated: 149 } }]);
  log.note(act('k0'), 'network 0');
  expect(written).toHaveLength(54);
});

it('counts what was refused of the operators among themselves', () => {
  for (let i = 0; i < 60; i += 1) log.note(act('operators', null), `network ${i}`);
  expect(written).toHaveLength(51);
  expect(written[50]).toMatchObject({
    subjectType: 'operators',
    subjectId: 'operators',
    accountId: null,
    address: null,
  });
});

it('writes what it has counted before it closes', async () => {
  log.note(act('k'), 'here');
  log.note(act('k'), 'here');
  await log.close();
  expect(written).toMatchObject([{}, { details: { repeated: 1 } }]);
});
