import { TOOLS, buildGoTool, findProgram } from '../system/index.mjs';

const NAME = 'versitygw';

/**
 * Find a real S3 server, one that verifies signatures, or build it where Go is.
 *
 * @param {import('../command/scope.mjs').Scope} scope
 * @returns {Promise<string>} the path of a versitygw
 * @throws {import('../command/failure.mjs').Failure} saying what to install
 */
export async function s3Program(scope) {
  return (
    findProgram([NAME], [TOOLS]) ??
    buildGoTool(scope, {
      name: NAME,
      module: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0',
      what: 'the S3 server of the tests',
      instead: 'install versitygw or Go, or set S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID and S3_TEST_SECRET_ACCESS_KEY',
    })
  );
}
