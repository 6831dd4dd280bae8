import { randomUUID } from 'node:crypto';
import { rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linkNew, namesIn, readText, removeFile, unlessMissing } from './files';
import { PROCESS_NAMESPACE, isAlive } from './host-identity';
import { pause } from './wait';

export interface LockTimes {
  /** Between two signs of life of a holder, in milliseconds. */
  beatMs: number;
  /** Without a sign of life for this long, as this process sees it, a holder is dead. */
  deadMs: number;
  /** Between two tries to get a lock that is waited for. */
  pollMs: number;
}

const DEFAULT_LOCK_TIMES: Readonly<LockTimes> = { beatMs: 5_000, deadMs: 20_000, pollMs: 25 };

/** Distinguishes this process from an earlier one of the same number: the first of a container is always 1. */
const THIS_PROCESS = randomUUID();

interface Owner {
  token: string;
  process: string;
  namespace: string;
  pid: number;
}

const ENDING = '.lock';
/** Of what a lock is while it is made, and while it is taken away. */
const DRAFT = '.new';
const GRAVE = '.dead';
/** Both are there for moments: one that is older than this was left by a process that ended in between. */
const LEFT_MS = 3_600_000;

/** What was seen of a lock, and since when it is unchanged, on the monotonic clock. */
interface Sighting {
  seen: string;
  sinceMs: number;
}

/** A lock that this process holds until it releases it, or is taken for dead. */
export class HeldLock {
  private readonly timer: NodeJS.Timeout;
  private readonly gone = new AbortController();
  private beating: Promise<void> | null = null;

  constructor(
    private readonly path: string,
    private readonly text: string,
    beatMs: number,
  ) {
    this.timer = setInterval(() => {
      this.beating ??= this.beat()
        .catch(() => undefined)
        .finally(() => (this.beating = null));
    }, beatMs);
  }

  /** Aborts when another process has taken the lock over: this one was frozen for too long. */
  get lost(): AbortSignal {
    return this.gone.signal;
  }

  private async beat(): Promise<void> {
    const found = await readText(this.path);
    if (found === this.text) return void (await utimes(this.path, new Date(), new Date()));
    if (found === null && (await placeLock(this.path, this.text))) return;
    this.gone.abort(new Error('the lock was taken over'));
  }

  /** Never rejects. */
  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.beating;
    try {
      if ((await readText(this.path)) === this.text) await removeFile(this.path);
    } catch {
      // It goes stale by itself.
    }
  }
}

/**
 * Locks among the processes that share a folder of one host, containers included: files that are made whole or not at all. The
 * lock of a process that has ended is taken over at once where its number means something here, and anywhere once it has shown
 * no sign of life for a while; no clock is compared with another.
 *
 * Two that take over the same dead lock in the same instant may, if a third is quicker than both, hold it together for a moment.
 * What is done under a lock must bear that: here it costs a download, never a file.
 */
export class HostLocks {
  private readonly sightings = new Map<string, Sighting>();
  private readonly times: LockTimes;

  constructor(
    private readonly folder: string,
    times: Partial<LockTimes> = {},
  ) {
    this.times = { ...DEFAULT_LOCK_TIMES, ...times };
  }

  /** @returns null while another holds it. @throws the error of the file system, as on a full disk: a lock takes a block. */
  async tryAcquire(name: string): Promise<HeldLock | null> {
    const path = this.pathOf(name);
    const owner: Owner = {
      token: randomUUID(),
      process: THIS_PROCESS,
      namespace: PROCESS_NAMESPACE,
      pid: process.pid,
    };
    const text = JSON.stringify(owner);
    for (;;) {
      if (await placeLock(path, text)) {
        this.sightings.delete(path);
        return new HeldLock(path, text, this.times.beatMs);
      }
      const found = await readText(path);
      if (found === null) continue;
      if (!(await this.isDead(path, found))) return null;
      await bury(path, found);
    }
  }

  /** @throws the reason of the signal when it aborts first. */
  async acquire(name: string, signal?: AbortSignal): Promise<HeldLock> {
    for (;;) {
      signal?.throwIfAborted();
      const lock = await this.tryAcquire(name);
      if (lock !== null) return lock;
      await pause(this.times.pollMs * (0.5 + Math.random()), signal);
    }
  }

  /** Whether somebody holds it who is not known to be dead. */
  async isHeld(name: string): Promise<boolean> {
    const path = this.pathOf(name);
    const found = await readText(path);
    return found !== null && !(await this.isDead(path, found));
  }

  /** Remove the lock of a holder that is dead. */
  async forget(name: string): Promise<void> {
    const path = this.pathOf(name);
    const found = await readText(path);
    if (found !== null && (await this.isDead(path, found))) await bury(path, found);
  }

  /** Remove the locks of all holders that are known to be dead, and what those left that ended while they made or removed one. */
  async sweep(): Promise<void> {
    for (const file of await namesIn(this.folder)) {
      if (file.endsWith(ENDING)) await this.forget(file.slice(0, -ENDING.length));
      else if (file.endsWith(DRAFT) || file.endsWith(GRAVE)) await this.removeLeft(join(this.folder, file));
    }
  }

  private async removeLeft(path: string): Promise<void> {
    // The time of the last change of its name: a lock keeps that of its last sign of life while it is taken away.
    const found = await unlessMissing(stat(path));
    if (found !== null && Date.now() - found.ctimeMs > LEFT_MS) await removeFile(path);
  }

  private pathOf(name: string): string {
    return join(this.folder, name + ENDING);
  }

  private async isDead(path: string, text: string): Promise<boolean> {
    const owner = ownerOf(text);
    // A lock of this process is held, or is being released: its holder lives.
    if (owner?.namespace === PROCESS_NAMESPACE && owner.process !== THIS_PROCESS) {
      if (owner.pid === process.pid || !isAlive(owner.pid)) return true;
    }
    const modified = await unlessMissing(stat(path, { bigint: true }));
    const seen = `${modified?.mtimeNs} ${text}`;
    const before = this.sightings.get(path);
    if (before?.seen !== seen) {
      this.sightings.set(path, { seen, sinceMs: performance.now() });
      return false;
    }
    return performance.now() - before.sinceMs > this.times.deadMs;
  }
}

/** Whole or not at all: a lock never lacks the name of its holder. @returns false where there is one. */
async function placeLock(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}${DRAFT}`;
  try {
    // On a full disk this makes the file, and fails.
    await writeFile(draft, text, { flag: 'wx' });
    return await linkNew(draft, path);
  } finally {
    await removeFile(draft);
  }
}

/** Take a dead lock away, and put it back where it is another by now. */
async function bury(path: string, text: string): Promise<void> {
  if ((await readText(path)) !== text) return;
  const grave = `${path}.${randomUUID()}${GRAVE}`;
  const isMine = await unlessMissing(rename(path, grave).then(() => true));
  if (isMine === null) return;
  if ((await readText(grave)) !== text) await linkNew(grave, path);
  await removeFile(grave);
}

function ownerOf(text: string): Owner | null {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return null;
  }
}
