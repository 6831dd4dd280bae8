import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const BOM_MS = 120_000;

interface Bom {
  bomFormat: string;
  components: { name: string; version: string; hashes?: object[] }[];
}

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
    expect(bills.map(({ bomFormat }) => bomFormat)).toEqual(['CycloneDX', 'CycloneDX']);
    const components = bills.flatMap((bill) => bill.components);
    const versions = new Set(components.map(({ name, version }) => `${name}@${version}`));
    const direct = Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`);
    expect(direct.filter((name) => !versions.has(name))).toEqual([]);
    expect(components.filter(({ hashes = [] }) => hashes.length === 0).map(({ name }) => name)).toEqual([]);
  },
  BOM_MS,
);

it('the licence of every package that is shipped allows it, and another one is named', async () => {
  expect(command('--check')).toMatch(/^The licences of \d+ and \d+ packages allow shipping them\.\n$/);
  const { licenceFaults } = await import('../../scripts/lib/setup/bill-of-materials.mjs');
  const component = (licenses?: object[]) => ({ 'bom-ref': 'x@1.0.0', name: 'x', version: '1.0.0', licenses });
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
