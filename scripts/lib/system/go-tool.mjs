import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn, task } from '../command/index.mjs';
import { makeFolder } from './files.mjs';
import { HOME } from './paths.mjs';
import { findProgram, runTool } from './tools.mjs';

/** Where programs of the tests are kept with the checkout, so that each is fetched or built once. */
export const TOOLS = join(HOME, 'tools');
const GO_PLACES = ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin'];

/**
 * A program written in Go.
 *
 * @typedef {{
 *   name: string,
 *   module: string,
 *   what: string,
 *   instead: string,
 * }} GoTool
 * `module`: path and version, as `go install` takes them. `what`: what it is to the user, e.g. "the S3 server of the tests".
 * `instead`: what to do where there is no Go.
 */

/**
 * Build a program with `go install` into TOOLS.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @param {GoTool} tool
 * @returns {Promise<string>} its path
 * @throws {Failure} saying what to install
 */
export async function buildGoTool(scope, { name, module, what, instead }) {
  const go = findProgram(['go'], GO_PLACES);
  if (!go) throw new Failure(`${capital(what)} was not found: ${instead}.`);
  makeFolder(TOOLS);
  const env = { ...process.env, GOBIN: TOOLS, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  await task(scope, `Building ${what}`, async () => {
    const { code, output } = await runTool(scope, go, ['install', module], { env });
    if (code === 0) return;
    const reason = systemSentenceIn(output) ?? output.trim().split('\n').at(-1) ?? `go ended with code ${code}`;
    throw new Failure(`${capital(what)} could not be built (${reason}): ${instead}.`);
  });
  return join(TOOLS, name);
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
