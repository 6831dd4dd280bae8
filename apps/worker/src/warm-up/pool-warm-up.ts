import type { NodeCatalogue } from '@millrace/contracts';
import { BootError } from '@millrace/platform';
import type { PoolRegistry } from '../pool-registry';
import { EngineWarmUp, WarmUpFailed, type WarmUpParts } from './engine-warm-up';

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

/** @throws BootError in place of `WarmUpFailed`: its sentence is for the owner of the deployment. */
export async function inOperatorsWords<T>(warmUp: Promise<T>): Promise<T> {
  try {
    return await warmUp;
  } catch (error) {
    throw error instanceof WarmUpFailed ? new BootError(`The warm-up failed: ${error.message}`) : error;
  }
}
