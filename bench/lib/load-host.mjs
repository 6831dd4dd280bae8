// The process of a load generator: calls exported functions of the module it was given, one per message.
import process from 'node:process';
import { pathToFileURL } from 'node:url';

/**
 * @typedef {{ id: number, name: string, input: object }} LoadCall
 * @typedef {{ id: number, result?: unknown, failure?: string }} LoadAnswer
 */

const load = await import(pathToFileURL(process.argv[2] ?? '').href);

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  const { id, name, input } = /** @type {LoadCall} */ (message);
  Promise.resolve(load[name](input)).then(
    (result) => process.send?.({ id, result }),
    (error) => process.send?.({ id, failure: `${name}: ${String(error?.message ?? error)}` }),
  );
});
