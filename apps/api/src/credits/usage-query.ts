import { z } from 'zod';
import type { UsageGrouping } from '@millrace/billing';
import { METADATA_KEY, Refusal } from '@millrace/contracts';
import { dayOrTime } from '../endpoints';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;

const grouping = z
  .string()
  .transform((text, context): { text: string; grouping: UsageGrouping } => {
    if (text === 'day' || text === 'key' || text === 'deployment' || text === 'version')
      return { text, grouping: { by: text } };
    const label = text.startsWith('label:') ? text.slice('label:'.length) : '';
    if (METADATA_KEY.test(label)) return { text, grouping: { by: 'label', label } };
    context.addIssue({ code: 'custom', message: 'must be day, key, deployment, version, or label:<key of a label>' });
    return z.NEVER;
  })
  .default({ text: 'day', grouping: { by: 'day' } });

export const usageQuery = z.object({
  from: dayOrTime.optional().meta({ description: 'From this day or time on; 30 days before `to` by default.' }),
  to: dayOrTime.optional().meta({ description: 'Up to this time, which is not included; now by default.' }),
  group_by: grouping.meta({
    description:
      '`day` (UTC), `key`, `deployment`, `version` (`<deployment>/<number>`), or `label:<key>`; `day` by default.',
  }),
});

/** The time that a query asks about. @throws Refusal when it is empty or longer than a year. */
export function usageSpan(query: { from?: Date; to?: Date }): { from: Date; to: Date } {
  const to = query.to ?? new Date();
  const from = query.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  if (from >= to) throw Refusal.ofFields([{ field: 'from', reason: 'must be before `to`' }], 400);
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    throw Refusal.ofFields([{ field: 'from', reason: `must be at most ${MAX_DAYS} days before \`to\`` }], 400);
  }
  return { from, to };
}
