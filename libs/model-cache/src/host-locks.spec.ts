import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestFolder, eventually, type TestFolder } from '@millrace/testing';
import { PROCESS_NAMESPACE } from './host-identity';
import { HostLocks, type HeldLock } from './host-locks';

let folder: TestFolder;
beforeEach(async () => (folder = await createTestFolder()));
afterEach(() => folder.drop());

const pathOf = (name: string): string => join(folder.path, `${name}.lock`);
const left = async (): Promise<string[]> => readdir(folder.path);

/** A lock as a process has left it. */
async function plant(name: string, owner: { namespace: string; pid: number }): Promise<void> {
  await mkdir(folder.path, { recursive: true });
  await writeFile(pathOf(name), JSON.stringify({ token: 'of another', ...owner }));
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('locks of a host', () => {
  it('are held by one, who releases them, and leave nothing', async () => {
    const [one, other] = [new HostLocks(folder.path), new HostLocks(folder.path)];
    const lock = await one.tryAcquire('a');
    expect(lock).not.toBeNull();
    expect(await other.tryAcquire('a')).toBeNull();
    expect(await one.tryAcquire('a')).toBeNull();
    expect(await other.isHeld('a')).toBe(true);
    await lock?.release();
    expect(await other.isHeld('a')).toBe(false);
    const again = await other.tryAcquire('a');
    expect(again).not.toBeNull();
    await again?.release();
    expect(await left()).toEqual([]);
  });

  it('let one of many in at a time', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      const lock = await new HostLocks(folder.path, { pollMs: 1 }).acquire('a');
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      await lock.release();
    };
    await Promise.all(Array.from({ length: 20 }, work));
    expect(most).toBe(1);
  });

  it('are not taken from the next holder by one who still saw the last', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      for (let turn = 0; turn < 25; turn += 1) {
        const lock = await new HostLocks(folder.path, { pollMs: 0 }).acquire('a');
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        await lock.release();
      }
    };
    await Promise.all(Array.from({ length: 12 }, work));
    expect(most).toBe(1);
  });

  it('are taken over at once from a process that has ended', async () => {
    await plant('a', { namespace: PROCESS_NAMESPACE, pid: await deadPid() });
    const locks = new HostLocks(folder.path);
    expect(await locks.isHeld('a')).toBe(false);
    const lock = await locks.tryAcquire('a');
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it('are taken over from a process of this number that came before, as the first of a container is always 1', async () => {
    await plant('a', { namespace: PROCESS_NAMESPACE, pid: process.pid });
    const lock = await new HostLocks(folder.path).tryAcquire('a');
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it('of a process of another container are taken over once it shows no sign of life, and not while it does', async () => {
    await plant('a', { namespace: 'elsewhere', pid: await deadPid() });
    const slow = new HostLocks(folder.path, { deadMs: 600_000 });
    expect([await slow.tryAcquire('a'), await slow.tryAcquire('a')]).toEqual([null, null]);
    const locks = new HostLocks(folder.path, { deadMs: -1 });
    expect(await locks.tryAcquire('a')).toBeNull();
    await utimes(pathOf('a'), 1, 1);
    expect(await locks.tryAcquire('a')).toBeNull();
    const lock = await locks.tryAcquire('a');
    expect(lock).not.toBeNull();
    await lock?.release();
  });

  it('go to one of those that find a holder dead at the same time', async () => {
    await plant('a', { namespace: PROCESS_NAMESPACE, pid: await deadPid() });
    const tries = await Promise.all(Array.from({ length: 8 }, () => new HostLocks(folder.path).tryAcquire('a')));
    const got = tries.filter((lock): lock is HeldLock => lock !== null);
    // The file names the one that holds it.
    expect(got.length).toBeGreaterThan(0);
    expect(JSON.parse(await readFile(pathOf('a'), 'utf8'))).toMatchObject({ pid: process.pid });
    await Promise.all(got.map((lock) => lock.release()));
    expect(await left()).toEqual([]);
  });

  it('of processes that have ended are removed together, and others stay', async () => {
    const locks = new HostLocks(folder.path);
    const mine = await locks.acquire('mine');
    await plant('left', { namespace: PROCESS_NAMESPACE, pid: await deadPid() });
    await plant('of another host', { namespace: 'elsewhere', pid: await deadPid() });
    await locks.sweep();
    expect((await left()).sort()).toEqual(['mine.lock', 'of another host.lock']);
    await mine.release();
  });

  it('leave nothing for long of a process that ended while it made or removed one', async () => {
    await mkdir(folder.path, { recursive: true });
    for (const name of ['a.lock.1.new', 'b.lock.2.dead']) await writeFile(join(folder.path, name), '{}');
    const locks = new HostLocks(folder.path);
    await locks.sweep();
    expect((await left()).sort()).toEqual(['a.lock.1.new', 'b.lock.2.dead']);
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 3_600_000);
    await locks.sweep();
    jest.restoreAllMocks();
    expect(await left()).toEqual([]);
  });

  it('let a holder that was frozen know that another has it now', async () => {
    const locks = new HostLocks(folder.path, { beatMs: 5 });
    const lock = await locks.acquire('a');
    await plant('a', { namespace: 'elsewhere', pid: 1 });
    await eventually('the holder knows', () => lock.lost.aborted);
    await lock.release();
    expect(await readFile(pathOf('a'), 'utf8')).toContain('elsewhere');
  });

  it('are not waited for by one that is called off', async () => {
    const locks = new HostLocks(folder.path);
    const lock = await locks.acquire('a');
    const off = new AbortController();
    const waiting = locks.acquire('a', off.signal);
    off.abort(new Error('called off'));
    await expect(waiting).rejects.toThrow('called off');
    await lock.release();
  });
});
