import type { ModelFile } from '@millrace/contracts';
import type { CacheFolder } from './cache-folder';
import { NameTaken } from './engine-links';
import { DiskFull, fetchedBytes } from './fetch-model';
import { isNoRoom, unlessMissing } from './files';
import type { HeldLock, HostLocks } from './host-locks';
import { ModelUnavailable } from './model-unavailable';
import type { CacheSpace } from './room';
import type { StageRequest, StagingParts } from './stage-request';
import { VerifiedFetch, type Claim } from './verified-fetch';
import { pause } from './wait';
import { WantedModels, sizeText, sum, type Wanted } from './wanted-models';

/** How often a staging begins again because the disk takes no more, each time with something less on it. */
const MOST_RELIEFS = 10;

/**
 * Stages the models of one run. What is there is linked at once, which keeps it. Room is taken for all at once that it has to fetch;
 * one that waits for room keeps nothing meanwhile, so that two never wait for each other. It fetches what nobody else
 * fetches, and then waits for what others do.
 */
export class Staging {
  private readonly models: WantedModels;
  private readonly verified: VerifiedFetch;
  private waitsForRoomSinceMs: number | null = null;
  private isFirstLook = true;

  constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly room: CacheSpace,
    private readonly parts: StagingParts,
    private readonly request: StageRequest,
  ) {
    this.models = new WantedModels(request.files, request.onProgress);
    this.verified = new VerifiedFetch(folder, room, parts, this.models, request);
  }

  /** @throws {ModelUnavailable} or the reason of the signal */
  async run(): Promise<void> {
    for (let reliefs = 0; ; reliefs += 1) {
      try {
        return await this.stageAll();
      } catch (error) {
        if (!isNoRoom(error)) throw error;
        const mayRetry = reliefs < MOST_RELIEFS && (await this.room.relieve(this.models.digests, this.request.signal));
        if (!mayRetry) throw await this.diskFull();
      }
    }
  }

  private async stageAll(): Promise<void> {
    this.request.signal.throwIfAborted();
    await this.begin();
    this.refuseTooLarge();
    while (this.models.pending.size > 0) {
      const claims = await this.claim();
      try {
        for (const claim of claims) await this.fetch(claim);
      } finally {
        await Promise.all(claims.map(({ lock }) => lock.release()));
      }
      if (claims.length === 0 && this.models.pending.size > 0) await this.look();
    }
    this.models.report();
  }

  /** Nothing is linked, and nothing kept. */
  private async begin(): Promise<void> {
    await this.request.links.clear();
    this.models.reset();
  }

  private refuseTooLarge(): void {
    const { budgetBytes } = this.parts;
    const { names, totalBytes } = this.models;
    if (totalBytes <= budgetBytes) return;
    throw new ModelUnavailable(
      'too_large',
      `The models of this workflow (${names}) have ${sizeText(totalBytes)} together, and the worker keeps at most ${sizeText(budgetBytes)}.`,
      null,
      { neededBytes: totalBytes },
    );
  }

  /**
   * Link what is there, and take the locks of, and the room for, what nobody fetches.
   *
   * @returns nothing where all that is missing is fetched by others, or there is no room for it yet.
   */
  private async claim(): Promise<Claim[]> {
    const room = await this.lockRoom();
    if (room === null) return [];
    const locks = new Map<string, HeldLock>();
    try {
      await this.linkPresent();
      for (const digest of this.models.pending.keys()) {
        const lock = await this.locks.tryAcquire(digest);
        if (lock !== null) locks.set(digest, lock);
      }
      const claims = await this.takeRoom(locks);
      if (claims !== null) this.waitsForRoomSinceMs = null;
      if (claims !== null) return claims;
      await this.releaseAll(locks);
      // One that waits for room keeps none: two of them would wait for each other.
      await this.begin();
      return [];
    } catch (error) {
      await this.releaseAll(locks);
      throw error;
    } finally {
      await room.release();
    }
  }

  /** @returns null where all is linked without the lock, because the disk takes none: what is linked in that moment is not evicted. */
  private async lockRoom(): Promise<HeldLock | null> {
    try {
      return await this.room.lock(this.request.signal);
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      await this.linkPresent();
      if (this.models.pending.size > 0) throw error;
      return null;
    }
  }

  private async releaseAll(locks: ReadonlyMap<string, HeldLock>): Promise<void> {
    await Promise.all([...locks.values()].map((lock) => lock.release()));
  }

  private async linkPresent(): Promise<void> {
    const { modelLookups } = this.parts.metrics;
    for (const wanted of [...this.models.pending.values()]) {
      const isThere = await this.folder.has(wanted.file);
      if (isThere && (await this.link(wanted, this.folder.model(wanted.file.digest)))) {
        if (this.isFirstLook) modelLookups.inc({ outcome: 'hit' });
      } else if (this.isFirstLook) modelLookups.inc({ outcome: 'miss' });
    }
    this.isFirstLook = false;
  }

  /** @returns false where the file is not there any more. */
  private async link(wanted: Wanted, path: string): Promise<boolean> {
    const { file, targets } = wanted;
    for (const target of targets) {
      const added = await unlessMissing(this.request.links.add(path, target)).catch((error: unknown) => {
        throw error instanceof NameTaken ? this.nameTaken(target, error) : error;
      });
      if (added === null) return false;
    }
    await this.folder.touch(file.digest);
    for (const target of targets) await this.folder.note(target);
    this.models.linked(wanted);
    return true;
  }

  private nameTaken({ folder, name }: ModelFile, cause: NameTaken): ModelUnavailable {
    const message = `The model ${folder}/${name} cannot be used beside another of this workflow: one has the name of a folder in the path of the other. Upload one of them under another name.`;
    return new ModelUnavailable('name_taken', message, name, { cause });
  }

  /** @returns null where there is no room yet. */
  private async takeRoom(locks: ReadonlyMap<string, HeldLock>): Promise<Claim[] | null> {
    const mine = [...locks].flatMap(([digest, lock]) => {
      const wanted = this.models.pending.get(digest);
      return wanted ? [{ wanted, lock }] : [];
    });
    const folders = new Map<string, string>();
    for (const { wanted } of mine) {
      const adopted = await this.folder.adopt(wanted.file);
      if (adopted !== null) folders.set(wanted.file.digest, adopted);
    }
    const missing = mine.map(({ wanted }) => wanted.file).filter(({ digest }) => !folders.has(digest));
    // Also for what was adopted: the disk may have less by now than is to come of it.
    const neededBytes = sum(missing.map(({ sizeBytes }) => sizeBytes));
    if (mine.length > 0 && !(await this.clearRoom(neededBytes, locks))) return null;
    for (const file of missing) folders.set(file.digest, await this.folder.reserve(file));
    return mine.map(({ wanted, lock }) => ({ wanted, lock, folder: folders.get(wanted.file.digest) ?? '' }));
  }

  /** @returns false where others hold what there is for now. @throws ModelUnavailable where nobody does. */
  private async clearRoom(neededBytes: number, locks: ReadonlyMap<string, HeldLock>): Promise<boolean> {
    const answer = await this.room.make(neededBytes, locks.keys());
    if (answer === 'made') return true;
    this.waitsForRoomSinceMs ??= performance.now();
    const waitedMs = performance.now() - this.waitsForRoomSinceMs;
    const fault = await this.diskFull();
    if (answer === 'later' && fault.isPassing && waitedMs < this.parts.waits.roomMs) return false;
    throw fault;
  }

  /** What others use will make way: it passes where there would be room without that. */
  private async diskFull(): Promise<ModelUnavailable> {
    const { missing, totalBytes: neededBytes } = this.models;
    const isPassing = neededBytes <= (await this.room.capacityBytes());
    const now = isPassing ? ' at the moment' : '';
    return new ModelUnavailable(
      'disk_full',
      `The disk of the worker has no room${now} for the models that the workflow names (${missing}).`,
      null,
      { neededBytes, isPassing },
    );
  }

  /** A claim whose lock was lost is left to the process that took it over: the next look decides. */
  private async fetch(claim: Claim): Promise<void> {
    const { lock } = claim;
    const signal = AbortSignal.any([this.request.signal, lock.lost]);
    try {
      await this.verified.run(claim, signal);
    } catch (error) {
      if (lock.lost.aborted && !this.request.signal.aborted) return;
      throw error instanceof DiskFull ? await this.diskFull() : error;
    }
    await this.finish(claim);
    await lock.release();
  }

  /**
   * A model before it is linked: what a process that is killed leaves in the folder of an engine is then a link to a model, and known as one.
   * The lock keeps it from being evicted between the two.
   */
  private async finish({ folder, wanted }: Claim): Promise<void> {
    const { digest } = wanted.file;
    if (await this.folder.complete(folder, digest)) await this.link(wanted, this.folder.model(digest));
  }

  /** Others fetch what is missing, or hold the room: see how far they are, in a while. */
  private async look(): Promise<void> {
    await pause(this.parts.waits.lookMs, this.request.signal);
    const partials = await this.folder.partials();
    for (const wanted of this.models.pending.values()) {
      const { digest, sizeBytes } = wanted.file;
      const partial = partials.find((one) => one.digest === digest);
      if (!partial) continue;
      const bytes = await fetchedBytes(partial.path, sizeBytes, this.parts.fetch.pieceBytes);
      wanted.stagedBytes = Math.max(wanted.stagedBytes, bytes);
    }
    this.models.report();
  }
}
