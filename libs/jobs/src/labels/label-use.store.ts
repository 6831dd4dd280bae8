import { Prisma } from '@prisma/client';
import { needsMore, type ExtensionTerms, type MeteredColumn } from '@millrace/billing';
import type { JobMetadata } from '@millrace/contracts';
import { statementPart, type StatementPart, type Statements } from '@millrace/database';
import { LABEL_JOBS, LABEL_SPEND, ACCOUNT_LABEL, KEY_LABEL } from './label-refusal';
import type { RuleKey } from './label-rule';

/*
 * The parts by which the statements of jobs count them by their labels: `label_use` has a row for each label and value of an account
 * that a rule is about. Rows are locked after the account's queue and before its balance, in the order of their keys.
 */

/**
 * The day (UTC) on which the transaction began. Rows may be of the next one, which others have begun since: they count as they are. A day after that
 * has not begun; a clock that ran ahead has left it, and it counts as none.
 */
export const today = Prisma.sql`(now() AT TIME ZONE 'UTC')::date`;
/** Whether a date is of this day, and of this month, as rows have it. */
export const isToday = (date: string): Prisma.Sql => Prisma.sql`${Prisma.raw(date)} BETWEEN ${today} AND ${today} + 1`;
export const inThisMonth = (date: string): Prisma.Sql => Prisma.sql`
  (${Prisma.raw(date)} = ${today} + 1 OR date_trunc('month', ${Prisma.raw(date)}) = date_trunc('month', ${today}))`;
/** What was charged today, and this month, of the row `u`. */
export const dayMicros = Prisma.sql`CASE WHEN ${isToday('u.day')} THEN u.day_micros ELSE 0 END`;
export const monthMicros = Prisma.sql`
  CASE WHEN ${inThisMonth('u.day')} THEN u.month_micros ELSE 0 END`;

/** Hold what is counted by a rule until the transaction ends, in the order in which all statements lock it. */
export async function lockUse(tx: Statements, accountId: string, { label, value }: RuleKey): Promise<void> {
  await tx.rows(Prisma.sql`
    SELECT u.value FROM label_use u
    WHERE u.account_id = ${accountId}::uuid AND u.label = ${label} AND (${value}::text IS NULL OR u.value = ${value}::text)
    ORDER BY u.value FOR UPDATE`);
}

/**
 * For how long the rules of its labels keep a job of the account, in seconds; null where none says it. For a job that is not counted:
 * `countLabelsParts` answers it of one that is.
 */
export function retentionByLabel(accountId: string, metadata: JobMetadata): Prisma.Sql {
  return Prisma.sql`(
    SELECT min(r.retention_seconds) FROM jsonb_each_text(${JSON.stringify(metadata)}::jsonb) m
    CROSS JOIN LATERAL (
      SELECT r.retention_seconds FROM label_rules r
      WHERE r.account_id = ${accountId}::uuid AND r.label = m.key AND (r.value = m.value OR r.value IS NULL)
      ORDER BY r.value NULLS LAST LIMIT 1
    ) r)`;
}

/** Jobs that are about to be recorded. */
export type LabelledJobs = StatementPart<'place' | 'account_id' | 'api_key_id' | 'metadata' | 'hold_micros'>;

/**
 * What a job `j` is counted by, as labels with their values: its own, its account, and the keys as which and for which its key counts (first
 * the one as which it does: `is_own`). Caps of accounts and keys are rules of labels that no job can have. `counted` is the name of it that a
 * job that was recorded keeps, of which `limited_label` and `limited_value` in the database say the same.
 */
export const countedBy = countedWith(Prisma.sql`spend_keys_of(j.api_key_id)`);

/** `countedBy`, without the keys where the account has no rule of any: hardly one has, and who submits would pay for the call. */
const countedByRuled = countedWith(Prisma.sql`(
  SELECT spend_keys_of(j.api_key_id) WHERE EXISTS (SELECT FROM label_rules r WHERE r.account_id = j.account_id AND r.label = ${KEY_LABEL}))`);

function countedWith(keys: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(
  SELECT l.key AS label, l.value, l.key AS counted, true AS is_own FROM jsonb_each_text(j.metadata) l
  UNION ALL SELECT ${ACCOUNT_LABEL}::text, '', ${ACCOUNT_LABEL}::text, true
  UNION ALL SELECT ${KEY_LABEL}::text, k.id::text, CASE WHEN k.id = j.api_key_id THEN ${KEY_LABEL}::text ELSE ${KEY_LABEL}::text || '=' || k.id END, k.place = 1
  FROM unnest(${keys}) WITH ORDINALITY AS k (id, place))`;
}

/** Whether the job `j` that was recorded is counted by a label and a value. */
export const isCountedBy = (label: Prisma.Sql, value: Prisma.Sql): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT FROM unnest(j.limited_labels) AS c (name)
  WHERE limited_label(c.name) = ${label} AND limited_value(c.name, j.metadata, j.api_key_id) = ${value})`;

type RuleColumn =
  'place' | 'account_id' | 'label' | 'value' | 'counted' | 'is_own' | 'hold_micros' | 'retention_seconds' | CapColumn;
type CapColumn = 'max_jobs' | 'daily_micros' | 'monthly_micros' | 'daily_at_cap' | 'monthly_at_cap';

/** The rules of the labels of jobs: that of a value goes before that of any value. An account without rules costs one look into an index for each label. */
function labelRulesPart(jobs: LabelledJobs): StatementPart<RuleColumn> {
  return statementPart<RuleColumn>('label_rule')`
    SELECT DISTINCT ON (j.place, m.label, m.value) j.place, j.account_id, m.label, m.value, m.counted, m.is_own, j.hold_micros, r.max_jobs, r.daily_micros, r.monthly_micros, r.retention_seconds,
      r.daily_at_cap, r.monthly_at_cap
    FROM ${jobs} j CROSS JOIN LATERAL ${countedByRuled} m
    JOIN label_rules r ON r.account_id = j.account_id AND r.label = m.label AND (r.value = m.value OR r.value IS NULL)
    ORDER BY j.place, m.label, m.value, r.value NULLS LAST`;
}

type Counted = StatementPart<'place' | 'limited_labels' | 'retention_seconds'>;

/** By `place` what each job is counted by, and for how long its rules keep it. */
function countedPart(rules: StatementPart<'place' | 'counted' | 'retention_seconds'>): Counted {
  return statementPart<'place' | 'limited_labels' | 'retention_seconds'>('label_counted')`
    SELECT place, array_agg(counted ORDER BY counted) AS limited_labels, min(retention_seconds) AS retention_seconds FROM ${rules} GROUP BY place`;
}

/** What is counted together: jobs of one account with one value of a label, and the caps of their rule. */
type LabelSums = StatementPart<'account_id' | 'label' | 'value' | 'jobs' | 'hold_micros' | CapColumn>;
type LabelUse = StatementPart<'account_id' | 'label' | 'value' | 'day_warned' | 'month_warned'>;

/**
 * Count them, and refuse the statement where a rule does not allow as many, or what they hold.
 *
 * @param after a part that must have run first.
 * @returns the rows of `label_use` as they are then; `allowed` yields one row, once all is checked.
 */
function countSumsParts(sums: LabelSums, after: StatementPart): { use: LabelUse; allowed: StatementPart } {
  const use = statementPart<
    'account_id' | 'label' | 'value' | 'live' | 'day_micros' | 'month_micros' | 'day_warned' | 'month_warned'
  >('label_used')`
    INSERT INTO label_use AS u (account_id, label, value, live, held_micros)
    SELECT s.account_id, s.label, s.value, s.jobs, s.hold_micros FROM ${sums} s, (SELECT count(*) FROM ${after}) AS done
    ORDER BY s.account_id, s.label, s.value
    ON CONFLICT (account_id, label, value) DO UPDATE
      SET live = u.live + excluded.live, held_micros = u.held_micros + excluded.held_micros
    RETURNING u.account_id, u.label, u.value, u.live, u.held_micros + ${dayMicros} AS day_micros, u.held_micros + ${monthMicros} AS month_micros,
      u.day_warned, u.month_warned, u.day_stopped_on IS NOT NULL AS day_stopped, u.month_stopped_on IS NOT NULL AS month_stopped`;
  const refusal = (what: string, most: string, used: string): Prisma.Sql => Prisma.sql`
    refuse(${what}::text || jsonb_build_object('label', s.label, 'value', s.value, 'limit', ${most}::text, 'most', s.${Prisma.raw(most)},
      'used', u.${Prisma.raw(used)})::text)`;
  const checked = statementPart('label_checked')`
    SELECT FROM ${sums} s JOIN ${use} u ON u.account_id = s.account_id AND u.label = s.label AND u.value = s.value
    WHERE (s.max_jobs IS NULL OR u.live <= s.max_jobs OR ${refusal(LABEL_JOBS, 'max_jobs', 'live')})
      AND (s.hold_micros = 0 OR s.daily_at_cap IS DISTINCT FROM 'stop' OR NOT u.day_stopped OR ${refusal(LABEL_SPEND, 'daily_micros', 'day_micros')})
      AND (s.hold_micros = 0 OR s.monthly_at_cap IS DISTINCT FROM 'stop' OR NOT u.month_stopped OR ${refusal(LABEL_SPEND, 'monthly_micros', 'month_micros')})
      AND (s.hold_micros = 0 OR s.daily_micros IS NULL OR u.day_micros <= s.daily_micros OR ${refusal(LABEL_SPEND, 'daily_micros', 'day_micros')})
      AND (s.hold_micros = 0 OR s.monthly_micros IS NULL OR u.month_micros <= s.monthly_micros
        OR ${refusal(LABEL_SPEND, 'monthly_micros', 'month_micros')})`;
  // Without rules nothing writes, and nothing waits but for what goes before.
  const allowed = statementPart('label_allowed')`
    SELECT FROM (SELECT count(*) FROM ${checked}) AS checked, (SELECT count(*) FROM ${after}) AS done`;
  return { use, allowed };
}

/**
 * Count jobs by those of their labels that have a rule, and refuse the statement where a rule does not allow as many, or what they hold.
 *
 * @param after a part that must have run first.
 * @returns `counted`: by `place` what each job is counted by, and for how long its rules keep it; `standing`: by `place` how much of its caps is
 * used, once that was warned of, without those of the keys that made its key: how much others spend is not for its holder; `allowed` yields one row, once all is checked.
 */
export function countLabelsParts(
  jobs: LabelledJobs,
  after: StatementPart,
): {
  counted: Counted;
  standing: StatementPart<'place' | 'spend'>;
  allowed: StatementPart;
} {
  const rules = labelRulesPart(jobs);
  const sums: LabelSums = statementPart<'account_id' | 'label' | 'value' | 'jobs' | 'hold_micros' | CapColumn>(
    'label_sum',
  )`
    SELECT account_id, label, value, count(*)::int AS jobs, sum(hold_micros)::bigint AS hold_micros, min(max_jobs) AS max_jobs,
      min(daily_micros) AS daily_micros, min(monthly_micros) AS monthly_micros,
      min(daily_at_cap) AS daily_at_cap, min(monthly_at_cap) AS monthly_at_cap
    FROM ${rules} GROUP BY account_id, label, value`;
  const { use, allowed } = countSumsParts(sums, after);
  const standing = statementPart<'place' | 'spend'>('label_standing')`
    SELECT r.place, jsonb_agg(jsonb_build_object('label', u.label, 'day', u.day_warned, 'month', u.month_warned)
      ORDER BY u.label) AS spend
    FROM ${rules} r JOIN ${use} u ON u.account_id = r.account_id AND u.label = r.label AND u.value = r.value
    WHERE r.is_own AND (u.day_warned > 0 OR u.month_warned > 0) GROUP BY r.place`;
  return { counted: countedPart(rules), standing, allowed };
}

/** Jobs with one value of a label by which they are counted. */
export interface LabelCount {
  label: string;
  value: string;
  /** False for a key that made theirs. */
  isOwn: boolean;
  jobs: number;
  /** What they hold together, in decimal. */
  holdMicros: string;
}

/**
 * By which labels jobs are to be counted, without counting them: `countLaterParts` does, in the same transaction.
 *
 * @returns `counted` as `countLabelsParts` has it; `counts` yields one `counts`, a list of `LabelCount`.
 */
export function labelCountsParts(jobs: LabelledJobs): { counted: Counted; counts: StatementPart<'counts'> } {
  const rules = labelRulesPart(jobs);
  const sums = statementPart('label_sum')`
    SELECT label, value, bool_or(is_own) AS "isOwn", count(*)::int AS jobs, sum(hold_micros)::text AS "holdMicros"
    FROM ${rules} GROUP BY label, value`;
  const counts = statementPart<'counts'>('label_counts')`
    SELECT coalesce(jsonb_agg(to_jsonb(s)), '[]') AS counts FROM ${sums} s`;
  return { counted: countedPart(rules), counts };
}

/**
 * Count jobs whose labels `labelCountsParts` has found, against the rules as they are now.
 *
 * @param after a part that must have run first.
 * @returns `standing`: one `spend`, a list of `SpendStanding`, those of `countLabelsParts`; `allowed` as `countLabelsParts` has it.
 */
export function countLaterParts(
  accountId: string,
  counts: readonly LabelCount[],
  after: StatementPart,
): { standing: StatementPart<'spend'>; allowed: StatementPart } {
  const sums: LabelSums & StatementPart<'is_own'> = statementPart<
    'account_id' | 'label' | 'value' | 'is_own' | 'jobs' | 'hold_micros' | CapColumn
  >('label_sum')`
    SELECT ${accountId}::uuid AS account_id, c.label, c.value, c."isOwn" AS is_own, c.jobs, c."holdMicros" AS hold_micros, r.max_jobs, r.daily_micros,
      r.monthly_micros, r.daily_at_cap, r.monthly_at_cap
    FROM jsonb_to_recordset(${JSON.stringify(counts)}::jsonb) AS c (label text, value text, "isOwn" boolean, jobs int, "holdMicros" bigint)
    LEFT JOIN LATERAL (
      SELECT r.* FROM label_rules r WHERE r.account_id = ${accountId}::uuid AND r.label = c.label AND (r.value = c.value OR r.value IS NULL)
      ORDER BY r.value NULLS LAST LIMIT 1
    ) r ON true`;
  const { use, allowed } = countSumsParts(sums, after);
  const standing = statementPart<'spend'>('label_standing')`
    SELECT coalesce(jsonb_agg(jsonb_build_object('label', u.label, 'day', u.day_warned, 'month', u.month_warned)), '[]') AS spend
    FROM ${use} u JOIN ${sums} s ON s.label = u.label AND s.value = u.value WHERE s.is_own AND (u.day_warned > 0 OR u.month_warned > 0)`;
  return { standing, allowed };
}

/**
 * The one job that `job` yields at most has ended: it no longer counts, and what it was charged is spent. A function does so: a cap that was
 * set while the statement waited for the job counts it, in a row that the statement's snapshot does not have.
 *
 * @returns the job once its labels are written, for what must lock after them.
 */
export function leaveLabelsPart<Column extends string>(
  job: StatementPart<
    Column | 'account_id' | 'api_key_id' | 'held_micros' | 'charged_micros' | 'metadata' | 'limited_labels'
  >,
): StatementPart<Column> {
  return statementPart<Column>('unlabelled')`
    SELECT job.* FROM ${job} job WHERE job.limited_labels IS NULL
      OR leave_labels(job.account_id, job.limited_labels, job.metadata, job.api_key_id, job.held_micros, job.charged_micros) IS NOT NULL`;
}

/** A running job whose hold may be extended. */
type LabelledRun = MeteredColumn | 'account_id' | 'api_key_id' | 'own_limit_micros' | 'metadata' | 'limited_labels';

/**
 * The rules of its labels limit what may be held for a running job as its own limit does, except where those that run may finish: `spend_limit_micros` is the lower of
 * that and what they leave. The rows are locked, so that no two runs extend into the same room; functions do so, because of `leaveLabelsPart`.
 * A run whose hold is ample locks none: all jobs of an account may share one row.
 *
 * @param terms those by which the hold is extended.
 * @returns the run with `spend_limit_micros`, and the part that notes by how much its hold was extended; it must be read.
 */
export function withinLabelsParts<Column extends string>(
  run: StatementPart<Column | LabelledRun>,
  terms: Pick<ExtensionTerms, 'leadMs'>,
): {
  limited: StatementPart<Column | 'spend_limit_micros'>;
  note: (hold: StatementPart<'id' | 'held_micros' | 'is_exhausted'>) => StatementPart;
} {
  const locked = statementPart('label_locked')`
    SELECT r.account_id, room.* FROM ${run} r
    CROSS JOIN LATERAL lock_label_rooms(r.account_id, r.limited_labels, r.metadata, r.api_key_id) AS room
    WHERE r.limited_labels IS NOT NULL AND ${needsMore(terms)}`;
  const rooms = statementPart('label_rooms')`
    SELECT least(CASE WHEN daily_at_cap = 'finish' THEN NULL ELSE day_room END, CASE WHEN monthly_at_cap = 'finish' THEN NULL ELSE month_room END) AS room
    FROM ${locked}`;
  const room = statementPart(
    'label_room',
  )`SELECT greatest(min(room), 0) AS micros FROM ${rooms} HAVING min(room) IS NOT NULL`;
  const limited = statementPart<Column | 'spend_limit_micros'>('limited_run')`
    SELECT run.*, least(run.own_limit_micros, run.held_micros + (SELECT micros FROM ${room})) AS spend_limit_micros FROM ${run} run`;
  // A cap is used up when a run has used all that is held for it, and the cap leaves no more.
  const isUsedUp = (atCap: string, room: string): Prisma.Sql => Prisma.sql`
    hold.is_exhausted AND l.${Prisma.raw(atCap)} = 'stop' AND l.${Prisma.raw(room)} <= hold.held_micros - run.held_micros`;
  const note = (
    hold: StatementPart<'id' | 'held_micros' | 'is_exhausted'>,
  ): StatementPart<'rows'> => statementPart<'rows'>('label_extended')`
    SELECT coalesce(sum(extend_label_hold(l.account_id, l.label, l.value, hold.held_micros - run.held_micros,
      coalesce(${isUsedUp('daily_at_cap', 'day_room')}, false), coalesce(${isUsedUp('monthly_at_cap', 'month_room')}, false))), 0) AS rows
    FROM ${locked} l, ${hold} hold, ${run} run
    WHERE hold.id = run.id
      AND (hold.held_micros <> run.held_micros OR ${isUsedUp('daily_at_cap', 'day_room')} OR ${isUsedUp('monthly_at_cap', 'month_room')})`;
  return { limited, note };
}
