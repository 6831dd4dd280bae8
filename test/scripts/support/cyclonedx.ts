import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A bill of materials as it was read. */
export interface Bom {
  bomFormat: string;
  specVersion: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  scope?: string;
  purl?: string;
  hashes?: { alg: string; content: string }[];
  licenses?: License[];
  properties?: { name: string; value: string }[];
  externalReferences?: { type: string; url: string }[];
}

interface License {
  license?: { id?: string; name?: string };
  expression?: string;
}

const COMPONENT = {
  'bom-ref': /^.+$/,
  type: /^(application|library)$/,
  name: /^.+$/,
  version: /^.+$/,
  scope: /^(required|optional|excluded)$/,
  purl: /^pkg:npm\/.+@.+$/,
  author: /./,
  description: /./,
};
const LISTS = ['hashes', 'licenses', 'properties', 'externalReferences'];
const DIGITS: Record<string, number> = { 'SHA-1': 40, 'SHA-256': 64, 'SHA-384': 96, 'SHA-512': 128 };
const REFERENCES = ['vcs', 'website', 'issue-tracker', 'distribution'];

/** All ids of licences that SPDX has, as npm brings them. */
export function spdxIds(): ReadonlySet<string> {
  const npm = createRequire(
    join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm', 'package.json'),
  );
  return new Set([
    ...(npm('spdx-license-ids') as string[]),
    // It reads those, too, that SPDX would no longer have used.
    ...(npm('spdx-license-ids/deprecated') as string[]),
  ]);
}

/**
 * What of a bill is not as CycloneDX 1.5 has it (cyclonedx.org/schema/bom-1.5.schema.json), of those parts that are used here: a part that is not
 * known to this check is a fault, too.
 */
export function faultsOf(bom: Bom, ids: ReadonlySet<string>): string[] {
  const all = [bom.metadata.component, ...bom.components];
  const refs = all.map((component) => component['bom-ref']);
  const known = new Set(refs);
  const listed = bom.dependencies.map(({ ref }) => ref);
  return [
    ...(bom.bomFormat === 'CycloneDX' && bom.specVersion === '1.5' ? [] : ['is not CycloneDX 1.5']),
    ...repeated(refs).map((ref) => `${ref} is there twice`),
    ...repeated(listed).map((ref) => `${ref} has its dependencies twice`),
    ...bom.dependencies.flatMap(({ ref, dependsOn = [] }) => [
      ...[ref, ...dependsOn]
        .filter((each) => !known.has(each))
        .map((each) => `${each} is not there, which ${ref} names`),
      ...repeated(dependsOn).map((each) => `${ref} needs ${each} twice`),
    ]),
    ...all.flatMap((component) =>
      faultsOfComponent(component, ids).map((fault) => `${component['bom-ref']}: ${fault}`),
    ),
  ];
}

function faultsOfComponent(component: Component, ids: ReadonlySet<string>): string[] {
  const texts = Object.entries(component).filter(([name]) => !LISTS.includes(name));
  const { hashes = [], licenses = [], properties = [], externalReferences = [] } = component;
  return [
    ...['bom-ref', 'type', 'name'].filter((name) => !(name in component)).map((name) => `${name} is missing`),
    ...texts
      .filter(([name, value]) => (COMPONENT as Record<string, RegExp>)[name]?.test(String(value)) !== true)
      .map(([name, value]) => `${name} is ${String(value)}`),
    ...hashes
      .filter(({ alg, content }) => !/^[0-9a-f]+$/i.test(content) || DIGITS[alg] !== content.length)
      .map(({ alg }) => `its hash is no ${alg}`),
    ...faultsOfLicenses(licenses, ids),
    ...properties
      .filter(({ name, value }) => typeof name !== 'string' || typeof value !== 'string')
      .map(() => 'a property is no pair of texts'),
    ...externalReferences
      .filter(({ type, url }) => !REFERENCES.includes(type) || url === '')
      .map(({ type }) => `reference ${type}`),
  ];
}

/** Licences by id or name, as many as there are; or one expression alone. */
function faultsOfLicenses(licenses: License[], ids: ReadonlySet<string>): string[] {
  const expression = licenses.find((one) => one.expression !== undefined)?.expression;
  if (expression !== undefined) {
    const names = expression.split(/ AND | OR | WITH |[()]/).filter((name) => name !== '');
    const unknown = names.filter((name) => !ids.has(name));
    return licenses.length === 1 && unknown.length === 0 ? [] : [`the expression ${expression} is not one of SPDX`];
  }
  return licenses.flatMap(({ license: { id, name } = {} }) => {
    if ((id === undefined) === (name === undefined)) return ['a licence has neither id nor name, or both'];
    return id === undefined || ids.has(id) ? [] : [`the licence ${id} is none of SPDX, and not a name`];
  });
}

const repeated = (texts: string[]): string[] => texts.filter((text, at) => texts.indexOf(text) !== at);
