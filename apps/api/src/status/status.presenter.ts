import { z } from 'zod';
import { COMPONENTS, STATES } from './service-levels';
import type { ServiceStatus } from './status.service';

const state = z
  .enum(STATES)
  .describe(
    '`operational`: as promised. `degraded`: less well than promised. `disrupted`: much less well. `unknown`: no figures are known.',
  );
const share = z.number().min(0).max(1).nullable();

/** How the service does, as the platform API says it. */
export const serviceStatus = z
  .object({
    state: state.describe('The worst of the components. `unknown` hides nothing that is known to be worse.'),
    as_of: z.iso.datetime().nullable().describe('When the figures were read; null: none are known.'),
    components: z.array(
      z.object({
        name: z
          .enum(COMPONENTS)
          .describe(
            '`requests`: requests are answered. `starts`: jobs start in time. `jobs`: jobs do not fail by fault of the service.',
          ),
        state,
        last_day: share.describe('The share that went well in the last 24 hours, from 0 to 1; null: nothing came.'),
        last_30_days: share.describe('The same of the last 30 days.'),
        days: z
          .array(z.object({ date: z.iso.date().describe('A day, UTC.'), share }))
          .describe('The last 30 whole days, the oldest first.'),
      }),
    ),
  })
  .meta({ id: 'ServiceStatus' });

/** The answer of the platform API. */
export function presentStatus({ state, levels }: ServiceStatus): z.output<typeof serviceStatus> {
  return {
    state,
    as_of: levels?.asOf.toISOString() ?? null,
    components: (levels?.components ?? []).map(({ name, state: own, lastDay, last30Days, days }) => ({
      name,
      state: own,
      last_day: lastDay,
      last_30_days: last30Days,
      days,
    })),
  };
}
