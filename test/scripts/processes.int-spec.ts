import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@millrace/testing';
import { Scope } from '../../scripts/lib/command/scope.mjs';
import { claimFolder } from '../../scripts/lib/services/data-folder.mjs';
import { Lock, tryLock } from '../../scripts/lib/system/lock.mjs';
import {
  endProcess,
  identify,
  isRunning,
  ownPlace,
  type ProcessIdentity,
} from '../../scripts/lib/system/processes.mjs';

const LIB = pathToFileURL(join(__dirname, '..', '..', 'scripts', 'lib')).href;
const KILL = { signal: 'SIGKILL', waitMs: 60_000 } as const;
/** Of a process that does not listen. */
const STOP = [{ signal: 'SIGTERM', waitMs: 300 }, KILL] as const;

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'millrace-processes-'))));
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** A process of its own group that runs `code` and has printed something, so that it is known to have come that far. */
async function startNode(code: string): Promise<{ child: ChildProcess; identity: ProcessIdentity; said: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { detached: true });
  started.push(child);
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const identity = identify(child.pid ?? 0);
  if (!identity) throw new Error('the process is gone already');
  return { child, identity, said: said.toString().trim() };
}

/** Only root may give files away: this process is another one's instead. */
const asAnotherUser = (): jest.SpyInstance => jest.spyOn(process, 'getuid').mockReturnValue(4_321);

const FOREVER = 'setInterval(() => {}, 1000); console.log("up");';

describe('a process', () => {
  it('is distinguished from another one that has its pid', async () => {
    const { identity } = await startNode(FOREVER);
    expect(isRunning(identity)).toBe(true);
    expect(isRunning({ ...identity, startedAt: `${identity.startedAt}0` })).toBe(false);
  });

  it('that is over is not running, although nobody has collected it', async () => {
    const { child, identity } = await startNode(FOREVER);
    child.kill('SIGKILL');
    await eventually('its end shows', () => !isRunning(identity));
    expect(identify(identity.pid)).toBeUndefined();
  });

  it('is asked to end, and not killed when it does', async () => {
    const { child, identity } = await startNode(`process.on('SIGTERM', () => process.exit(7)); ${FOREVER}`);
    const end = once(child, 'exit');
    expect(await endProcess(identity, [{ signal: 'SIGTERM', waitMs: 60_000 }, KILL])).toBe(true);
    expect(await end).toEqual([7, null]);
  });

  it('that does not listen is killed, and its group with it', async () => {
    const { child, identity, said } = await startNode(
      `import { spawn } from 'node:child_process';
       process.on('SIGTERM', () => {});
       console.log(spawn('sleep', ['60']).pid);
       setInterval(() => {}, 1000);`,
    );
    const end = once(child, 'exit');
    const grandchild = identify(Number(said));
    if (!grandchild) throw new Error('the grandchild is gone already');
    expect(await endProcess(identity, [...STOP])).toBe(true);
    expect(await end).toEqual([null, 'SIGKILL']);
    await eventually('the grandchild is gone', () => !isRunning(grandchild));
  });

  it('is killed at once when the user insists', async () => {
    const { child, identity } = await startNode(`process.on('SIGTERM', () => {}); ${FOREVER}`);
    const end = once(child, 'exit');
    expect(await endProcess(identity, [{ signal: 'SIGTERM', waitMs: 60_000 }, KILL], AbortSignal.abort())).toBe(true);
    expect(await end).toEqual([null, 'SIGKILL']);
  });
});

describe('a lock', () => {
  it('names its holder to the next that tries, and is free after its release', async () => {
    const path = join(folder, 'a.lock');
    const first = await tryLock(path);
    expect(await tryLock(path)).toMatchObject({ pid: process.pid });
    (first as Lock).release();
    expect(await tryLock(path)).toBeInstanceOf(Lock);
  });

  it('of a dead holder is taken over, after the tool that it left running has ended', async () => {
    const path = join(folder, 'a.lock');
    const tool = await startNode(FOREVER);
    const { child } = await startNode(
      `const { tryLock } = await import('${LIB}/system/index.mjs');
       const lock = await tryLock(${JSON.stringify(path)});
       lock.noteTool(${JSON.stringify(tool.identity)});
       ${FOREVER}`,
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await tryLock(path)).toBeInstanceOf(Lock);
    expect(isRunning(tool.identity)).toBe(false);
  });

  describe('of a process that is not to be seen', () => {
    const path = (): string => join(folder, 'a.lock');
    /** As another host or container would have written it. */
    const write = (place: object, more: object = {}): void => {
      const holder = { pid: process.pid, startedAt: 'unknown' };
      writeFileSync(path(), JSON.stringify({ id: 'other', holder, place: { ...ownPlace(), ...place }, ...more }));
    };

    it.each([
      ['another container', { pids: 'pid:[1]' }, undefined],
      ['another host', { host: 'other', boot: 'other' }, 'other'],
      ['a container of another host', { host: 'other', pids: 'pid:[1]', boot: 'other' }, 'other'],
    ])('in %s is held', async (_what, place, host = ownPlace().host) => {
      write(place);
      const before = readFileSync(path(), 'utf8');
      expect(await tryLock(path())).toMatchObject({ pid: process.pid, host });
      expect([readFileSync(path(), 'utf8'), readdirSync(folder)]).toEqual([before, ['a.lock']]);
    });

    it.each([
      ['here', {}],
      ['on this machine before it was started again', { boot: 'other' }],
      ['in a container of this machine before that was started again', { boot: 'other', pids: 'pid:[1]' }],
      ['on this machine before it was given another name', { host: 'other' }],
    ])('%s is taken over', async (_what, place) => {
      write(place);
      expect(await tryLock(path())).toBeInstanceOf(Lock);
    });

    it('keeps a data folder from a second stack, and says what to do', async () => {
      write({ host: 'other', boot: 'other' });
      renameSync(path(), join(folder, 'supervisor.lock'));
      await expect(claimFolder(new Scope(), folder)).rejects.toThrow(
        `(other, pid ${process.pid}): stop it there, or choose another --data. If it runs no longer, as after a kill of a container that was started again, remove ${folder}/supervisor.lock.`,
      );
    });
  });

  it('of a dead holder that another user wrote is taken over, and what it names as its tool runs on', async () => {
    const path = join(folder, 'a.lock');
    const { identity: tool } = await startNode(FOREVER);
    writeFileSync(path, JSON.stringify({ id: 'other', holder: { pid: process.pid, startedAt: 'unknown' }, tool }));
    const user = asAnotherUser();
    expect(await tryLock(path)).toBeInstanceOf(Lock);
    user.mockRestore();
    expect(isRunning(tool)).toBe(true);
  });

  it('that is no lock file is replaced', async () => {
    const path = join(folder, 'a.lock');
    writeFileSync(path, '{"half');
    expect(await tryLock(path)).toBeInstanceOf(Lock);
  });

  it('is held by one at a time, however many want it and however many of them die holding it', async () => {
    const path = join(folder, 'a.lock');
    const log = join(folder, 'log');
    writeFileSync(log, '');
    const contenders = Array.from({ length: 6 }, (_, number) =>
      spawn(process.execPath, [
        '--input-type=module',
        '-e',
        `import { appendFileSync } from 'node:fs';
         const { Lock, tryLock } = await import('${LIB}/system/index.mjs');
         for (let left = 60; left > 0; ) {
           const lock = await tryLock(${JSON.stringify(path)});
           if (!(lock instanceof Lock)) { await new Promise((resolve) => setTimeout(resolve, 1)); continue; }
           appendFileSync(${JSON.stringify(log)}, 'in ');
           await new Promise((resolve) => setTimeout(resolve, 1));
           appendFileSync(${JSON.stringify(log)}, 'out ');
           left -= 1;
           if (left === 30 && ${number} % 2 === 0) process.kill(process.pid, 'SIGKILL');
           lock.release();
         }`,
      ]),
    );
    await Promise.all(contenders.map((contender) => once(contender, 'exit')));
    const turns = readFileSync(log, 'utf8').trim().split(' ');
    expect(turns).toEqual(turns.map((_, at) => (at % 2 === 0 ? 'in' : 'out')));
    expect(turns).toHaveLength(2 * (3 * 60 + 3 * 30));
  });
});
