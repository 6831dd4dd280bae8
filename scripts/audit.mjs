import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { Failure, readFlags, runCommand, say } from './lib/command/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { HOME, loadBuilt, readJson } from './lib/system/index.mjs';

/** @typedef {import('./lib/stack/stack.mjs').RunFile} RunFile */
/** @typedef {typeof import('../apps/maintenance/src/audit')} Maintenance */

const HELP = `npm run audit [-- flags]    prove the invariants of credits, jobs, the audit log and stored bytes; changes nothing
                            but notes of bytes that are lost, or are there again

  --data DIR     folder of the running stack to audit (.millrace)
  --archive      compare every segment of the audit log with its object in MILLRACE_AUDIT_BUCKET, not only the newest 20
  --segment NO   audit nothing: print the entries of a segment as its object has them, a line of JSON each

With DATABASE_URL set, that database is audited instead of the stack; bytes only when MILLRACE_BLOB_DIR or S3_BUCKET is set
too. Where that store has no bytes of the database, it is taken for another one, and nothing is noted. Exits with 1 when something is found.`;

/** Findings of one audit in the table. All are counted. */
const SHOWN = 1_000;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const flags = readFlags(HELP, {
    data: { type: 'string' },
    archive: { type: 'boolean' },
    segment: { type: 'string' },
  });
  const env = environmentOf(flags.data ?? HOME);
  await setUp(scope);
  const { openAudit } = /** @type {Maintenance} */ (loadBuilt('apps/maintenance/src/audit'));
  const audit = await openAudit(env, flags.archive ? 'all' : 'newest');
  scope.defer(() => audit.close());
  if (flags.segment !== undefined) return printSegment(audit, flags.segment);
  let count = 0;
  /** @type {string[][]} */
  const rows = [];
  for (const auditor of audit.auditors) {
    let found = 0;
    /** @type {Record<string, number>} */
    const seen = {};
    for await (const { check, subject, detail } of auditor.findings(seen)) {
      scope.check();
      found += 1;
      if (found <= SHOWN) rows.push([auditor.name, check, subject, detail]);
    }
    say(`  ${found === 0 ? '✓' : '✗'} ${auditor.name}${countsOf(seen)}`);
    if (found > SHOWN) say(`    the first ${SHOWN} of ${found} are listed`);
    count += found;
  }
  if (!audit.auditors.some(({ name }) => name === 'storage')) say('  – storage: not looked at, no blob store is named');
  for (const line of tableOf(rows)) say(line);
  say(count === 0 ? 'Every invariant holds.' : `${count} finding${count === 1 ? '' : 's'}.`);
  return count === 0 ? 0 : 1;
}

/**
 * @param {import('../apps/maintenance/src/audit').OpenAudit} audit
 * @param {string} segment
 */
async function printSegment(audit, segment) {
  if (!/^\d{1,18}$/.test(segment)) throw new Failure('--segment takes the number of a segment.');
  for await (const line of audit.archivedSegment(BigInt(segment))) say(line);
  return 0;
}

/** @param {Record<string, number>} seen */
function countsOf(seen) {
  const counts = Object.entries(seen).map(([what, count]) => `${count} ${what}`);
  return counts.length === 0 ? '' : `: ${counts.join(', ')}`;
}

/**
 * What is audited: the database that the environment names, else the stack that runs on a folder.
 *
 * @param {string} data
 * @returns {NodeJS.ProcessEnv}
 */
function environmentOf(data) {
  if (process.env.DATABASE_URL) return process.env;
  const path = join(resolve(data), 'run.json');
  if (!existsSync(path)) {
    throw new Failure(`No stack runs on ${dirname(path)}: start one with npm start, or set DATABASE_URL.`);
  }
  const run = /** @type {RunFile} */ (readJson(path));
  const bytes = run.blobStore === 'fs' ? { MILLRACE_BLOB_DIR: join(dirname(path), 'blobs') } : {};
  return { ...bytes, ...process.env, DATABASE_URL: run.databaseUrl };
}

/** @param {string[][]} rows */
function tableOf(rows) {
  if (rows.length === 0) return [];
  const all = [['AUDIT', 'CHECK', 'SUBJECT', 'FINDING'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return ['', ...all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')), ''];
}

await runCommand(main);
