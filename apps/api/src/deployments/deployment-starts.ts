import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { phasesOf, versionOfPool, type WorkerStart } from '@millrace/deployments';

const milliseconds = z.int().nullable();
const phases = {
  schedule_ms: milliseconds.meta({ description: 'Until there was a machine for it.' }),
  pull_ms: milliseconds.meta({ description: 'Until its images were there.' }),
  boot_ms: milliseconds.meta({ description: 'Until its engines were up.' }),
  models_ms: milliseconds.meta({ description: 'To bring the models that its deployment and its warm-up name.' }),
  warm_up_ms: milliseconds.meta({ description: 'To run the graph of its warm-up.' }),
  total_ms: z.int().meta({ description: 'All of these together.' }),
};

const StartSchema = z.object({ worker_id: z.uuid(), version: z.int(), ready_at: TimestampSchema, ...phases }).meta({
  id: 'WorkerStart',
  description: 'How long the phases of one start took. Null: not measured, or there was none.',
});

export const DeploymentStartsSchema = z
  .object({
    starts: z.array(StartSchema),
    typical: z
      .object(phases)
      .nullable()
      .meta({ description: 'The median of each phase, over the starts that had it; null where there are no starts.' }),
  })
  .meta({ id: 'DeploymentStarts', description: 'The latest 20 starts of workers, the latest first.' });

type Phases = z.infer<z.ZodObject<typeof phases>>;

export function presentStarts(starts: readonly WorkerStart[]): z.infer<typeof DeploymentStartsSchema> {
  const shown = starts.map((start) => ({
    worker_id: start.workerId,
    version: versionOfPool(start.poolId),
    ready_at: start.readyAt.toISOString(),
    ...presentPhases(start),
  }));
  return { starts: shown, typical: shown.length === 0 ? null : typicalOf(shown) };
}

function presentPhases(start: WorkerStart): Phases {
  const { schedule, pull, boot, models, warm_up } = phasesOf(start);
  return withTotal({ schedule_ms: schedule, pull_ms: pull, boot_ms: boot, models_ms: models, warm_up_ms: warm_up });
}

function typicalOf(starts: readonly Phases[]): Phases {
  const of = (phase: keyof Phases): number | null => medianOf(starts.flatMap((start) => start[phase] ?? []));
  return withTotal({
    schedule_ms: of('schedule_ms'),
    pull_ms: of('pull_ms'),
    boot_ms: of('boot_ms'),
    models_ms: of('models_ms'),
    warm_up_ms: of('warm_up_ms'),
  });
}

function withTotal(start: Omit<Phases, 'total_ms'>): Phases {
  return { ...start, total_ms: Object.values(start).reduce((sum: number, ms) => sum + (ms ?? 0), 0) };
}

function medianOf(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}
