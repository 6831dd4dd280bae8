import pg from 'pg';
import type { Database, Statements } from '@millrace/database';
import { AuditLog } from './audit-log.service';
import type { AuditLogStore } from './audit-log.store';

const operator = { actor: 'admin', address: null };
const act = { action: 'a.do', subjectType: 'a', subjectId: 'one', accountId: null };

it('an act that PostgreSQL undid in favour of others is done again, and noted once', async () => {
  const tx = {} as Statements;
  const database = { transaction: (work: (tx: Statements) => Promise<unknown>) => work(tx) } as unknown as Database;
  const append = jest.fn(() => Promise.resolve());
  const log = new AuditLog(database, { append } as unknown as AuditLogStore);
  const undone = Object.assign(new pg.DatabaseError('deadlock detected', 0, 'error'), { code: '40P01' });
  const writes = jest.fn(() => Promise.resolve('done')).mockRejectedValueOnce(undone);
  const done = await log.record(operator, (_, note) => {
    note(act);
    return writes();
  });
  expect(done).toBe('done');
  expect(writes).toHaveBeenCalledTimes(2);
  expect(append.mock.calls).toEqual([[tx, operator, act]]);
});
