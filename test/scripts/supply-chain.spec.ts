import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const BOM_MS = 120_000;

interface Bom {
  bomFormat: string;
  components: { name: string; version: string; scope: 'required' | 'optional'; hashes?: object[] }[];
}

interface Manifest {
  dependencies: Record<string, string>;
  overrides?: object;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

it(
  'a command writes a bill of materials with every package that the service is built on, each with its hash',
  () => {
    const npm = { cwd: ROOT, encoding: 'utf8', maxBuffer: 64_000_000 } as const;
    const { bomFormat, components } = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], npm)) as Bom;
    expect(bomFormat).toBe('CycloneDX');
    const versions = new Set(components.map(({ name, version }) => `${name}@${version}`));
    const direct = Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`);
    expect(direct.filter((name) => !versions.has(name))).toEqual([]);
    const bare = components.filter(({ scope, hashes = [] }) => scope === 'required' && hashes.length === 0);
    expect(bare.map(({ name }) => name)).toEqual([]);
  },
  BOM_MS,
);

it('every version is exact, and none is overridden', () => {
  expect(Object.entries(manifest.dependencies).filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([]);
  expect(manifest.overrides).toBeUndefined();
});
