import { randomUUID } from 'node:crypto';
import type { ModelFile, ModelSource } from '@millrace/contracts';
import type { Logger, Metrics } from '@millrace/platform';
import { CacheFolder, CacheFolderError } from './cache-folder';
import { EngineFolders } from './engine-folders';
import type { EngineLinks } from './engine-links';
import { DEFAULT_FETCH, type FetchSettings } from './fetch-model';
import { isNoRoom } from './files';
import { HostLocks, type HeldLock, type LockTimes } from './host-locks';
import { MODEL_FAULTS, ModelUnavailable } from './model-unavailable';
import { prefetch, type PrefetchRequest, type Unfetched } from './prefetch';
import { CacheSpace } from './room';
import type { StageRequest, StagingParts } from './stage-request';
import { Staging } from './staging';

export interface ModelCacheOptions {
  dir: string;
  budgetBytes: number;
  source: ModelSource;
  /** Whether an error of the source says that it does not have the bytes, so that asking again is no use. */
  isGone: (error: unknown) => boolean;
  metrics: Pick<
    Metrics,
    'modelBytesFetched' | 'modelLookups' | 'modelEvictions' | 'modelFailures' | 'modelStagingSeconds'
  >;
  logger: Pick<Logger, 'info' | 'warn'>;
  fetch?: Partial<FetchSettings>;
  locks?: Partial<LockTimes>;
  /** How often a staging that waits for others looks, and how long it waits for room that others hold, in milliseconds. */
  waits?: Partial<StagingWaits>;
}

export interface StagingWaits {
  lookMs: number;
  roomMs: number;
}

const DEFAULT_WAITS: Readonly<StagingWaits> = { lookMs: 250, roomMs: 600_000 };

/**
 * Models of the library on the disk of this host. One folder serves all engines and processes of the host: each file is fetched
 * once, for the first that needs it, is verified by its hash before it counts, and stays until its room is needed.
 */
export class ModelCache {
  /** Keeps what is prefetched while it comes: its folder is no engine's. */
  private prefetching: Promise<EngineLinks> | null = null;

  private constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly options: ModelCacheOptions,
    private readonly engines: EngineFolders,
    private readonly room: CacheSpace,
    private readonly presence: HeldLock,
  ) {}

  /** @throws CacheFolderError where the folder cannot be used, or nothing can make room on a full disk. */
  static async open(options: ModelCacheOptions): Promise<ModelCache> {
    const folder = await CacheFolder.open(options.dir);
    const locks = new HostLocks(folder.locks, options.locks);
    const engines = new EngineFolders(folder, locks, randomUUID());
    const room = new CacheSpace(folder, locks, options, () => engines.sweep());
    const presence = await roomy(options.dir, room, () => engines.acquirePresence());
    const cache = new ModelCache(folder, locks, options, engines, room, presence);
    await folder.sweep((digest) => locks.isHeld(digest));
    await engines.sweep();
    await locks.sweep();
    // Those that did not happen yet: a counter that begins at 1 hides its first.
    for (const reason of MODEL_FAULTS) options.metrics.modelFailures.inc({ reason }, 0);
    return cache;
  }

  /**
   * The folder in which one engine finds the models of its run.
   *
   * @param given where an engine that runs elsewhere looks; it has to be on the file system of the cache. Otherwise one of the
   * cache's own.
   * @throws CacheFolderError where the given folder is somebody else's, or nothing can make room on a full disk
   */
  linksOfEngine(given?: string): Promise<EngineLinks> {
    return roomy(this.options.dir, this.room, () => this.engines.open(given));
  }

  /** Files of the library that an account's graph means by these names. */
  find(accountId: string, names: readonly string[], signal?: AbortSignal): Promise<ModelFile[]> {
    return names.length === 0 ? Promise.resolve([]) : this.options.source.find(accountId, names, signal);
  }

  /**
   * Bring models to this disk, and link them into the folder of an engine, which then has these and no others. They stay until the
   * links are cleared.
   *
   * @throws {ModelUnavailable} or the reason of the signal
   */
  async stage(request: StageRequest): Promise<void> {
    const { metrics } = this.options;
    const beganMs = performance.now();
    try {
      await this.staging(request).run();
    } catch (error) {
      if (error instanceof ModelUnavailable) metrics.modelFailures.inc({ reason: error.fault });
      throw error;
    } finally {
      metrics.modelStagingSeconds.observe((performance.now() - beganMs) / 1000);
    }
  }

  /**
   * Bring models to this disk that no run needs yet. They are evicted as others are. No room is waited for: what runs have goes
   * before. Nothing of it counts as a run's. One at a time.
   *
   * @returns what did not come, and why.
   * @throws the reason of the signal.
   */
  async prefetch(request: PrefetchRequest): Promise<Unfetched[]> {
    const { accountId, signal } = request;
    const links = await this.linksOfPrefetch();
    const own = { modelLookups: { inc: () => undefined }, waits: { ...this.waits, roomMs: 0 } };
    return prefetch(request, {
      capacityBytes: () => this.capacityBytes(),
      has: (file) => this.folder.has(file),
      stage: async (file, onProgress) => {
        try {
          await this.staging({ accountId, files: [file], links, signal, onProgress }, own).run();
        } finally {
          await links.clear();
        }
      },
    });
  }

  /** Where its folder cannot be opened, as on a full disk, the next prefetch tries again. */
  private linksOfPrefetch(): Promise<EngineLinks> {
    this.prefetching ??= this.linksOfEngine().catch((error: unknown) => {
      this.prefetching = null;
      throw error;
    });
    return this.prefetching;
  }

  private staging(
    request: StageRequest,
    { modelLookups, waits }: { modelLookups?: StagingParts['metrics']['modelLookups']; waits?: StagingWaits } = {},
  ): Staging {
    const { budgetBytes, fetch, isGone, logger, source } = this.options;
    const { modelBytesFetched, modelEvictions, modelLookups: ofRuns } = this.options.metrics;
    const metrics = { modelBytesFetched, modelEvictions, modelLookups: modelLookups ?? ofRuns };
    const settings = { ...DEFAULT_FETCH, ...fetch };
    const parts = { budgetBytes, fetch: settings, isGone, logger, metrics, source, waits: waits ?? this.waits };
    return new Staging(this.folder, this.locks, this.room, parts, request);
  }

  private get waits(): StagingWaits {
    return { ...DEFAULT_WAITS, ...this.options.waits };
  }

  /** How many bytes of models this disk can have, once all that is not in use has made way: the budget at most. */
  async capacityBytes(): Promise<number> {
    return this.room.capacityBytes();
  }

  /** The names by which graphs call the models that are on the disk. */
  names(): Promise<string[]> {
    return this.folder.names();
  }

  /** Nothing of this process keeps a model from being evicted any more. */
  async close(): Promise<void> {
    await this.engines.remove();
    await this.presence.release();
  }
}

/** What `work` gives; on a full disk what is in the cache makes room. @throws CacheFolderError where nothing can. */
async function roomy<T>(dir: string, room: CacheSpace, work: () => Promise<T>): Promise<T> {
  try {
    return await room.relieving(work);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    const message = `The disk of ${dir} has no room left, and nothing in the model cache can make some. Free some space on it.`;
    throw new CacheFolderError(message, { cause: error });
  }
}
