import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { findProgram, runTool } from '../system/index.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */

const NAMES = ['redis-server', 'valkey-server'];
const PLACES = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/opt/homebrew/bin',
  '/usr/local/opt/redis/bin',
  '/home/linuxbrew/.linuxbrew/bin',
];
/** The oldest that BullMQ recommends. */
const OLDEST = [6, 2];
/** Debian's way to keep a freshly installed service from being started: 101 is "forbidden". */
const POLICY = '/usr/sbin/policy-rc.d';
const POLICY_MARK = '# Millrace: while it installs Redis, the package starts no service.';
const SYSTEMD = '/run/systemd/system';
/** What serves them instead; a stack of its own, such as the demo's, takes no server of others. */
const OR_SERVER = 'or set REDIS_URL, which npm start, npm run dev and npm test use';
const APT = ['-q', '-o', 'DPkg::Lock::Timeout=120'];

/**
 * Find a Redis or Valkey server on this machine, or install one where nobody need be asked.
 *
 * @param {Scope} scope
 * @returns {Promise<string>} its path
 * @throws {Failure} saying what to install
 */
export async function redisProgram(scope) {
  const path = findProgram(NAMES, PLACES);
  if (path) return assertRecent(path);
  const apt = process.getuid?.() === 0 && existsSync('/etc/debian_version') ? findProgram(['apt-get']) : undefined;
  if (!apt) throw new Failure(`No Redis server was found: ${howToInstall()}, ${OR_SERVER}.`);
  await task(scope, 'Installing Redis', () => installByApt(scope, apt));
  const installed = findProgram(NAMES, PLACES);
  if (!installed)
    throw new Failure(`Redis was installed, yet no redis-server is there: install it by hand, ${OR_SERVER}.`);
  return assertRecent(installed);
}

function howToInstall() {
  if (process.platform === 'darwin') return 'install it with `brew install redis`';
  if (existsSync('/etc/debian_version')) return 'install it with `sudo apt-get install redis-server`';
  return "install Redis or Valkey 7 with the system's package manager";
}

/** @param {string} path */
function assertRecent(path) {
  const answer = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const version = /v=(\d+)\.(\d+)[\d.]*/.exec(answer);
  const [major = 0, minor = 0] = version?.slice(1).map(Number) ?? [];
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST;
  if (!version || major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    const found = version ? `is version ${version[0].slice(2)}` : 'does not report its version';
    throw new Failure(`${path} ${found}; Millrace needs Redis ${OLDEST.join('.')} or newer, ${OR_SERVER}.`);
  }
  return path;
}

/**
 * @param {Scope} scope
 * @param {string} apt
 */
async function installByApt(scope, apt) {
  const allow = forbidStart();
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  try {
    // Finishes what an installation that was cut off has left; without that apt-get refuses to work.
    await runTool(scope, 'dpkg', ['--configure', '-a'], { env, unbroken: true });
    // One of several package sources may be out of reach; whether Redis can be had shows at the installation.
    await runTool(scope, apt, ['update', ...APT], { env });
    const install = ['install', ...APT, '-y', '--no-install-recommends', 'redis-server'];
    await runTool(scope, apt, [...install, '--download-only'], { env });
    // Broken off here, it would leave the machine's packages half configured.
    const { code, output } = await runTool(scope, apt, install, { env, unbroken: true });
    if (code !== 0)
      throw new Failure(
        `Redis could not be installed (${complaintIn(output, code)}); install it by hand, ${OR_SERVER}.`,
      );
    // It must not start at the next boot either: nobody asked for a service.
    if (existsSync(SYSTEMD)) await runTool(scope, 'systemctl', ['disable', 'redis-server'], { env });
  } finally {
    allow();
  }
}

/**
 * @param {string} output
 * @param {number | null} code
 */
function complaintIn(output, code) {
  const line = output.split('\n').find((text) => /^E: /.test(text));
  return systemSentenceIn(output) ?? line?.slice(3) ?? `apt-get ended with code ${code}`;
}

/**
 * Keep the package from starting its service. Where the machine already has a rule about that, it stays.
 *
 * @returns {() => void} takes the rule away
 */
function forbidStart() {
  if (existsSync(POLICY) && !readFileSync(POLICY, 'utf8').includes(POLICY_MARK)) return () => undefined;
  const rule = `kill -0 ${process.pid} 2>/dev/null && case "$1" in redis*) exit 101 ;; esac`;
  writeFileSync(POLICY, `#!/bin/sh\n${POLICY_MARK}\n${rule}\nexit 0\n`, { mode: 0o755 });
  return () => rmSync(POLICY, { force: true });
}
