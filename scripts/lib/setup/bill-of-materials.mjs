import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../command/index.mjs';
import { ROOT, filesUnder, parseJson, readJson } from '../system/index.mjs';
import { importedPackages } from './imported-packages.mjs';
import { SETUP_ROOTS, packageClosure, serviceRoots } from './package-closure.mjs';
import { npmCommand } from './packages.mjs';

/**
 * A bill of materials as CycloneDX 1.5 has it, as far as it is used here.
 *
 * @typedef {{ license?: { id?: string, name?: string }, expression?: string }} License
 * @typedef {{ 'bom-ref': string, name: string, version: string, licenses?: License[], properties: { name: string }[] }} Component
 * @typedef {{
 *   serialNumber?: string,
 *   metadata: { timestamp?: string, component: Record<string, unknown> },
 *   components: Component[],
 *   dependencies: { ref: string, dependsOn?: string[] }[],
 * }} Bill
 */
/** @typedef {'services' | 'setup'} Image what is laid out as one folder: the images of the processes share theirs */

export const IMAGES = /** @type {const} */ (['services', 'setup']);
/** What may be shipped. Each asks for its own text beside the package, which is laid out with it. */
const SHIPPABLE = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'MIT AND ISC',
  'PSF-2.0',
  'Unlicense',
  // libvips, a library of its own, which can be replaced in an image.
  'LGPL-3.0-or-later',
  // elkjs, which comes with Prisma's command line and is shipped as it is published.
  'EPL-2.0',
]);
/** @type {Record<string, string>} licences that a package has as a text alone */
const READ = { 'seq-queue@0.0.5': 'MIT' };
/** More than a thousand packages take one megabyte. */
const BILL_BYTES = 33_554_432;
const OPERATOR = / (and|or|with) /gi;
/** What npm takes for an id, and is a text of the package's own (SPDX 2.3, annex D.1). */
const IS_OWN_REFERENCE = /^(LicenseRef|DocumentRef)-/;
/** The sources of both consoles that browsers get, built. What only builds them is not shipped. */
const CONSOLES = ['src', 'ops/src'].map((folder) => join(ROOT, 'apps', 'console', folder));
/** What a package is to a checkout, where development alone may need it: what is listed is shipped. */
const OF_DEVELOPMENT = 'cdx:npm:package:development';

/**
 * The npm packages that an image holds, from the lock file as npm reads it: the same text for the same commit. Node.js and what the base
 * image has are not among them.
 *
 * @param {Image} image
 * @returns {Promise<Bill>}
 */
export async function billOfMaterials(image) {
  const held = new Map(foldersOf(image).map((folder) => manifestOf(folder)));
  const all = await wholeBill();
  const { serialNumber: _serial, ...rest } = all;
  const { timestamp: _time, component, ...metadata } = all.metadata;
  const shipped = all.components.filter(({ 'bom-ref': ref }) => held.has(ref));
  const known = new Set(all.components.flatMap(({ licenses: [first] = [] }) => first?.license?.id ?? []));
  const components = shipped.map((component) => ({
    ...component,
    ...licensesOf(component, held, known),
    properties: component.properties.filter(({ name }) => name !== OF_DEVELOPMENT),
  }));
  const missing = [...held.keys()].find((ref) => !components.some((one) => one['bom-ref'] === ref));
  if (missing !== undefined) throw new Failure(`${missing} is installed, and not in package-lock.json: run npm ci.`);
  return {
    ...rest,
    metadata: { ...metadata, component: { ...component, name: `millrace-${image}` } },
    components,
    dependencies: all.dependencies
      .filter(({ ref }) => held.has(ref) || ref === component['bom-ref'])
      .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((needed) => held.has(needed)) })),
  };
}

/**
 * @param {Bill} bill
 * @returns {string} a line for each package: its name, its version and its licence
 */
export function licenceList({ components }) {
  return components
    .map((component) => `${component.name} ${component.version}: ${licenceOf(component) ?? 'none'}\n`)
    .sort()
    .join('');
}

/**
 * @param {Bill} bill
 * @returns {string[]} a sentence for each package whose licence is not known to allow that it is shipped
 */
export function licenceFaults({ components }) {
  return components
    .filter((component) => !SHIPPABLE.has(licenceOf(component) ?? ''))
    .map(
      (component) =>
        `${component.name} ${component.version} has the licence ${licenceOf(component) ?? 'none'}, which is not known to allow ` +
        'shipping it: leave the package out, or read the licence and add it in scripts/lib/setup/bill-of-materials.mjs.',
    );
}

/** @param {Image} image */
function foldersOf(image) {
  if (image === 'setup') return packageClosure(SETUP_ROOTS);
  // Nothing of a package of types is in what a browser gets.
  const inConsoles = packageClosure(consoleRoots()).filter((folder) => !folder.includes(`${sep}@types${sep}`));
  return [...packageClosure(serviceRoots()), ...inConsoles];
}

/** The packages that the consoles are built from: their code is in the files that a browser gets. */
function consoleRoots() {
  const files = CONSOLES.flatMap(filesUnder).filter((file) => /\.tsx?$/.test(file) && !/\.spec\.tsx?$/.test(file));
  return importedPackages(files.map((file) => readFileSync(file, 'utf8')));
}

/**
 * @param {string} folder
 * @returns {[string, string | undefined]} reference and licence of a package that is installed
 */
function manifestOf(folder) {
  const manifest = /** @type {{ name: string, version: string, license?: string, licenses?: { type: string }[] }} */ (
    readJson(join(folder, 'package.json'))
  );
  const reference = `${manifest.name}@${manifest.version}`;
  return [reference, manifest.license ?? manifest.licenses?.[0]?.type ?? READ[reference]];
}

/** @returns {Promise<Bill>} of all that the lock file knows */
async function wholeBill() {
  const [npm = 'npm', ...before] = npmCommand();
  const flags = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const options = { cwd: ROOT, maxBuffer: BILL_BYTES };
  const { stdout } = await promisify(execFile)(npm, [...before, 'sbom', ...flags], options).catch(
    (/** @type {Error} */ error) => {
      throw new Failure(`npm could not list the packages: ${error.message.split('\n')[0]}`);
    },
  );
  return /** @type {Bill} */ (parseJson(stdout));
}

/**
 * Licences as CycloneDX has them: an `id` or the names in an expression are SPDX's, and anything else is a `name`. The lock file has no licence of a
 * package that states it in the old way; what is installed has it.
 *
 * @param {Pick<Component, 'bom-ref' | 'licenses'>} component
 * @param {ReadonlyMap<string, string | undefined>} held
 * @param {ReadonlySet<string>} known what npm read as an id of SPDX anywhere
 * @returns {{ licenses?: License[] }}
 */
export function licensesOf(component, held, known) {
  const [{ expression, license } = {}] = component.licenses ?? [];
  // SPDX writes operators in capitals (version 2.3, annex D.2); npm takes them as they are.
  if (expression !== undefined) return { licenses: [{ expression: expression.replaceAll(OPERATOR, capitals) }] };
  const stated = license?.id ?? held.get(component['bom-ref']);
  if (stated === undefined) return {};
  return {
    licenses: [{ license: known.has(stated) && !IS_OWN_REFERENCE.test(stated) ? { id: stated } : { name: stated } }],
  };
}

/** @param {string} text */
const capitals = (text) => text.toUpperCase();

/** @param {Component} component */
function licenceOf({ licenses: [first] = [] }) {
  return first?.expression ?? first?.license?.id ?? first?.license?.name;
}
