import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, task } from '../command/index.mjs';
import { DATABASE } from '../postgres/index.mjs';
import { onDatabase } from '../prisma/index.mjs';
import { readSecrets, startTestS3 } from '../servers/index.mjs';
import { Fleet, claimFolder, temporaryFolder } from '../services/index.mjs';
import { choosePorts, startStack, withoutSettings } from '../stack/index.mjs';
import { DIST, loadBuilt, runTool } from '../system/index.mjs';
import { PLACES } from './backup.mjs';
import { Buckets } from './buckets.mjs';
import { keysOf, runUntilLost } from './disaster.mjs';
import { call, graphOf, submit } from './load.mjs';
import { restoreDatabase } from './restore.mjs';

/** @typedef {import('../command/scope.mjs').Scope} Scope */
/** @typedef {import('../stack/stack.mjs').RunFile} RunFile */
/** @typedef {import('./disaster.mjs').Loss} Loss */
/** @typedef {typeof import('../../../apps/maintenance/src/audit')} Maintenance */

/**
 * `disaster`: `machine` takes all at once, `mistake` is a statement of somebody. `seconds`: how long the stack serves before it.
 * `roundSeconds`: the rest between two rounds of the backup.
 *
 * @typedef {{ disaster: 'machine' | 'mistake', seconds: number, roundSeconds: number }} DrillOptions
 */

/**
 * The buckets of a drill: of the stack and of its backups. `settings`: what makes a stack use the first.
 *
 * @typedef {{ buckets: Buckets, bucket: string, backups: string, settings: Record<string, string> }} Store
 */

/**
 * What a drill showed. `missing`: jobs that were acknowledged before the restore point and are not there afterwards. `gone`: those
 * acknowledged after it. `rpoMs`: from the restore point to the disaster; `rtoMs`: from the begin of the restore until a new
 * job had succeeded. `erased`: what became of a job that was erased after the restore
 * point, in a sentence; null: none was. `returned`: objects of a job that was erased before it. `findings`: what the audit found. `storage`: the
 * last line of `verify-storage`.
 *
 * @typedef {{
 *   acknowledged: number,
 *   kept: number,
 *   gone: number,
 *   missing: string[],
 *   unfinished: number,
 *   erased: string | null,
 *   returned: string[],
 *   rpoMs: number,
 *   rtoMs: number,
 *   findings: string[],
 *   storage: string,
 *   isSound: boolean,
 * }} DrillReport
 */

export const ERASED_AGAIN = 'What was erased after the restore point was erased again.';
const END_LIMIT_MS = 180_000;
const POLL_MS = 100;

/**
 * Lose a whole stack under load and restore it from its backup, then check what came back.
 *
 * @param {Scope} scope
 * @param {DrillOptions} options
 * @returns {Promise<DrillReport>}
 */
export async function runDrill(scope, options) {
  const folder = await temporaryFolder(scope, 'drill');
  const store = await openStore(scope, new Fleet(scope, folder));
  const loss = await runUntilLost(scope, folder.at('lost'), store, options);
  return scope.within(async (own) => {
    const beganMs = Date.now();
    const { run, settings } = await restoreStack(own, folder.at('restored'), store, loss);
    await task(own, 'Running a new job', () => runJob(run));
    const rtoMs = Date.now() - beganMs;
    const unfinished = await task(own, 'Waiting for the jobs that were there to end', () => untilAllEnded(run));
    return {
      ...(await check(own, run, settings, loss)),
      returned: await keysOf(store, loss.erasedBefore.hashes),
      unfinished,
      rpoMs: loss.lostAtMs - loss.point.atMs,
      rtoMs,
    };
  });
}

/**
 * @param {Scope} scope
 * @param {Fleet} fleet
 * @returns {Promise<Store>}
 */
async function openStore(scope, fleet) {
  const server = await startTestS3(fleet, process.env);
  const buckets = new Buckets(server);
  scope.defer(() => buckets.close());
  const name = `drill-${randomBytes(4).toString('hex')}`;
  const [bucket, backups] = [name, `${name}-backups`];
  for (const made of [bucket, backups]) {
    await buckets.make(made);
    scope.defer(() => buckets.remove(made));
  }
  const { endpoint, accessKeyId, secretAccessKey } = server;
  const access = { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey };
  const settings = { ...access, S3_ENDPOINT: endpoint, S3_BUCKET: bucket };
  return { buckets, bucket, backups, settings };
}

/**
 * @param {Scope} scope
 * @param {string} path of an empty folder
 * @param {Store} store
 * @param {Loss} loss
 */
async function restoreStack(scope, path, store, { point }) {
  const { buckets, bucket, backups } = store;
  const folder = await claimFolder(scope, path);
  const fleet = new Fleet(scope, folder);
  await buckets.getFile(backups, PLACES.secrets, folder.at('secrets.json'));
  const password = readSecrets(folder.at('secrets.json')).postgresPassword;
  const url = await task(scope, `Restoring the database to ${point.at}`, () =>
    restoreDatabase(fleet, { buckets, from: backups, point, password }),
  );
  await task(scope, 'Restoring the bytes', async () => {
    for (const place of [PLACES.blobs, PLACES.notes]) await buckets.copyMissing(backups, bucket, place);
  });
  const ports = await choosePorts(folder, { port: 0, opsPort: 0 });
  const settings = { ...store.settings, DATABASE_URL: url(DATABASE) };
  const { secretKey } = readSecrets(folder.at('secrets.json'));
  const whole = { ...settings, MILLRACE_SECRET_KEY: secretKey };
  const offline = { ...whole, REDIS_URL: 'redis://unused' };
  // Before anyone is served: nothing of who was erased is shown again.
  await task(scope, 'Asking again for what was erased', async () => {
    const { code, output } = await runProgram(scope, 'reapply-erasures', offline);
    if (code !== 0) throw new Failure(`Erasures could not be asked for again: ${output.trim()}`);
  });
  await task(scope, 'Removing the bytes of what the database does not name', async () => {
    const { isSound, output } = await verifyStorage(scope, offline, ['--remove-strays']);
    if (!isSound) throw new Failure(`The bytes did not come back: ${output.trim()}`);
  });
  const run = await startStack(scope, folder, { ...ports, surface: 'cloud', workers: 1, settings }, fleet);
  return { run, settings: { ...whole, REDIS_URL: run.redisUrl } };
}

/** @param {RunFile} run */
async function runJob(run) {
  const id = await submit(run, graphOf(Date.now() % 0xff_ff_ff));
  const until = Date.now() + END_LIMIT_MS;
  for (;;) {
    const { status } = /** @type {{ status: string }} */ (await (await call(run, `/api/v2/jobs/${id}`)).json());
    if (status === 'succeeded') return;
    if (status === 'failed' || Date.now() > until) throw new Failure(`The first job after the restore is ${status}.`);
    await sleep(POLL_MS);
  }
}

/**
 * @param {RunFile} run
 * @returns {Promise<number>} jobs that have not ended in time
 */
async function untilAllEnded({ databaseUrl }) {
  const until = Date.now() + END_LIMIT_MS;
  const query = 'SELECT count(*)::int AS waiting FROM jobs WHERE completed_at IS NULL';
  for (;;) {
    /** @type {import('pg').QueryResult<{ waiting: number }>} */
    const { rows } = await onDatabase(databaseUrl, (client) => client.query(query));
    const waiting = rows[0]?.waiting ?? 0;
    if (waiting === 0 || Date.now() > until) return waiting;
    await sleep(POLL_MS);
  }
}

/**
 * @param {Scope} scope
 * @param {RunFile} run
 * @param {Record<string, string>} settings
 * @param {Loss} loss
 */
async function check(scope, run, settings, { acknowledged, point, erasedBefore, erasedId }) {
  /** @type {string[]} */
  const missing = [];
  let kept = 0;
  await task(scope, 'Asking for every job that was acknowledged', async () => {
    for (const { id, atMs } of acknowledged) {
      const { status } = await call(run, `/api/v2/jobs/${id}`);
      if (id === erasedBefore.jobId || id === erasedId) continue;
      if (status === 200) kept += 1;
      else if (atMs < point.atMs) missing.push(`${id} (answered with ${status})`);
    }
  });
  const erased = erasedId === null ? null : await task(scope, 'Erasing again', () => whatIsLeftOf(run, erasedId));
  const findings = await task(scope, 'Auditing credits, jobs and bytes', () => auditOf(scope, settings));
  const { storage, isSound } = await task(scope, 'Reading every byte', () => verifyStorage(scope, settings));
  const gone = acknowledged.length - kept - missing.length - (erasedId === null ? 1 : 2);
  return { acknowledged: acknowledged.length, kept, gone, missing, erased, findings, storage, isSound };
}

/**
 * @param {RunFile} run
 * @param {string} jobId that was erased before the database was restored
 * @returns {Promise<string>} a sentence
 */
async function whatIsLeftOf(run, jobId) {
  const query = "SELECT count(*)::int AS open FROM erasures WHERE job_id = $1 AND state <> 'done'";
  for (const until = Date.now() + END_LIMIT_MS; Date.now() < until; await sleep(POLL_MS)) {
    /** @type {import('pg').QueryResult<{ open: number }>} */
    const { rows } = await onDatabase(run.databaseUrl, (client) => client.query(query, [jobId]));
    if (rows[0]?.open === 0) break;
  }
  const { status } = await call(run, `/api/v2/jobs/${jobId}`);
  return status === 404 ? ERASED_AGAIN : `The job ${jobId}, which had been erased, came back with the restore.`;
}

/**
 * @param {Scope} scope
 * @param {Record<string, string>} settings
 * @returns {Promise<string[]>} what breaks an invariant
 */
async function auditOf(scope, settings) {
  const { openAudit } = /** @type {Maintenance} */ (loadBuilt('apps/maintenance/src/audit'));
  const audit = await openAudit(settings);
  const close = scope.defer(() => audit.close());
  const findings = [];
  for (const auditor of audit.auditors) {
    for await (const { check: broken, subject, detail } of auditor.findings()) {
      findings.push(`${broken} ${subject}: ${detail}`);
    }
  }
  await close();
  return findings;
}

/**
 * @param {Scope} scope
 * @param {Record<string, string>} settings
 * @param {string[]} [flags]
 */
async function verifyStorage(scope, settings, flags = []) {
  const { code, output } = await runProgram(scope, 'verify-storage', settings, flags);
  return { storage: output.trim().split('\n').at(-1) ?? '', isSound: code === 0, output };
}

/**
 * Run a program of the image maintenance.
 *
 * @param {Scope} scope
 * @param {string} name
 * @param {Record<string, string>} settings
 * @param {string[]} [flags]
 */
async function runProgram(scope, name, settings, flags = []) {
  const program = join(DIST, 'apps', 'maintenance', 'src', `${name}.js`);
  if (!existsSync(program)) throw new Failure(`${program} is missing: it comes with the build.`);
  return runTool(scope, process.execPath, [program, ...flags], {
    env: { ...withoutSettings(process.env), ...settings },
  });
}
