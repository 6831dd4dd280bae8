import { BlobStoreError } from '@millrace/assets';
import { Refusal, type ModelSource } from '@millrace/contracts';
import type { Engine } from '@millrace/engines';
import { ModelCache } from '@millrace/model-cache';
import { BootError, type Logger, type Metrics } from '@millrace/platform';
import type { EngineModels } from './attempt';
import { asBootError } from './boot-error';
import type { OpenEngine } from './engines';
import type { OwnSettings } from './worker.config';

/**
 * The models of the library on this host; null where the worker is to fetch none.
 *
 * @throws BootError where the folder cannot be used
 */
export async function openModelCache(
  { modelCacheBytes, modelCacheDir, modelCacheParallel: parallel }: OwnSettings,
  source: ModelSource | null,
  metrics: Metrics,
  logger: Logger,
): Promise<ModelCache | null> {
  if (modelCacheDir === undefined) return null;
  if (source === null) {
    throw new BootError(
      'MILLRACE_MODEL_CACHE_DIR is set, and the gateway does not serve the model library: upgrade it, or unset the folder and put the models on this machine.',
    );
  }
  const options = { source, isGone, metrics, logger, fetch: { parallel } };
  return asBootError(ModelCache.open({ dir: modelCacheDir, budgetBytes: modelCacheBytes, ...options }));
}

/** Where each of the engines finds models of the library. */
export function modelsOf(
  engines: readonly OpenEngine[],
  cache: ModelCache | null,
): (engine: Engine) => EngineModels | null {
  const models = new Map<Engine, EngineModels>();
  for (const { engine, links } of engines) if (cache !== null && links !== null) models.set(engine, { cache, links });
  return (engine) => models.get(engine) ?? null;
}

/** Whether to ask the library again is no use: it has the bytes no more, or refuses them. */
function isGone(error: unknown): boolean {
  if (error instanceof Refusal) return true;
  return error instanceof BlobStoreError && (error.fault === 'missing' || error.fault === 'denied');
}
