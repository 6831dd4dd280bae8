import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn } from '../command/index.mjs';
import { commandLineOf, endProcess, identify, runTool } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('./postgres-launcher.mjs').Launcher} Launcher */

export const POSTGRES_USER = 'millrace';
/** @type {import('../system/processes.mjs').StopStep[]} */
export const POSTGRES_STOP = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];
/** What decides how data is made, besides the version of PostgreSQL. */
export const INITDB_OPTIONS = [
  `--username=${POSTGRES_USER}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
];
/** Line of postmaster.pid on which the server says how far it is. */
const STATUS_LINE = 7;

/** Nothing of the caller's own PostgreSQL set-up (PGDATA, PGPORT, PGOPTIONS…) reaches ours. */
export function postgresEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name)));
}

/**
 * What data is made with. `seed`: data to copy, rather than to begin with nothing. `throwaway`: a crash of the machine may
 * cost it.
 *
 * @typedef {{
 *   programs: string,
 *   launcher: Launcher,
 *   dir: string,
 *   password: string,
 *   throwaway: boolean,
 *   seed?: string,
 * }} DataOptions
 */

/**
 * Make the data under another name and rename it when it is whole, so that what stands at `dir` always is.
 *
 * @param {Scope} scope
 * @param {DataOptions} options
 */
export async function makeData(scope, options) {
  const fresh = `${options.dir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  try {
    if (options.seed === undefined) await initialize(scope, fresh, options);
    else await copySeed(scope, fresh, options.seed, options);
    renameSync(fresh, options.dir);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * @param {Scope} scope
 * @param {string} fresh
 * @param {DataOptions} options
 */
async function initialize(scope, fresh, { programs, launcher, dir, password, throwaway }) {
  const passwordFile = `${dir}.password`;
  mkdirSync(fresh, { mode: 0o700 });
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const path of [fresh, passwordFile]) {
      if (launcher.owner) chownSync(path, launcher.owner.uid, launcher.owner.gid);
    }
    const sync = throwaway ? ['--no-sync'] : [];
    const args = [`--pgdata=${fresh}`, `--pwfile=${passwordFile}`, ...INITDB_OPTIONS, ...sync];
    await runProgram(scope, launcher, [join(programs, 'initdb'), ...args]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/**
 * @param {Scope} scope
 * @param {string} fresh
 * @param {string} seed
 * @param {DataOptions} options
 */
async function copySeed(scope, fresh, seed, { programs, launcher, password, throwaway }) {
  const { code, output } = await runTool(scope, 'cp', ['-Rp', seed, fresh]);
  if (code !== 0) throw notMade(output);
  await giveTo(scope, launcher, fresh);
  const statement = `ALTER ROLE ${POSTGRES_USER} PASSWORD '${password.replaceAll("'", "''")}';\n`;
  await runProgram(scope, launcher, [join(programs, 'postgres'), '--single', '-D', fresh, 'postgres'], statement);
  if (!throwaway) await runProgram(scope, launcher, [join(programs, 'initdb'), '--sync-only', `--pgdata=${fresh}`]);
}

/**
 * @param {Scope} scope
 * @param {Launcher} launcher
 * @param {string[]} commandLine
 * @param {string} [input]
 * @throws {Failure} with its reason; a server alone ends well even when its statement did not
 */
async function runProgram(scope, launcher, commandLine, input) {
  const [command = '', ...args] = [...launcher.prefix('SIGKILL'), ...commandLine];
  const options = { ...launcher.options, env: postgresEnvironment(), input };
  const { code, output } = await runTool(scope, command, args, options);
  if (code !== 0 || /\b(ERROR|FATAL): /.test(output)) throw notMade(output);
}

/** @param {string} output */
function notMade(output) {
  return new Failure(systemSentenceIn(output) ?? `The database could not be made: ${complaintIn(output)}`);
}

/** @param {string} output */
function complaintIn(output) {
  const line = output.split('\n').find((text) => /error|FATAL/i.test(text)) ?? output.trim().split('\n').at(-1);
  return line?.replace(/^.*?(error|FATAL): */i, '') || 'PostgreSQL gave no reason.';
}

/**
 * @param {string} programs
 * @param {string} dir
 * @throws {Failure} when another major version made the data
 */
export function assertVersion(programs, dir) {
  const answer = spawnSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout;
  const wanted = /\d+/.exec(answer ?? '')?.[0];
  const found = readFileSync(join(dir, 'PG_VERSION'), 'utf8').trim();
  if (found === wanted) return;
  throw new Failure(`${dir} was made by PostgreSQL ${found}, this is ${wanted}: move it away, or set DATABASE_URL.`);
}

/**
 * Data that an earlier run made as another user becomes the launcher's.
 *
 * @param {Scope} scope
 * @param {Launcher} launcher
 * @param {string} dir
 */
export async function giveTo(scope, { owner }, dir) {
  if (!owner || statSync(dir).uid === owner.uid) return;
  await runTool(scope, 'chown', ['-R', `${owner.uid}:${owner.gid}`, dir]);
}

/**
 * The server says in postmaster.pid who it is and how far: that it is the one just started needs no connection.
 *
 * @param {string} dir
 * @param {number} pid
 */
export function isServing(dir, pid) {
  const lines = postmasterFile(dir);
  return Number(lines[0]) === pid && lines[STATUS_LINE]?.trim() === 'ready';
}

/**
 * Stop a server that a killed supervisor left over this data. Where postmaster.pid names some other process that got the
 * pid since, it is removed: PostgreSQL would take that process for its own server and refuse to start.
 *
 * @param {string} dir
 */
export async function endLeftover(dir) {
  const pid = Number(postmasterFile(dir)[0]);
  const identity = pid ? identify(pid) : undefined;
  if (!identity) return;
  if (!servesFrom(dir, pid)) return rmSync(join(dir, 'postmaster.pid'));
  if (await endProcess(identity, POSTGRES_STOP)) return;
  throw new Failure(`A PostgreSQL server (pid ${pid}) still runs over ${dir} and does not stop: end it yourself.`);
}

/**
 * @param {string} dir
 * @param {number} pid
 */
function servesFrom(dir, pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dir);
  } catch {
    return commandLineOf(pid).includes(dir);
  }
}

/** @param {string} dir */
function postmasterFile(dir) {
  try {
    return readFileSync(join(dir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}
