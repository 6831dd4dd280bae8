import { Prisma } from '@prisma/client';
import pg from 'pg';

/** A statement ended itself by `refuse(reason)`: it changed nothing. */
export class RefusedError extends Error {
  constructor(readonly reason: string) {
    super(`the statement was refused: ${reason}`);
    this.name = 'RefusedError';
  }
}

/** A statement violated a constraint: it changed nothing. */
export class ConstraintError extends Error {
  constructor(
    readonly kind: 'unique' | 'foreign_key' | 'check' | 'not_null',
    readonly constraint: string,
  ) {
    super(`the constraint ${constraint} was violated`);
    this.name = 'ConstraintError';
  }
}

export interface DriverCause {
  kind?: string;
  code?: string;
  originalCode?: string;
  originalMessage?: string;
  constraint?: { index?: string; fields?: string[] };
}

/** Turn the errors of Prisma and of the driver that callers decide by into ours; others are returned as they are. */
export function translateError(error: unknown): unknown {
  const cause = driverCause(error);
  if (cause === undefined) return error;
  const name = cause.constraint?.index ?? cause.constraint?.fields?.join(',') ?? '';
  switch (cause.originalCode ?? cause.code) {
    case 'MR001':
      return new RefusedError(cause.originalMessage ?? '');
    case '23505':
      return new ConstraintError('unique', name);
    case '23503':
    case '23001':
      return new ConstraintError('foreign_key', name);
    case '23514':
      return new ConstraintError('check', /constraint "([^"]+)"/.exec(cause.originalMessage ?? '')?.[1] ?? '');
    case '23502':
      return new ConstraintError('not_null', name);
    default:
      return error;
  }
}

/** NUL in a text, or in JSON (character_not_in_repertoire, untranslatable_character). */
const UNSTORABLE: readonly (string | undefined)[] = ['22021', '22P05'];

/** Whether PostgreSQL refused a text for a character that it cannot store. The statement changed nothing. */
export function isUnstorableText(error: unknown): boolean {
  return UNSTORABLE.includes(sqlStateOf(error));
}

/** The SQLSTATE with which PostgreSQL refused a statement. */
export function sqlStateOf(error: unknown): string | undefined {
  const cause = driverCause(error);
  return cause?.originalCode ?? cause?.code;
}

/** What PostgreSQL or the driver reported, as the client and the driver each wrap it. */
export function driverCause(error: unknown): DriverCause | undefined {
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    const adapterError = error.meta?.driverAdapterError as { cause?: DriverCause } | undefined;
    return adapterError?.cause;
  }
  if (error instanceof Error && error.name === 'DriverAdapterError') return error.cause as DriverCause;
  if (error instanceof pg.DatabaseError) {
    const { code, message, constraint, column } = error;
    return { originalCode: code, originalMessage: message, constraint: { index: constraint ?? column } };
  }
  return undefined;
}
