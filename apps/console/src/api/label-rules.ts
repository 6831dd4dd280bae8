import { queryOptions } from '@tanstack/react-query';
import { deleteRecord, sendForJson } from './client';
import type { AtCap } from './spend';

const POLL_MS = 5_000;
const PATH = '/platform/v1/label-rules';

/** What jobs with a label may use. Null: no limit of this kind. */
export interface LabelRuleDraft {
  label: string;
  /** Null: every value, each by itself. */
  value: string | null;
  max_jobs: number | null;
  daily_micros: number | null;
  monthly_micros: number | null;
  /** What happens when the credits of the span are used up. Null: a job that needs more is ended. */
  daily_at_cap: AtCap | null;
  monthly_at_cap: AtCap | null;
  retention_seconds: number | null;
}

export interface LabelRule extends LabelRuleDraft {
  id: string;
}

/** All rules of the account, by label. */
export const labelRulesQuery = queryOptions({
  queryKey: ['label-rules'],
  queryFn: async ({ signal }) => (await sendForJson<{ label_rules: LabelRule[] }>(PATH, { signal })).label_rules,
  refetchInterval: POLL_MS,
});

/** Make the rule of a label and a value, or change it. @throws ApiError */
export function putLabelRule(draft: LabelRuleDraft): Promise<LabelRule> {
  return sendForJson<LabelRule>(PATH, { method: 'PUT', body: draft });
}

/** @throws ApiError */
export async function deleteLabelRule(id: string): Promise<void> {
  await deleteRecord(`${PATH}/${encodeURIComponent(id)}`);
}
