import type { ModelFile, ModelSource } from '@millrace/contracts';
import type { Logger, Metrics } from '@millrace/platform';
import type { EngineLinks } from './engine-links';
import type { FetchSettings } from './fetch-model';
import type { StagingProgress } from './wanted-models';

/** What is to be staged for one run. */
export interface StageRequest {
  accountId: string;
  files: readonly ModelFile[];
  /** Where the engine of the run finds them. */
  links: EngineLinks;
  signal: AbortSignal;
  /** Called as bytes come in, also those that another fetches; `stagedBytes` never decreases. Not throttled. */
  onProgress?: (progress: StagingProgress) => void;
}

export interface StagingParts {
  budgetBytes: number;
  source: Pick<ModelSource, 'open'>;
  isGone: (error: unknown) => boolean;
  metrics: Pick<Metrics, 'modelBytesFetched' | 'modelEvictions'> & {
    modelLookups: Pick<Metrics['modelLookups'], 'inc'>;
  };
  logger: Pick<Logger, 'info' | 'warn'>;
  fetch: FetchSettings;
  waits: { lookMs: number; roomMs: number };
}
