import { chownSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure } from '../command/index.mjs';
import { findProgram, findSetpriv, runTool } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {{ name: string, uid: number, gid: number }} User */

/**
 * A way to run PostgreSQL's programs, which refuse to run as root.
 *
 * @typedef {{
 *   prefix: (deathSignal: NodeJS.Signals) => string[],
 *   options: { uid?: number, gid?: number },
 *   owner?: { uid: number, gid: number },
 * }} Launcher
 * `prefix` comes before the program; `owner` is who must own the data.
 */

const USERS = ['postgres', 'millrace'];
const LAST_RESORT = 'nobody';

/**
 * Choose how to run PostgreSQL over data in `parent`, by trying.
 *
 * @param {Scope} scope
 * @param {string} programs folder of PostgreSQL's programs
 * @param {string} parent folder in which the data lies
 * @returns {Promise<Launcher>}
 * @throws {Failure} when this is root and no other user can be used
 */
export async function chooseLauncher(scope, programs, parent) {
  const setpriv = findSetpriv();
  if (process.getuid?.() !== 0) {
    return { prefix: (signal) => (setpriv ? [setpriv, '--pdeathsig', short(signal)] : []), options: {} };
  }
  const user = await someUser(scope);
  for (const launcher of launchersFor(user, setpriv)) {
    if (await works(scope, launcher, programs, parent)) return launcher;
  }
  throw new Failure(
    `PostgreSQL refuses to run as root, and the user ${user.name} may not enter ${parent}: ` +
      'move the checkout or --data to a folder that others may enter, run as an ordinary user, or set DATABASE_URL.',
  );
}

/**
 * From the plainest to the one that needs most of the system: as another user; as another user who may still enter what only
 * root may (a checkout below /root, say); as a user of a namespace that is root outside it.
 *
 * @param {User} user
 * @param {string | undefined} setpriv
 * @returns {Launcher[]}
 */
function launchersFor({ uid, gid }, setpriv) {
  const owner = { uid, gid };
  if (!setpriv) return [{ prefix: () => [], options: owner, owner }];
  const become = [setpriv, `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  // Without no_setuid_fixup, access(2) would deny what open(2) then allows, and initdb asks access(2) first.
  const capable = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const unshare = findProgram(['unshare'], ['/usr/bin', '/bin']);
  const launchers = [become, [...become, ...capable]].map((words) => ({
    prefix: (/** @type {NodeJS.Signals} */ signal) => [...words, '--pdeathsig', short(signal)],
    options: {},
    owner,
  }));
  if (!unshare) return launchers;
  const mapped = [unshare, '--user', `--map-user=${uid}`, `--map-group=${gid}`, setpriv];
  const inside = {
    prefix: (/** @type {NodeJS.Signals} */ signal) => [...mapped, '--pdeathsig', short(signal)],
    options: {},
    owner: { uid: 0, gid: 0 },
  };
  return [...launchers, inside];
}

/** @param {NodeJS.Signals} signal */
function short(signal) {
  return signal.replace(/^SIG/, '');
}

/**
 * @param {Scope} scope
 * @param {Launcher} launcher
 * @param {string} programs
 * @param {string} parent
 */
async function works(scope, { prefix, options, owner }, programs, parent) {
  const folder = join(parent, 'postgres.trial');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    if (owner) chownSync(folder, owner.uid, owner.gid);
    const trial = ['sh', '-c', '"$1" --version && : > "$2/file"', 'sh', join(programs, 'postgres'), folder];
    const [command = '', ...args] = [...prefix('SIGKILL'), ...trial];
    return (await runTool(scope, command, args, options)).code === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A user to run PostgreSQL as: one that is there for such a purpose, else a new system user.
 *
 * @param {Scope} scope
 * @returns {Promise<User>}
 */
async function someUser(scope) {
  const there = USERS.map(findUser).find(Boolean);
  if (there) return there;
  const useradd = findProgram(['useradd'], ['/usr/sbin', '/sbin']);
  if (useradd) {
    const args = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent'];
    await runTool(scope, useradd, [...args, '--shell', '/usr/sbin/nologin', 'millrace']);
  }
  const user = findUser('millrace') ?? findUser(LAST_RESORT);
  if (user) return user;
  throw new Failure('PostgreSQL refuses to run as root, and no user for it could be made: create one named millrace.');
}

/**
 * @param {string} name
 * @returns {User | undefined}
 */
function findUser(name) {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((text) => text.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? undefined : { name, uid: Number(uid), gid: Number(gid) };
}
