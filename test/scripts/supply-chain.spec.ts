import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultsOf, spdxIds, type Bom } from './support/cyclonedx';

const ROOT = join(__dirname, '../..');
const BOM_MS = 120_000;

interface Manifest {
  dependencies: Record<string, string>;
  overrides?: object;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

const command = (...flags: string[]): string =>
  execFileSync('npm', ['run', '--silent', 'sbom', '--', ...flags], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64_000_000,
  });

it(
  'a command writes bills of materials with every package that the images are built on, each with its hash',
  () => {
    const bills = ['services', 'setup'].map((image) => JSON.parse(command('--image', image)) as Bom);
    const ids = spdxIds();
    expect(bills.flatMap((bill) => faultsOf(bill, ids))).toEqual([]);
    const components = bills.flatMap((bill) => bill.components);
    const versions = new Set(components.map(({ name, version }) => `${name}@${version}`));
    const direct = Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`);
    expect(direct.filter((name) => !versions.has(name))).toEqual([]);
    expect(components.filter(({ hashes = [] }) => hashes.length === 0).map(({ name }) => name)).toEqual([]);
    // What is listed is shipped, also where a checkout needs it for development alone.
    const properties = components.flatMap((component) => component.properties ?? []).map(({ name }) => name);
    expect(properties).not.toContain('cdx:npm:package:development');
    // It builds the docs, and none of it is in them.
    expect(components.map(({ name }) => name)).not.toContain('markdown-it');
  },
  BOM_MS,
);

describe('a licence in a bill', () => {
  const ids = new Set(['MIT', 'ISC', 'LicenseRef-own']);
  const held = new Map([
    ['old@1.0.0', 'MIT'],
    ['own@1.0.0', 'See the file LICENSE'],
  ]);
  const read = async (ref: string, ...licenses: object[]): Promise<unknown> => {
    const { licensesOf } = await import('../../scripts/lib/setup/bill-of-materials.mjs');
    return licensesOf({ 'bom-ref': ref, ...(licenses.length === 0 ? {} : { licenses }) }, held, ids).licenses;
  };

  it('has an id where SPDX has one, and a name otherwise', async () => {
    expect(await read('x@1.0.0', { license: { id: 'MIT' } })).toEqual([{ license: { id: 'MIT' } }]);
    expect(await read('x@1.0.0', { license: { id: 'LicenseRef-own' } })).toEqual([
      { license: { name: 'LicenseRef-own' } },
    ]);
    expect(await read('old@1.0.0')).toEqual([{ license: { id: 'MIT' } }]);
    expect(await read('own@1.0.0')).toEqual([{ license: { name: 'See the file LICENSE' } }]);
    expect(await read('x@1.0.0')).toBeUndefined();
    expect(await read('x@1.0.0', { expression: '(MIT and ISC)' })).toEqual([{ expression: '(MIT AND ISC)' }]);
  });

  it('that CycloneDX does not take is a fault, as is anything else', () => {
    const component = { 'bom-ref': 'x@1.0.0', type: 'library', name: 'x', version: '1.0.0' };
    const bill = (change: object): Bom => ({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      metadata: { component: { ...component, 'bom-ref': 'all' } },
      components: [{ ...component, ...change }],
      dependencies: [{ ref: 'x@1.0.0', dependsOn: ['all'] }],
    });
    expect(faultsOf(bill({ licenses: [{ license: { name: 'own' } }] }), ids)).toEqual([]);
    for (const change of [
      { licenses: [{ license: { id: 'own' } }] },
      { licenses: [{ license: { id: 'MIT', name: 'MIT' } }] },
      { licenses: [{ expression: 'MIT and ISC' }] },
      { licenses: [{ expression: 'MIT' }, { license: { id: 'MIT' } }] },
      { hashes: [{ alg: 'SHA-512', content: 'abc' }] },
      { type: 'package' },
      { licence: 'MIT' },
      { 'bom-ref': 'all' },
    ])
      expect([change, faultsOf(bill(change), ids).length]).not.toEqual([change, 0]);
  });
});

it('finds what sources import, also where they do it when they need it, and no types', async () => {
  const { importedPackages } = await import('../../scripts/lib/setup/imported-packages.mjs');
  const text = [
    "import { a } from 'static';",
    "import {\n  b,\n} from '@scope/name/part';",
    "import 'for-its-effect/style.css';",
    "export { c } from 'again';",
    "const load = () => import('lazy/part');",
    "import type { D } from 'types-alone';",
    "import { e } from './own';",
    "import { f } from '@millrace/contracts';",
    "import { g } from 'node:path';",
    "const pages = import('virtual:docs');",
  ].join('\n');
  expect(importedPackages([text])).toEqual(['@scope/name', 'again', 'for-its-effect', 'lazy', 'static']);
});

it('the licence of every package that is shipped allows it, and another one is named', async () => {
  expect(command('--check')).toMatch(/^The licences of \d+ and \d+ packages allow shipping them\.\n$/);
  const { licenceFaults } = await import('../../scripts/lib/setup/bill-of-materials.mjs');
  const component = (licenses?: object[]) => ({
    ...{ 'bom-ref': 'x@1.0.0', name: 'x', version: '1.0.0', properties: [] },
    licenses,
  });
  const faults = (licenses?: object[]): string[] =>
    licenceFaults({ metadata: { component: {} }, components: [component(licenses)], dependencies: [] });
  expect(faults([{ license: { id: 'MIT' } }])).toEqual([]);
  expect(faults([{ license: { id: 'AGPL-3.0-only' } }])[0]).toMatch(/^x 1\.0\.0 has the licence AGPL-3\.0-only, which/);
  expect(faults()[0]).toContain('has the licence none');
});

it('every version is exact, and none is overridden', () => {
  expect(Object.entries(manifest.dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([]);
  expect(manifest.overrides).toBeUndefined();
});
