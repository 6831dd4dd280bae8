import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, readlinkSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn } from './failure.mjs';
import { commandLineOf, endProcess, identify } from './processes.mjs';
import { runTool } from './tools.mjs';

/** @typedef {import('./scope.mjs').Scope} Scope */
/** @typedef {import('./postgres-launcher.mjs').Launcher} Launcher */

export const POSTGRES_USER = 'millrace';
/** @type {import('./processes.mjs').StopStep[]} */
export const POSTGRES_STOP = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
];
/** Line of postmaster.pid on which the server says how far it is. */
const STATUS_LINE = 7;

/** Nothing of the caller's own PostgreSQL set-up (PGDATA, PGPORT, PGOPTIONS…) reaches ours. */
export function postgresEnvironment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name)));
}

/**
 * Make the data under another name and rename it when it is whole, so that what stands at `dir` always is.
 *
 * @param {Scope} scope
 * @param {{ programs: string, launcher: Launcher, dir: string, password: string, throwaway: boolean }} options
 */
export async function initialize(scope, { programs, launcher, dir, password, throwaway }) {
  const fresh = `${dir}.new`;
  const passwordFile = `${dir}.password`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const path of [fresh, passwordFile]) {
      if (launcher.owner) chownSync(path, launcher.owner.uid, launcher.owner.gid);
    }
    const [command = '', ...args] = [
      ...launcher.prefix('SIGKILL'),
      join(programs, 'initdb'),
      `--pgdata=${fresh}`,
      `--username=${POSTGRES_USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      ...(throwaway ? ['--no-sync'] : []),
    ];
    const { code, output } = await runTool(scope, command, args, { ...launcher.options, env: postgresEnvironment() });
    if (code !== 0)
      throw new Failure(systemSentenceIn(output) ?? `The database could not be made: ${complaintIn(output)}`);
    renameSync(fresh, dir);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** @param {string} output */
function complaintIn(output) {
  const line = output.split('\n').find((text) => /error|FATAL/.test(text)) ?? output.trim().split('\n').at(-1);
  return line?.replace(/^.*?(error|FATAL): */, '') || 'initdb gave no reason.';
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
 * pid since, it is removed: PostgreSQL itself could not tell and would refuse to start.
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
