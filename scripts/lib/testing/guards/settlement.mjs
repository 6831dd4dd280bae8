import { of, without } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const TABLE = 'libs/jobs/src/lifecycle/settlement.ts';
const STORE = 'libs/jobs/src/lifecycle/settlement.store.ts';
const END = 'libs/jobs/src/lifecycle/end.store.ts';
const PRICE = 'libs/billing/src/price/price.store.ts';
const REFUSALS = 'libs/jobs/src/submission/refusals.ts';
const FAULTS = 'apps/worker/src/attempt/output-fault.ts';
const SETTLEMENTS = ['libs/jobs/src/lifecycle/settlement.int-spec'];
const LEDGER_RULES = ['libs/billing/src/ledger/ledger-rules.int-spec'];
const PIPELINES = ['apps/worker/src/attempt/output-pipeline.spec'];

const LEDGER_DAYS = 'libs/billing/src/ledger/ledger-days.store.ts';
const AUDIT_SPANS = 'libs/billing/src/audit/audit-span.store.ts';
const SUMMED_USAGE = 'libs/jobs/src/spend/summed-usage.store.ts';
const TOP_UPS = 'libs/billing/src/payments/top-up.store.ts';
const PAYMENTS = 'libs/billing/src/payments/payments.service.ts';
const CREDITS = 'libs/billing/src/credits/credits.service.ts';
const POSTINGS = 'libs/billing/src/ledger/posting.store.ts';
const EXPORTS = 'libs/billing/src/exports/export.store.ts';
const CAPS = 'libs/jobs/src/spend/spend-cap.store.ts';
const BUYING = ['apps/api/src/credits/top-ups.int-spec', 'libs/billing/src/payments/payments.int-spec'];
const CHANGING = ['apps/api/src/credits/credits.int-spec', 'libs/billing/src/credits/sweeps.int-spec'];
const EXPORTING = ['libs/billing/src/exports/daily-exports.int-spec'];
const CAPPING = ['libs/jobs/src/proofs/spend-caps.int-spec', 'libs/jobs/src/proofs/late-days.int-spec'];

/** Of what a job can cost, what an ending costs, what is delivered then, and what is written of it into the ledger. @type {Guard[]} */
export const SETTLEMENT_GUARDS = [
  of('what is not charged is not delivered', END, 'THEN ${withdraw} END', 'THEN NULL END', SETTLEMENTS),
  of(
    'a lost worker leaves nothing delivered of what is waived',
    STORE,
    "(j.lost_engine_ms = 0 AND (j.delivery <> 'leased' OR j.lease_expires_at < now()))",
    'false',
    SETTLEMENTS,
  ),
  of('a job without a price keeps its outputs', END, ' AND j.price_micros_per_second > 0', '', SETTLEMENTS),
  of(
    'an output that is refused is charged',
    TABLE,
    "output_refused: 'billable'",
    "output_refused: 'waived'",
    SETTLEMENTS,
  ),
  of(
    'a fault of the platform is free',
    TABLE,
    "output_not_stored: 'waived'",
    "output_not_stored: 'billable'",
    SETTLEMENTS,
  ),
  of(
    'no more is billed than the time since the claim',
    STORE,
    'least(${reportedMs}::bigint, ${elapsedMs})',
    '${reportedMs}::bigint',
    SETTLEMENTS.concat('libs/jobs/src/lifecycle/lifecycle.int-spec'),
  ),
  of(
    'a heartbeat counts no more engine time than the time since the claim',
    'libs/jobs/src/lifecycle/renew.store.ts',
    'least(${engineMs}::bigint, ${elapsedMs})',
    '${engineMs}::bigint',
    SETTLEMENTS,
  ),
  of(
    'time of a lost worker is free',
    STORE,
    'CASE WHEN j.lease_expires_at < now() THEN 0 ELSE j.engine_ms END',
    'j.engine_ms',
    SETTLEMENTS,
  ),
  of(
    'what the engine lost is billed when the job does not succeed',
    END,
    'greatest(u.used_ms, ${leastBilledMs(ending.ending)})',
    'u.used_ms',
    SETTLEMENTS,
  ),
  of('what the engine lost is free when the job succeeds', STORE, "ending !== 'succeeded' && ", '', SETTLEMENTS),
  of("an output too large for the store is the graph's", FAULTS, "error.fault === 'too_large'", 'false', PIPELINES),
  of(
    "an output that nothing can record is the graph's",
    FAULTS,
    "return { status: 'refused', reason: 'it could not be recorded; give",
    "return { status: 'failed', reason: 'it could not be recorded; give",
    PIPELINES,
  ),
  of(
    'an output that the database could not take is not charged',
    FAULTS,
    "if (isTransient(error)) return { status: 'failed', reason: 'it could not be recorded' };",
    '',
    PIPELINES,
  ),
  of(
    'a hold is not extended beyond the limit of its submission',
    PRICE,
    'least(${by}, r.spend_limit_micros - r.held_micros)',
    '(${by})',
    ['libs/jobs/src/proofs/overrun.int-spec'],
  ),
  of(
    'a job whose hold is larger than its limit is refused',
    REFUSALS,
    'limit === null || holdMicros <= limit',
    'true',
    [
      'apps/api/src/jobs/spend-limit.int-spec',
      'apps/api/src/batches/batches.int-spec',
      'apps/api/src/mcp/mcp.int-spec',
    ],
  ),
  of(
    'a day of the ledger is closed when no transaction of it can be under way',
    LEDGER_DAYS,
    ' + ${SETTLED_AFTER} <= ',
    ' <= ',
    ['libs/billing/src/ledger/ledger-days.int-spec'],
  ),
  of(
    'a part of an account ends before what may still be committed',
    AUDIT_SPANS,
    'at < now() - make_interval(mins => ${SETTLED_MINUTES})',
    'at < now()',
    ['libs/billing/src/audit/ledger-audit.int-spec'],
  ),
  of(
    'a month is final when no posting of it can be under way',
    'libs/billing/src/ledger/statement.ts',
    'to.getTime() + SETTLED_AFTER_MS',
    'to.getTime()',
    ['libs/billing/src/ledger/statement.spec'],
  ),
  of(
    'a table of usage is compared without jobs whose end may be under way',
    'libs/billing/src/usage/usage.store.ts',
    ' - make_interval(mins => ${SETTLED_MINUTES}::int) AS at',
    ' AS at',
    ['libs/billing/src/usage/usage-groups.int-spec'],
  ),
  of('usage is summed up to what may still be committed', SUMMED_USAGE, ' - ${SETTLED_AFTER}) AS until', ') AS until', [
    'libs/jobs/src/proofs/cap-sums.int-spec',
  ]),
  without(
    'what holds of every posting',
    'ALTER TABLE ledger_transactions DROP CONSTRAINT ledger_transactions_rules_check',
    LEDGER_RULES,
  ),
  without(
    'what holds of every entry',
    'ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_rules_check',
    LEDGER_RULES,
  ),
];

/** Of credits that are bought, given and taken back, and of whose they are. @type {Guard[]} */
export const CREDIT_GUARDS = [
  of(
    'an account leaves few orders unpaid',
    TOP_UPS,
    "interval '1 hour') < ${most}",
    "interval '1 hour') < 1000000",
    BUYING,
  ),
  of(
    'an account finds its own top-ups alone',
    TOP_UPS,
    'findFirst({ where: { id, accountId } })',
    'findFirst({ where: { id } })',
    BUYING,
  ),
  of('another amount than was ordered buys nothing', PAYMENTS, 'notice.amountMinor !== priceMinor || ', '', BUYING),
  of('an amount in another currency buys nothing', PAYMENTS, ' || notice.currency !== currency', '', BUYING),
  of(
    'a refund that was undone stays so',
    TOP_UPS,
    'undone = r.undone OR EXCLUDED.undone',
    'undone = EXCLUDED.undone',
    BUYING,
  ),
  of('a refund that was undone takes back nothing', TOP_UPS, 'currency, undone: false }', 'currency }', BUYING),
  of(
    'a transaction of another account is not corrected',
    POSTINGS,
    'o.account_id = ${accountId}::uuid AND o.id',
    'o.id',
    CHANGING,
  ),
  of(
    'no more is given back than was charged',
    CREDITS,
    "assertWithin(amountMicros, rest, 'was charged",
    "void (amountMicros, rest, 'was charged",
    ['libs/jobs/src/proofs/take-backs.int-spec'],
  ),
  of(
    "a day's usage is of its account",
    EXPORTS,
    'WHERE account_id = ${accountId}::uuid AND finished_at >= ${after?.at',
    'WHERE finished_at >= ${after?.at',
    EXPORTING,
  ),
  of(
    "a day's ledger is of its account",
    EXPORTS,
    'WHERE t.account_id = ${accountId}::uuid AND t.at >= ${after?.at',
    'WHERE t.at >= ${after?.at',
    EXPORTING,
  ),
  of(
    'a count of the next day is not replaced by one of this',
    CAPS,
    'WHERE (u.day = excluded.day + 1) IS NOT TRUE`',
    '`',
    CAPPING,
  ),
  of('jobs that cost nothing are not stopped by a cap', CAPS, ' AND j.held_micros > 0 AND', ' AND', CAPPING),
];
