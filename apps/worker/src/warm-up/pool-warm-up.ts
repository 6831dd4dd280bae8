import type { NodeCatalogue } from '@millrace/contracts';
import type { PoolRegistry } from '../pool-registry';
import { EngineWarmUp, type WarmUpParts } from './engine-warm-up';

/** What a worker has for its warm-up. */
interface WorkerOfPool extends Pick<WarmUpParts, 'logger'> {
  attempt: { models?: WarmUpParts['models'] };
  identity: { poolId: string };
  registry: Pick<PoolRegistry, 'warmUp'>;
  warmUpLimitMs: number;
  workFolder: { path: string };
}

/** What the engines of a worker do before they are given a run. @param catalogue what they can run, asked for each warm-up. */
export function warmUpOf(
  { attempt, identity, logger, registry, warmUpLimitMs: limitMs, workFolder }: WorkerOfPool,
  catalogue: () => NodeCatalogue,
): EngineWarmUp {
  return new EngineWarmUp({
    warmUp: () => registry.warmUp(identity.poolId),
    catalogue,
    models: (engine) => attempt.models?.(engine) ?? null,
    folder: workFolder.path,
    limitMs,
    logger,
  });
}
