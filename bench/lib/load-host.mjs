// The process of a load generator: calls exported functions of the module it was given, one per message.
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { built } from './built.mjs';

/**
 * @typedef {{ id: number, name: string, input: object }} LoadCall
 * @typedef {{ id: number, result?: unknown, failure?: string }} LoadAnswer
 */

// Floors are not to be slower for the Redis client that some generators load.
built('libs/platform/src/string-methods').keepStringMethodsFast();

/** @type {unknown} */
const module = await import(pathToFileURL(process.argv[2] ?? '').href);
const functions = /** @type {Record<string, (input: object) => unknown>} */ (module);

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  const { id, name, input } = /** @type {LoadCall} */ (message);
  call(name, input).then(
    (result) => process.send?.({ id, result }),
    (/** @type {unknown} */ error) => process.send?.({ id, failure: `${name}: ${sentenceOf(error)}` }),
  );
});

/**
 * @param {string} name
 * @param {object} input
 */
async function call(name, input) {
  const act = functions[name];
  if (act === undefined) throw new Error('the module exports no such function');
  return act(input);
}

/** @param {unknown} error */
function sentenceOf(error) {
  return error instanceof Error ? error.message : String(error);
}
