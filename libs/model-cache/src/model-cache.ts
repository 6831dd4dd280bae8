import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ModelFile, ModelSource } from '@millrace/contracts';
import type { Logger, Metrics } from '@millrace/platform';
import { CacheFolder } from './cache-folder';
import { EngineLinks } from './engine-links';
import { DEFAULT_FETCH, type FetchSettings } from './fetch-model';
import { namesIn, readText } from './files';
import { HostLocks, type HeldLock, type LockTimes } from './host-locks';
import { MODEL_FAULTS, ModelUnavailable } from './model-unavailable';
import { prefetch, type PrefetchRequest, type Unfetched } from './prefetch';
import { Room } from './room';
import { Staging, type StageRequest, type StagingParts } from './staging';

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

/** Ending of the file that says which folder was given to an engine. */
const GIVEN = '.given';

const DEFAULT_WAITS: Readonly<StagingWaits> = { lookMs: 250, roomMs: 600_000 };

/**
 * Models of the library on the disk of this host. One folder serves all engines and processes of the host: each file is fetched
 * once, for the first that needs it, is verified by its hash before it counts, and stays until its room is needed.
 */
export class ModelCache {
  private engineCount = 0;
  /** Keeps what is prefetched while it comes: its folder is no engine's. */
  private prefetching: Promise<EngineLinks> | null = null;

  private constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly options: ModelCacheOptions,
    private readonly ownerId: string,
    /** Shows others that the folders of this process's engines are in use. */
    private readonly presence: HeldLock,
  ) {}

  /** @throws CacheFolderError where the folder cannot be used. */
  static async open(options: ModelCacheOptions): Promise<ModelCache> {
    const folder = await CacheFolder.open(options.dir);
    const locks = new HostLocks(folder.locks, options.locks);
    const ownerId = randomUUID();
    const presence = await locks.acquire(presenceOf(ownerId));
    const cache = new ModelCache(folder, locks, options, ownerId, presence);
    await folder.sweep((digest) => locks.isHeld(digest));
    await cache.sweepEngines();
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
   * @throws CacheFolderError where the given folder is somebody else's
   */
  async linksOfEngine(given?: string): Promise<EngineLinks> {
    this.engineCount += 1;
    const own = join(this.folder.engines, this.ownerId, String(this.engineCount));
    if (given !== undefined) {
      await mkdir(join(this.folder.engines, this.ownerId), { recursive: true });
      await writeFile(`${own}${GIVEN}`, resolve(given));
    }
    return EngineLinks.open(given ?? own, this.folder);
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
    return new Staging(this.folder, this.locks, parts, () => this.sweepEngines(), request);
  }

  private get waits(): StagingWaits {
    return { ...DEFAULT_WAITS, ...this.options.waits };
  }

  /** How many bytes of models this disk can have, once all that is not in use has made way: the budget at most. */
  async capacityBytes(): Promise<number> {
    return new Room(this.folder, this.locks, this.options).capacityBytes();
  }

  /** The names by which graphs call the models that are on the disk. */
  names(): Promise<string[]> {
    return this.folder.names();
  }

  /**
   * Remove the folders of engines whose process has ended: their links keep models from being evicted. Of a folder that was given to one
   * the links alone, and where another has it now, nothing.
   */
  private async sweepEngines(): Promise<void> {
    const [living, gone] = [[] as string[], [] as string[]];
    for (const owner of await namesIn(this.folder.engines)) {
      const lives = owner === this.ownerId || (await this.locks.isHeld(presenceOf(owner)));
      (lives ? living : gone).push(owner);
    }
    if (gone.length === 0) return;
    const used = (await Promise.all(living.map((owner) => this.givenTo(owner)))).flat();
    for (const owner of gone) {
      for (const path of await this.givenTo(owner)) {
        if (!used.includes(path)) await EngineLinks.abandon(path, await this.folder.inodes());
      }
      await rm(join(this.folder.engines, owner), { recursive: true, force: true });
      await this.locks.forget(presenceOf(owner));
    }
  }

  /** The folders that were given to the engines of a process. */
  private async givenTo(owner: string): Promise<string[]> {
    const folder = join(this.folder.engines, owner);
    const notes = (await namesIn(folder)).filter((name) => name.endsWith(GIVEN));
    return (await Promise.all(notes.map((name) => readText(join(folder, name))))).flatMap((path) => path ?? []);
  }

  /** Nothing of this process keeps a model from being evicted any more. */
  async close(): Promise<void> {
    await rm(join(this.folder.engines, this.ownerId), { recursive: true, force: true });
    await this.presence.release();
  }
}

function presenceOf(ownerId: string): string {
  return `engines.${ownerId}`;
}
