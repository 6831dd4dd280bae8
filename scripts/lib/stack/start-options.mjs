import { resolve } from 'node:path';
import process from 'node:process';
import { misuse, oneOf, readFlags, wholeNumber } from '../command/index.mjs';
import { HOME, loadBuilt } from '../system/index.mjs';

const SURFACES = /** @type {const} */ (['cloud', 'self_hosted']);
const ENGINES = /** @type {const} */ (['cpu', 'comfyui']);
const HELP = `npm start -- [flags]    the whole stack in the foreground; Ctrl-C stops it

  --port N              port of the public API; 0 takes a free one; by default 8080 where it is free
  --ops-port N          port for operators: health, metrics, admin API; 0 takes a free one
  --data DIR            where database, files, secrets and logs are kept (.millrace)
  --surface S           cloud (accounts, API keys, credits) or self_hosted
  --token T             the one bearer token of the self_hosted surface; open without it
  --workers N           number of workers (1; 0 with --remote-workers)
  --remote-workers N    number of workers that join by a gateway, as machines outside do (0)
  --engine E            cpu, or comfyui with --comfyui-url
  --comfyui-url URL     address of a running ComfyUI
  --set NAME=VALUE      any other setting, e.g. --set LEASE_SECONDS=5; may be repeated

DATABASE_URL, REDIS_URL, S3_ENDPOINT and S3_BUCKET in the environment are used where given; embedded parts where not.`;
/** Settings that are known by a name of their own, without the prefix. */
const SHARED_NAME = /^(DATABASE_URL|REDIS_URL|S3_[A-Z_]+|OTEL_[A-Z_]+)$/;
const MOST_WORKERS = 64;
const LAST_PORT = 65_535;
/** The port that the docs name. */
const USUAL_PORT = 8_080;

/** @typedef {import('./stack.mjs').StackOptions} StackOptions */

/**
 * Read the flags of `npm start`. A flag wins over `--set`, that over the environment.
 *
 * @returns {StackOptions & { data: string, usualPort: number | undefined }}
 */
export function readStartOptions() {
  const text = { type: /** @type {const} */ ('string') };
  const flags = readFlags(HELP, {
    port: text,
    'ops-port': text,
    data: text,
    surface: text,
    token: text,
    workers: text,
    'remote-workers': text,
    engine: text,
    'comfyui-url': text,
    set: { ...text, multiple: true },
  });
  const settings = Object.fromEntries((flags.set ?? []).map(parseSetting));
  const given = { ...process.env, ...settings };
  const ports = { fallback: 0, least: 0, most: LAST_PORT };
  const surface = oneOf('--surface', flags.surface ?? (given.MILLRACE_SURFACE || 'cloud'), SURFACES);
  const engine = oneOf('--engine', flags.engine ?? (given.MILLRACE_ENGINE || 'cpu'), ENGINES);
  const comfyuiUrl = flags['comfyui-url'] ?? given.MILLRACE_COMFYUI_URL;
  if (engine === 'comfyui' && !comfyuiUrl) throw misuse('--engine comfyui needs --comfyui-url');
  if (flags.token !== undefined && surface === 'cloud') throw misuse('--token belongs to --surface self_hosted');
  settings.MILLRACE_ENGINE = engine;
  if (comfyuiUrl) settings.MILLRACE_COMFYUI_URL = comfyuiUrl;
  if (flags.token !== undefined) settings.MILLRACE_TOKEN = flags.token;
  const remoteWorkers = wholeNumber('--remote-workers', flags['remote-workers'], {
    fallback: 0,
    least: 0,
    most: MOST_WORKERS,
  });
  const port = flags.port ?? (given.MILLRACE_PORT || undefined);
  const own = { fallback: remoteWorkers > 0 ? 0 : 1, least: 0, most: MOST_WORKERS };
  return {
    data: resolveData(flags.data),
    surface,
    usualPort: port === undefined ? USUAL_PORT : undefined,
    port: wholeNumber('--port', port, ports),
    opsPort: wholeNumber('--ops-port', flags['ops-port'] ?? (given.MILLRACE_OPS_PORT || undefined), ports),
    workers: wholeNumber('--workers', flags.workers, own),
    remoteWorkers,
    environment: process.env,
    settings,
  };
}

/** @param {string | undefined} data relative to where the user is, which npm leaves for the checkout's root */
function resolveData(data) {
  if (data === '') throw misuse('--data takes a folder');
  return data === undefined ? HOME : resolve(process.env.INIT_CWD ?? process.cwd(), data);
}

/**
 * @param {string} assignment
 * @returns {[string, string]}
 */
export function parseSetting(assignment) {
  const match = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(assignment);
  if (!match) throw misuse(`--set takes NAME=VALUE with a name in capitals, not «${assignment}»`);
  const [, name = '', value = ''] = match;
  return [SHARED_NAME.test(name) || name.startsWith('MILLRACE_') ? name : `MILLRACE_${name}`, value];
}

/**
 * For after set-up, which builds the list of settings.
 *
 * @param {Record<string, string>} settings
 * @param {string[]} known the names of all settings
 * @throws {Failure} naming the first that no process reads: with a typing error in its name it would change nothing
 */
export function assertKnown(settings, known) {
  const unknown = Object.keys(settings).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const { NameIndex } = /** @type {typeof import('../../../libs/workflow/src/validation/suggestion.js')} */ (
    loadBuilt('libs/workflow/src/validation/suggestion')
  );
  const name = withoutPrefix(unknown);
  const nearest = new NameIndex(known.map(withoutPrefix)).nearest(name, { pairs: Number.POSITIVE_INFINITY });
  throw misuse(`--set ${name} names no setting: ${nearest ? `did you mean ${nearest}? See` : 'see'} docs/settings.md`);
}

/** @param {string} name */
function withoutPrefix(name) {
  return name.replace(/^MILLRACE_/, '');
}
