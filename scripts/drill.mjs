import process from 'node:process';
import { duration, oneOf, readFlags, runCommand, say, wholeNumber } from './lib/command/index.mjs';
import { setUp } from './lib/setup/index.mjs';
import { withoutSettings } from './lib/stack/index.mjs';

/** @typedef {import('./lib/drill/drill.mjs').DrillReport} DrillReport */

const DISASTERS = /** @type {const} */ (['machine', 'mistake']);
const HELP = `npm run drill [-- flags]    lose a stack of its own under load, restore it from its backup, and check what came back

  --disaster KIND      machine: all is lost at once, and the stack is restored to the last round of its backup
                       mistake: somebody empties a table, and the stack is restored to the moment before; a job that was erased
                       meanwhile is erased again (machine)
  --seconds N          how long the stack serves before that (15)
  --round-seconds N    the rest between two rounds of the backup (2)

Prints what was lost (RPO) and how long it took until a new job had succeeded (RTO). Exits with 1 when a job that was acknowledged
before the restore point is missing, a job does not end, what was erased comes back (a job that was erased after the restore point, the
bytes of one that was erased before it), or the audit finds something.`;

/** @param {import('./lib/command/scope.mjs').Scope} scope */
async function main(scope) {
  const text = { type: /** @type {const} */ ('string') };
  const flags = readFlags(HELP, { disaster: text, seconds: text, 'round-seconds': text });
  const disaster = oneOf('--disaster', flags.disaster ?? 'machine', DISASTERS);
  const seconds = wholeNumber('--seconds', flags.seconds, { fallback: 15, least: 1, most: 3_600 });
  const roundSeconds = wholeNumber('--round-seconds', flags['round-seconds'], { fallback: 2, least: 1, most: 600 });
  await setUp(scope, withoutSettings(process.env));
  // Loaded here: the packages are installed by then.
  const { ERASED_AGAIN, runDrill } = await import('./lib/drill/index.mjs');
  return print(await runDrill(scope, { disaster, seconds, roundSeconds }), ERASED_AGAIN);
}

/**
 * @param {DrillReport} report
 * @param {string} erasedAgain what the report should say of what was erased
 * @returns {number} the exit code
 */
function print(
  { acknowledged, kept, gone, missing, unfinished, rpoMs, rtoMs, erased, returned, findings, storage, isSound },
  erasedAgain,
) {
  say();
  say(
    `RPO ${duration(rpoMs)}: of ${acknowledged} jobs that were acknowledged, ${kept} are there and ${gone} are gone.`,
  );
  say(`RTO ${duration(rtoMs)}: from the begin of the restore until a new job had succeeded.`);
  say(`Bytes: ${storage}`);
  if (erased !== null) say(erased);
  for (const job of missing.slice(0, 20)) say(`Missing, acknowledged before the restore point: ${job}`);
  if (unfinished > 0) say(`${unfinished} jobs did not end.`);
  for (const key of returned) say(`Erased before the restore point, and there again: ${key}`);
  if (returned.length === 0) say('The bytes of what was erased before the restore point are gone.');
  for (const finding of findings.slice(0, 20)) say(`Finding: ${finding}`);
  if (kept === 0) say('No job that was acknowledged is there: this drill proves nothing.');
  const isBack = erased !== null && erased !== erasedAgain;
  const faults = [!isSound, kept === 0, isBack].filter(Boolean).length;
  const broken = missing.length + returned.length + unfinished + findings.length + faults;
  say(broken === 0 ? 'Every invariant holds.' : `${broken} breaches.`);
  return broken === 0 ? 0 : 1;
}

await runCommand(main);
