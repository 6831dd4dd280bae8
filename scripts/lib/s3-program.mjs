import { join } from 'node:path';
import process from 'node:process';
import { Failure, systemSentenceIn } from './failure.mjs';
import { makeFolder } from './files.mjs';
import { HOME } from './paths.mjs';
import { task } from './terminal.mjs';
import { findProgram, runTool } from './tools.mjs';

const NAME = 'versitygw';
const MODULE = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
/** Where it is built to; kept with the checkout, so that it is built once. */
const TOOLS = join(HOME, 'tools');
const GO_PLACES = ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin'];

/**
 * Find a real S3 server, one that verifies signatures, or build it where Go is.
 *
 * @param {import('./scope.mjs').Scope} scope
 * @returns {Promise<string>} the path of a versitygw
 * @throws {Failure} saying what to install
 */
export async function s3Program(scope) {
  const found = findProgram([NAME], [TOOLS]);
  if (found) return found;
  const go = findProgram(['go'], GO_PLACES);
  if (!go) {
    throw new Failure(
      'No S3 server for the tests was found: install versitygw or Go, or set S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID and S3_TEST_SECRET_ACCESS_KEY.',
    );
  }
  makeFolder(TOOLS);
  const env = { ...process.env, GOBIN: TOOLS, GOFLAGS: '-mod=mod', CGO_ENABLED: '0' };
  await task(scope, 'Building the S3 server of the tests', async () => {
    const { code, output } = await runTool(scope, go, ['install', MODULE], { env });
    if (code === 0) return;
    const reason = systemSentenceIn(output) ?? output.trim().split('\n').at(-1) ?? `go ended with code ${code}`;
    throw new Failure(
      `The S3 server of the tests could not be built (${reason}): install ${NAME}, or set S3_TEST_ENDPOINT.`,
    );
  });
  return join(TOOLS, NAME);
}
