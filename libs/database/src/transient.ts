import { ConstraintError, RefusedError, driverCause } from './errors';

/*
 * The one list of failures that are not about the request: PostgreSQL was away, restarts, fails over, or asks to be tried again.
 */

/**
 * SQLSTATEs by class (PostgreSQL, appendix A): connections (08), resources (53), the operator's doing (57: shutdown, crash,
 * starting up, a statement that took too long).
 */
const TRANSIENT_CLASSES = new Set(['08', '53', '57']);

const TRANSIENT_SQLSTATES = new Set([
  // Read-only: connected to a primary that has become a standby, or to a standby that is not promoted yet.
  '25006',
  // Serialization failure, deadlock, lock not available.
  '40001',
  '40P01',
  '55P03',
]);
/** Class 57 all the same: the database was dropped. */
const DATABASE_DROPPED = '57P04';

const TRANSIENT_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** Codes of Prisma's client: unreachable, timed out, connection closed, no connection free, transaction lost or in conflict. */
const TRANSIENT_PRISMA_CODES = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034']);

/** What Prisma's adapter makes of the driver's errors that have no SQLSTATE. */
const TRANSIENT_KINDS = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TransactionWriteConflict',
]);

/** What the socket of a connection says that was silent for too long. */
export const SILENT_CONNECTION = 'the connection to PostgreSQL has been silent for too long';

const READ_TIMEOUT = 'Query read timeout';
/** Errors of the driver and its pool that have no code. Compared whole: an error of anything else may name a file so. */
const TRANSIENT_MESSAGES = new Set([
  SILENT_CONNECTION,
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  READ_TIMEOUT,
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]);

/** True for a failure that the next try may not meet. */
export function isTransient(error: unknown): boolean {
  const cause = driverCause(error);
  const sqlstate = cause?.originalCode ?? cause?.code ?? '';
  if (TRANSIENT_SQLSTATES.has(sqlstate)) return true;
  if (TRANSIENT_CLASSES.has(sqlstate.slice(0, 2)) && sqlstate.length === 5) return sqlstate !== DATABASE_DROPPED;
  if (cause?.kind !== undefined && TRANSIENT_KINDS.has(cause.kind)) return true;
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && (TRANSIENT_PRISMA_CODES.has(code) || TRANSIENT_SYSTEM_CODES.has(code))) return true;
  return error instanceof Error && TRANSIENT_MESSAGES.has(error.message);
}

/** True where a statement took longer than it may (`MILLRACE_DATABASE_TIMEOUT_MS`): the same for fewer rows may not. */
export function isStatementTimeout(error: unknown): boolean {
  const cause = driverCause(error);
  if ((cause?.originalCode ?? cause?.code) === '57014') return true;
  return error instanceof Error && error.message === READ_TIMEOUT;
}

/** True where a statement waited for a lock as long as its `lock_timeout`, and did nothing. */
export function isLockTimeout(error: unknown): boolean {
  const cause = driverCause(error);
  return (cause?.originalCode ?? cause?.code) === '55P03';
}

/** Serialization failure, deadlock. */
const CONFLICTS = ['40001', '40P01'];

/** True where PostgreSQL undid a transaction in favour of others: the same may succeed at once. */
export function isConflict(error: unknown): boolean {
  const cause = driverCause(error);
  return CONFLICTS.includes(cause?.originalCode ?? cause?.code ?? '');
}

/** SQLSTATEs of PostgreSQL's rollbacks: transaction rollback (class 40), lock not available. */
const ROLLBACK = /^(40...|55P03)$/;

/**
 * True where PostgreSQL answered a statement with an error of the statement's own, and so rolled it back for certain. After
 * any other error, such as a lost connection, a shutdown or a timeout, the outcome is not known here.
 */
export function isUndone(error: unknown): boolean {
  if (error instanceof RefusedError || error instanceof ConstraintError) return true;
  const sqlstate = driverCause(error)?.originalCode;
  return sqlstate !== undefined && (ROLLBACK.test(sqlstate) || !isTransient(error));
}
