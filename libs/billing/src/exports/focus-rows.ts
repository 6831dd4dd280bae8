import type { TerminalStatus } from '@millrace/contracts';
import { creditsText } from '../price';
import type { ExportDay } from './export-day';
import type { LedgerLine, UsageLine } from './export.store';

type Field = string | number | bigint | null;

/*
 * The columns of the files. Usage has those of FOCUS 1.2 (FinOps Open Cost and Usage Specification, focus.finops.org) that say something here,
 * by their names there; columns of our own begin with `x_`, as it asks for. Costs are in credits, a virtual currency, exact to the micro-credit.
 */

/** Names our currency where FOCUS asks for one. */
const CURRENCY = 'CREDIT';
const PROVIDER = 'Millrace';

const ENDED: Readonly<Record<TerminalStatus, string>> = {
  succeeded: 'succeeded',
  canceled: 'was canceled',
  failed: 'failed',
  expired: 'expired',
};

const FOCUS: readonly (readonly [string, (line: UsageLine, of: { accountId: string; day: ExportDay }) => Field])[] = [
  ['BilledCost', ({ chargedMicros }) => creditsText(chargedMicros)],
  ['BillingAccountId', (_, { accountId }) => accountId],
  ['BillingCurrency', () => CURRENCY],
  ['BillingPeriodStart', (_, { day }) => monthStart(day.from, 0)],
  ['BillingPeriodEnd', (_, { day }) => monthStart(day.from, 1)],
  ['ChargeCategory', () => 'Usage'],
  ['ChargeClass', () => null],
  ['ChargeDescription', ({ status }) => `Engine time of a job that ${ENDED[status]}`],
  ['ChargeFrequency', () => 'Usage-Based'],
  ['ChargePeriodStart', (_, { day }) => day.from.toISOString()],
  ['ChargePeriodEnd', (_, { day }) => day.to.toISOString()],
  ['ConsumedQuantity', ({ billableMs }) => billableMs],
  ['ConsumedUnit', () => 'Milliseconds'],
  ['ContractedCost', ({ chargedMicros }) => creditsText(chargedMicros)],
  ['EffectiveCost', ({ chargedMicros }) => creditsText(chargedMicros)],
  ['ListCost', ({ chargedMicros }) => creditsText(chargedMicros)],
  ['ProviderName', () => PROVIDER],
  ['PublisherName', () => PROVIDER],
  ['ResourceId', ({ jobId }) => jobId],
  ['ResourceType', () => 'Job'],
  ['ServiceCategory', () => 'Compute'],
  ['ServiceName', () => 'Workflow execution'],
  ['Tags', ({ labels }) => JSON.stringify(labels)],
  ['x_ChargedMicros', ({ chargedMicros }) => chargedMicros],
  ['x_JobStatus', ({ status }) => status],
  ['x_FinishedAt', ({ finishedAt }) => finishedAt.toISOString()],
  ['x_ApiKeyId', ({ apiKeyId }) => apiKeyId],
  ['x_DeploymentId', ({ deploymentId }) => deploymentId],
];

const LEDGER: readonly (readonly [string, (line: LedgerLine) => Field])[] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at.toISOString()],
  ['kind', ({ kind }) => kind],
  ['available_micros', ({ availableMicros }) => availableMicros],
  ['held_micros', ({ heldMicros }) => heldMicros],
  ['charged_micros', ({ chargedMicros }) => chargedMicros],
  ['job_id', ({ jobId }) => jobId],
  ['corrects', ({ corrects }) => corrects],
  ['reason', ({ reason }) => reason],
];

export const USAGE_HEADER = FOCUS.map(([name]) => name);
export const LEDGER_HEADER = LEDGER.map(([name]) => name);

export const usageRow = (line: UsageLine, of: { accountId: string; day: ExportDay }): Field[] =>
  FOCUS.map(([, field]) => field(line, of));
export const ledgerRow = (line: LedgerLine): Field[] => LEDGER.map(([, field]) => field(line));

/** Of the month of a time, or of one behind it. */
function monthStart(time: Date, offset: number): string {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + offset)).toISOString();
}
