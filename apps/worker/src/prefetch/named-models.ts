import type { ModelFile, ModelName } from '@millrace/contracts';
import type { PoolModels } from '@millrace/deployments';
import type { ModelCache } from '@millrace/model-cache';
import { backoffMs, joinSignals, type Logger } from '@millrace/platform';
import type { ModelDisk } from '../disk-models';
import type { PoolRegistry } from '../pool-registry';
import { progressNote, shortfallNote, type Shortfall } from './models-note';

/** Where a worker keeps models. */
export type KeptModels = ModelDisk & Pick<ModelCache, 'find' | 'prefetch'>;

export interface NamedModelsParts {
  /** What the pool's deployment names, as it is now; null: nothing. */
  list: () => Promise<PoolModels | null>;
  /** Null: the engines of this worker are shown no models of the library. */
  cache: KeptModels | null;
  logger: Pick<Logger, 'info' | 'warn'>;
  /** How often the list is read at most, in milliseconds. */
  lookEveryMs?: number;
}

const LOOK_EVERY_MS = 5_000;
const RETRY_BASE_MS = 15_000;
const RETRY_CAP_MS = 600_000;
const LATER = 'its models: they cannot be fetched now';
const NO_CACHE = 'its models: its workers keep none of the library';

/**
 * Keeps the models that the pool's deployment names on this machine's disk: all of them before the worker is ready, and what is added
 * while it runs. Each list is fetched once: what jobs evict of it comes again with a job that needs it, or with the next start.
 * What the store or the library does not give is tried again after pauses, what the cache cannot hold is not.
 */
export class NamedModels {
  private readonly leaving = new AbortController();
  private running: Promise<void> | null = null;
  /** The list as it was read last, as text; empty: no models. */
  private fetched = '';
  /** Times in a row that something did not come that may come later. */
  private failures = 0;
  private nextTryMs = Number.POSITIVE_INFINITY;
  private lookedAtMs = Number.NEGATIVE_INFINITY;
  private said: string | null = null;

  constructor(private readonly parts: NamedModelsParts) {}

  /** How far they are, or why some are not there, for the owner of the deployment; null: there is nothing to say. */
  get note(): string | null {
    return this.said;
  }

  /**
   * Begin to fetch, and give what is found the time that a start has for it; the rest comes while the worker runs. Never rejects.
   *
   * @returns whether there is something to wait for.
   */
  async begin(limitMs: number): Promise<boolean> {
    const late = new AbortController();
    const over = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      late.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    await Promise.race([this.look(), over]);
    late.abort();
    return this.fetched !== '' && this.parts.cache !== null;
  }

  /** Fetch what the deployment names by now, unless that was done: called with each heartbeat. Never rejects. */
  look(): Promise<void> {
    if (this.running !== null) return this.running;
    const { lookEveryMs = LOOK_EVERY_MS } = this.parts;
    if (this.leaving.signal.aborted || performance.now() - this.lookedAtMs < lookEveryMs) return Promise.resolve();
    this.lookedAtMs = performance.now();
    this.running = this.follow().finally(() => (this.running = null));
    return this.running;
  }

  /** Fetch nothing more. Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.leaving.abort();
    await this.running;
  }

  private async follow(): Promise<void> {
    const { list, logger } = this.parts;
    try {
      const named = await list();
      const text = named === null ? '' : JSON.stringify(named.models);
      if (text !== this.fetched) [this.failures, this.nextTryMs] = [0, Number.NEGATIVE_INFINITY];
      this.fetched = text;
      if (performance.now() < this.nextTryMs) return;
      this.nextTryMs = Number.POSITIVE_INFINITY;
      await this.fetch(named);
    } catch (error) {
      if (this.leaving.signal.aborted) return;
      logger.warn({ err: error }, 'the models of the deployment could not be fetched');
      this.failed();
    }
  }

  private async fetch(named: PoolModels | null): Promise<void> {
    const { cache, logger } = this.parts;
    if (named === null || cache === null) {
      this.said = named === null ? null : NO_CACHE;
      return;
    }
    const { accountId, models } = named;
    const files = await this.filesOf(cache, named);
    const unknown = models.filter((one) => !files.some((file) => isSame(file, one)));
    const onProgress = (progress: Parameters<typeof progressNote>[0]): void =>
      void (this.said = progressNote(progress));
    // Each piece of a model is fetched under a signal of its own, which follows this one.
    const { release, signal } = joinSignals(this.leaving.signal);
    this.said = null;
    const unfetched = await cache.prefetch({ accountId, files, signal, onProgress }).finally(release);
    const shortfall = { unknown, unfetched };
    this.said = shortfallNote(shortfall, await cache.capacityBytes().catch(() => null));
    logger.info({ named: models.length, note: this.said }, 'the models of the deployment were fetched');
    if (mayComeLater(shortfall)) this.failed();
    else this.failures = 0;
  }

  private failed(): void {
    this.said ??= LATER;
    this.nextTryMs = performance.now() + backoffMs(this.failures, RETRY_BASE_MS, RETRY_CAP_MS);
    this.failures += 1;
  }

  /** In the order of the list. */
  private async filesOf(cache: KeptModels, { accountId, models }: PoolModels): Promise<ModelFile[]> {
    const found = await cache.find(accountId, [...new Set(models.map(({ name }) => name))]);
    return models.flatMap((one) => found.find((file) => isSame(file, one)) ?? []);
  }
}

function isSame(one: ModelName, other: ModelName): boolean {
  return one.folder === other.folder && one.name === other.name;
}

/** What has another hash than the library says, or more bytes than the cache may have, is the same the next time. */
function mayComeLater({ unfetched, unknown }: Shortfall): boolean {
  return unknown.length > 0 || unfetched.some(({ fault }) => fault !== 'too_large' && fault !== 'mismatch');
}

/** What a worker has for the models that its deployment names. */
interface WorkerOfPool extends Pick<NamedModelsParts, 'logger'> {
  identity: { poolId: string };
  registry: Pick<PoolRegistry, 'models'>;
  disk?: KeptModels | null;
}

/** Those of a worker. @param showsLibrary its engines are shown models of the library. */
export function namedModelsOf({ disk, identity, logger, registry }: WorkerOfPool, showsLibrary: boolean): NamedModels {
  const cache = showsLibrary ? (disk ?? null) : null;
  return new NamedModels({ list: () => registry.models(identity.poolId), cache, logger });
}
