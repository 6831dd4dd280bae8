import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ROOT, filesUnder } from '../system/index.mjs';

/**
 * What a folder of an image was made from, as a statement of in-toto (v1) with SLSA's predicate (provenance v1).
 *
 * @typedef {{ sha256?: string, gitCommit?: string }} Digest
 * @typedef {{
 *   _type: string,
 *   subject: { name: string, digest: Digest }[],
 *   predicateType: string,
 *   predicate: {
 *     buildDefinition: {
 *       buildType: string,
 *       externalParameters: { image: string },
 *       resolvedDependencies: { name: string, uri?: string, digest?: Digest }[],
 *     },
 *     runDetails: { builder: { id: string } },
 *   },
 * }} Statement
 */

/** Below the folder of an image, code of others, each package with its hash in the bill of materials. */
const PACKAGES = `node_modules${sep}`;

/**
 * The same text for the same commit and base image. It is not signed: who builds an image signs it, and this within it.
 *
 * @param {string} folder whole but for the statement
 * @param {string} image
 * @param {{ revision: string | undefined, base: string | undefined }} from commit, and name of the base image; undefined where nobody said
 * @returns {Statement}
 */
export function provenanceOf(folder, image, { revision, base }) {
  const subject = filesUnder(folder)
    .map((file) => ({ name: relative(folder, file), digest: { sha256: sha256Of(file) } }))
    .filter(({ name }) => !name.startsWith(PACKAGES))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:millrace:image:1',
        externalParameters: { image },
        resolvedDependencies: [
          { name: 'source', ...(revision === undefined ? {} : { digest: { gitCommit: revision } }) },
          { name: 'package-lock.json', digest: { sha256: sha256Of(join(ROOT, 'package-lock.json')) } },
          ...(base === undefined ? [] : [{ name: 'base image', uri: `docker://${base}` }]),
        ],
      },
      runDetails: { builder: { id: 'urn:millrace:docker:Dockerfile' } },
    },
  };
}

/** @param {string} file */
function sha256Of(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
