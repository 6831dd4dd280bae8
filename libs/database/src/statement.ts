import { createHash } from 'node:crypto';
import type { Prisma } from '@prisma/client';
import pg from 'pg';

/** OIDs of the types that are read differently than the driver does. */
const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;
const TEXT_ARRAY = 1009;

type Parser = (text: string) => unknown;
const driverParser = (oid: number, format: 'text' | 'binary'): Parser => pg.types.getTypeParser(oid, format) as Parser;
const arrayOfText = driverParser(TEXT_ARRAY, 'text');

/**
 * Values as Prisma's client reads them, so that a statement means the same in a transaction of its client and outside:
 * int8 is a bigint, a date is its midnight in UTC.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return BigInt;
    if (oid === INT8_ARRAY) return (text: string) => (arrayOfText(text) as (string | null)[]).map(bigintOrNull);
    if (oid === DATE) return (text: string) => new Date(`${text}T00:00:00Z`);
    return driverParser(oid, format ?? 'text');
  },
};

const bigintOrNull = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

/**
 * A statement as the driver takes it, prepared under a name or under none. Sending it to the driver directly costs a third of the processor time that Prisma's
 * client needs for a raw statement as long as a submission.
 */
export function statementOf(sql: Prisma.Sql, isNamed: boolean): pg.QueryConfig {
  const { text, values } = sql;
  return { text, values, name: isNamed ? statementName(text) : '', types };
}

const statementNames = new Map<string, string>();
const NAMES_LIMIT = 500;

/**
 * Prepared statements are kept by name on each connection: planning the submission each time would cost more than running it.
 *
 * @returns the empty name, under which nothing is kept, for a new text when there are many already: lists of values of any
 *   length make any number of texts, and those are not worth a plan each.
 */
export function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    if (statementNames.size >= NAMES_LIMIT) return '';
    name = createHash('sha1').update(text).digest('base64url');
    statementNames.set(text, name);
  }
  return name;
}
