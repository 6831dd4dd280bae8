import { Prisma } from '@prisma/client';
import pg from 'pg';
import { isStatementTimeout, isTransient } from './transient';

/** An error of PostgreSQL as the driver throws it. */
function ofServer(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('no', 2, 'error'), { code });
}

/** The same as Prisma's client throws it in a transaction. */
function ofClient(cause: object): Error {
  const meta = { driverAdapterError: { cause } };
  return new Prisma.PrismaClientKnownRequestError('no', { code: 'P2010', clientVersion: '0', meta });
}

const withCode = (code: string): Error => Object.assign(new Error('no'), { code });

describe('a failure that the next try may not meet', () => {
  it.each(['25006', '57P01', '57P02', '57P03', '57014', '53300', '08006', '40001', '40P01', '55P03'])(
    'is the SQLSTATE %s, from the driver and from the client',
    (code) => {
      expect(isTransient(ofServer(code))).toBe(true);
      expect(isTransient(ofClient({ kind: 'postgres', originalCode: code }))).toBe(true);
    },
  );

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENOTFOUND', 'P1001', 'P1017', 'P2024', 'P2028'])(
    'is an error with the code %s',
    (code) => expect(isTransient(withCode(code))).toBe(true),
  );

  it.each(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout'])('is %s of the adapter', (kind) => {
    expect(isTransient(ofClient({ kind }))).toBe(true);
  });

  it.each(['Connection terminated unexpectedly', 'timeout exceeded when trying to connect'])(
    'is the error of the driver "%s"',
    (message) => expect(isTransient(new Error(message))).toBe(true),
  );

  it.each([
    ['a constraint', ofServer('23505')],
    ['an entry too wide for an index', ofServer('54000')],
    ['a database that was dropped', ofServer('57P04')],
    ['a statement that is wrong', ofServer('42601')],
    ['a file whose name looks like it', withCode('ENOENT')],
    ['an error that only speaks of connections', new Error('cannot open the connection timeout.png')],
    ['nothing', null],
  ])('is not %s', (_name, error) => expect(isTransient(error)).toBe(false));
});

describe('a statement that took too long', () => {
  it('is one that the server or the driver has canceled', () => {
    expect(isStatementTimeout(ofServer('57014'))).toBe(true);
    expect(isStatementTimeout(new Error('Query read timeout'))).toBe(true);
  });

  it('is not one that lost its connection, or waited for a lock', () => {
    expect(isStatementTimeout(ofServer('57P01'))).toBe(false);
    expect(isStatementTimeout(ofServer('55P03'))).toBe(false);
  });
});
