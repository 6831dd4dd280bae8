import type { Loop } from '@millrace/platform';
import type { ModelImporter } from './model-importer';

/** Imports models from their sources: every process one at a time, for a while each. */
export class ImportModelsLoop implements Loop {
  readonly name = 'import-models';
  readonly everyMs = 2_000;
  readonly everywhere = true;

  constructor(private readonly importer: ModelImporter) {}

  async runOnce(): Promise<number> {
    const outcome = await this.importer.work();
    return outcome === 'more' || outcome === 'ended' ? 1 : 0;
  }
}
