import { Prisma } from '@prisma/client';
import { statementPart, type StatementPart } from '@millrace/database';

/*
 * What engine time costs, and what a job is charged for it: each rule in TypeScript and, below it, in the SQL that the
 * statements of jobs run. `price.int-spec.ts` holds the two equal on PostgreSQL.
 *
 * Which time of a job is billed is not decided here but in `libs/jobs/src/lifecycle/settlement.ts`.
 */

/**
 * What engine time costs, in micro-credits: its price, rounded up to the next whole one.
 *
 * @param ms whole milliseconds of engine time.
 * @param priceMicrosPerSecond the price that was agreed when the job was submitted.
 */
export function costMicros(ms: bigint, priceMicrosPerSecond: bigint): bigint {
  return (ms * priceMicrosPerSecond + 999n) / 1000n;
}

const costSql = (ms: Prisma.Sql): Prisma.Sql => Prisma.sql`(((${ms}) * r.price_micros_per_second + 999) / 1000)`;

/** A job when it ends. */
export interface BilledRun {
  heldMicros: bigint;
  priceMicrosPerSecond: bigint;
  /** Engine time of all its attempts that is billed, in milliseconds. */
  billableMs: bigint;
}

/** What a job is charged: the cost of its billed time, and never more than was held for it. */
export function chargeMicros({ heldMicros, priceMicrosPerSecond, billableMs }: BilledRun): bigint {
  const cost = costMicros(billableMs, priceMicrosPerSecond);
  return cost < heldMicros ? cost : heldMicros;
}

export type BilledColumn = 'id' | 'held_micros' | 'price_micros_per_second' | 'billable_ms';

/** The rows of `run` with `charged_micros`: the SQL of `chargeMicros`. */
export function chargePart<Column extends string>(
  run: StatementPart<Column | BilledColumn>,
): StatementPart<Column | BilledColumn | 'charged_micros'> {
  return statementPart<Column | BilledColumn | 'charged_micros'>('charge')`
    SELECT r.*, least(r.held_micros, ${costSql(Prisma.sql`r.billable_ms`)}) AS charged_micros FROM ${run} r`;
}

/** A job while it runs. */
export interface MeteredRun {
  heldMicros: bigint;
  priceMicrosPerSecond: bigint;
  /** Engine time that would be billed if it ended now, in milliseconds. */
  usedMs: bigint;
}

/** A job whose hold may be extended. */
export interface ExtensibleRun extends MeteredRun {
  /** The most that may be held for it, and so the most that it costs. Absent or null where its submission set no limit. */
  spendLimitMicros?: bigint | null;
}

/** How the holds of running jobs are extended. */
export interface ExtensionTerms {
  /** A hold is extended when it does not cover the run so far and this much more, in milliseconds. */
  leadMs: number;
  /** Engine time that one extension pays for, in milliseconds. */
  stepMs: number;
}

/** By how much the hold of the run `r` covers too little; 0 or less: it is ample. */
const shortMicros = ({ leadMs }: Pick<ExtensionTerms, 'leadMs'>): Prisma.Sql =>
  Prisma.sql`${costSql(Prisma.sql`r.used_ms + ${leadMs}::bigint`)} - r.held_micros`;

/** Whether the hold of the run `r` is to be extended or is used up: what may limit it need not be looked at before. */
export const needsMore = (terms: Pick<ExtensionTerms, 'leadMs'>): Prisma.Sql =>
  Prisma.sql`(${shortMicros(terms)} > 0 OR ${isUsedUp})`;

/**
 * By how much to extend the hold of a run before it is used up; 0 while it is ample, and never beyond the limit of its submission.
 * The account may have less than that: it then gives what it has.
 */
export function extensionMicros(
  { heldMicros, priceMicrosPerSecond, usedMs, spendLimitMicros = null }: ExtensibleRun,
  { leadMs, stepMs }: ExtensionTerms,
): bigint {
  const shortMicros = costMicros(usedMs + BigInt(leadMs), priceMicrosPerSecond) - heldMicros;
  if (shortMicros <= 0n) return 0n;
  const stepMicros = costMicros(BigInt(stepMs), priceMicrosPerSecond);
  const byMicros = stepMicros > shortMicros ? stepMicros : shortMicros;
  if (spendLimitMicros === null || heldMicros + byMicros <= spendLimitMicros) return byMicros;
  return spendLimitMicros > heldMicros ? spendLimitMicros - heldMicros : 0n;
}

export type MeteredColumn = 'id' | 'held_micros' | 'price_micros_per_second' | 'used_ms';

export type ExtensibleColumn = MeteredColumn | 'spend_limit_micros';

/** The rows of `run` with `extend_micros`: the SQL of `extensionMicros`. `least` passes over the NULL of a run without a limit. */
export function extensionPart<Column extends string>(
  run: StatementPart<Column | ExtensibleColumn>,
  { leadMs, stepMs }: ExtensionTerms,
): StatementPart<Column | ExtensibleColumn | 'extend_micros'> {
  const short = shortMicros({ leadMs });
  const by = Prisma.sql`greatest(${short}, ${costSql(Prisma.sql`${stepMs}::bigint`)})`;
  return statementPart<Column | ExtensibleColumn | 'extend_micros'>('due')`
    SELECT r.*, CASE WHEN ${short} > 0 THEN greatest(least(${by}, r.spend_limit_micros - r.held_micros), 0) ELSE 0 END
      AS extend_micros
    FROM ${run} r`;
}

/** True when a run has used all that is held for it: it may not go on. */
export function isExhausted({ heldMicros, priceMicrosPerSecond, usedMs }: MeteredRun): boolean {
  return priceMicrosPerSecond > 0n && costMicros(usedMs, priceMicrosPerSecond) >= heldMicros;
}

const isUsedUp = Prisma.sql`(r.price_micros_per_second > 0 AND ${costSql(Prisma.sql`r.used_ms`)} >= r.held_micros)`;

/** The rows of `run` with `is_exhausted`: the SQL of `isExhausted`. */
export function exhaustionPart<Column extends string>(
  run: StatementPart<Column | MeteredColumn>,
): StatementPart<Column | MeteredColumn | 'is_exhausted'> {
  return statementPart<Column | MeteredColumn | 'is_exhausted'>('exhaustion')`
    SELECT r.*, ${isUsedUp} AS is_exhausted FROM ${run} r`;
}
