import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CacheFolder } from './cache-folder';
import { EngineLinks } from './engine-links';
import { namesIn, readText } from './files';
import type { HeldLock, HostLocks } from './host-locks';

/** Ending of the file that says which folder was given to an engine. */
const GIVEN = '.given';

/** The folders of the engines of one process, and what others that have ended left of theirs. */
export class EngineFolders {
  private count = 0;

  constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly ownerId: string,
  ) {}

  /** The lock that shows others that the folders of this process's engines are in use. */
  acquirePresence(): Promise<HeldLock> {
    return this.locks.acquire(presenceOf(this.ownerId));
  }

  /**
   * A folder for one engine.
   *
   * @param given where an engine that runs elsewhere looks; otherwise one of the cache's own
   */
  async open(given?: string): Promise<EngineLinks> {
    this.count += 1;
    const own = join(this.folder.engines, this.ownerId, String(this.count));
    if (given !== undefined) {
      await mkdir(join(this.folder.engines, this.ownerId), { recursive: true });
      await writeFile(`${own}${GIVEN}`, resolve(given));
    }
    return EngineLinks.open(given ?? own, this.folder);
  }

  /**
   * Remove the folders of engines whose process has ended: their links keep models from being evicted. Of a folder that was given to one
   * the links alone, and where another has it now, nothing.
   */
  async sweep(): Promise<void> {
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

  /** Remove those of this process. */
  async remove(): Promise<void> {
    await rm(join(this.folder.engines, this.ownerId), { recursive: true, force: true });
  }

  /** The folders that were given to the engines of a process. */
  private async givenTo(owner: string): Promise<string[]> {
    const folder = join(this.folder.engines, owner);
    const notes = (await namesIn(folder)).filter((name) => name.endsWith(GIVEN));
    return (await Promise.all(notes.map((name) => readText(join(folder, name))))).flatMap((path) => path ?? []);
  }
}

function presenceOf(ownerId: string): string {
  return `engines.${ownerId}`;
}
