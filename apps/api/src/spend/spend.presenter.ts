import type { z } from 'zod';
import { ACCOUNT_LABEL, KEY_LABEL, type SpendCap, type SpendCapDraft } from '@millrace/jobs';
import type { SpendCapPutSchema, SpendCapSchema } from './spend.schemas';

export function presentSpendCap(cap: SpendCap): z.output<typeof SpendCapSchema> {
  const scope = scopeOf(cap.label);
  return {
    id: cap.id,
    scope,
    key_id: scope === 'key' ? cap.value : null,
    label: scope === 'label' ? cap.label : null,
    value: scope === 'label' ? cap.value : null,
    daily_micros: numberOf(cap.dailyMicros),
    monthly_micros: numberOf(cap.monthlyMicros),
    daily_at_cap: cap.dailyAtCap,
    monthly_at_cap: cap.monthlyAtCap,
    held_micros: Number(cap.heldMicros),
    day_micros: Number(cap.dayMicros),
    month_micros: Number(cap.monthMicros),
    stopped: cap.monthStopped ? 'month' : cap.dayStopped ? 'day' : null,
    updated_at: cap.updatedAt.toISOString(),
  };
}

/** What a request asks for. */
export function spendCapOf(body: z.output<typeof SpendCapPutSchema>): SpendCapDraft {
  return {
    scope: body.scope,
    keyId: body.key_id,
    dailyMicros: body.daily_micros === null ? null : BigInt(body.daily_micros),
    monthlyMicros: body.monthly_micros === null ? null : BigInt(body.monthly_micros),
    dailyAtCap: body.daily_at_cap,
    monthlyAtCap: body.monthly_at_cap,
  };
}

const scopeOf = (label: string): 'account' | 'key' | 'label' =>
  label === ACCOUNT_LABEL ? 'account' : label === KEY_LABEL ? 'key' : 'label';
const numberOf = (micros: bigint | null): number | null => (micros === null ? null : Number(micros));
