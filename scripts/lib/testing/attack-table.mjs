import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Failure } from '../command/index.mjs';

/**
 * What one attack did to another account, and how it was answered.
 *
 * @typedef {{
 *   resource: string,
 *   name: string,
 *   statuses: [status: number, count: number][],
 *   pollMs: number,
 *   startMs: number,
 *   peakMiB: number,
 * }} AttackRow
 * `statuses`: how many answers had each status; 0: the connection was cut. `pollMs`: 99th percentile of the other account's
 * polls. `startMs`: the slowest start of one of its jobs. `peakMiB`: largest memory of the api process.
 */

/**
 * One run of all attacks.
 *
 * @typedef {{ attacks: string[], rows: AttackRow[] }} AttackReport `attacks`: the names of all there are.
 */

const BEGIN = '<!-- attacks -->';
const END = '<!-- /attacks -->';
const COLUMNS = ['resource', 'one account sends', 'answers', 'polls of another', 'its jobs start within', 'memory'];

/**
 * Put the rows of one run between the two comments of a page that say where they belong, in place of all that is there: rows of different runs
 * cannot be compared.
 *
 * @param {string} path
 * @param {AttackReport} report
 * @param {{ commit: string, date: string }} run that made it: `date` as in 2026-12-31
 * @throws {Failure} when the page has no such comments, or the run lacks an attack
 */
export async function writeAttackTable(path, { attacks, rows }, { commit, date }) {
  const lacking = attacks.filter((name) => !rows.some((row) => row.name === name));
  if (lacking.length > 0) throw new Failure(`the table is not written: the run lacks ${lacking.join('; ')}`);
  // Not there before the packages are installed.
  const { format, resolveConfig } = await import('prettier');
  const page = readFileSync(path, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Failure(`${path} has no place for the table: ${BEGIN} … ${END}`);
  const cores =
    `Measured at commit ${commit} on ${date}, in one run on ${availableParallelism()} cores, which the attacker shares. ` +
    'The memory is that of the api process:';
  const text = `${page.slice(0, begin + BEGIN.length)}\n\n${cores}\n\n${tableOf(rows)}\n\n${page.slice(end)}`;
  writeFileSync(path, await format(text, { ...(await resolveConfig(path)), parser: 'markdown' }));
}

/** @param {AttackRow[]} rows */
function tableOf(rows) {
  const lines = rows.map(({ resource, name, statuses, pollMs, startMs, peakMiB }) => [
    resource,
    name,
    statuses.map(([status, count]) => `${count} × ${status === 0 ? 'cut' : status}`).join(', ') || 'none',
    `${Math.round(pollMs)} ms`,
    `${(startMs / 1_000).toFixed(1)} s`,
    `${Math.round(peakMiB)} MiB`,
  ]);
  const table = [COLUMNS, COLUMNS.map(() => '---'), ...lines];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
