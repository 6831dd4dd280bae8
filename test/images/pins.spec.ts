import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readStages } from './support/dockerfile';

const ROOT = join(__dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');

/** Without the registry that is meant where none is named. */
const short = (image: string): string => image.replace(/^docker\.io\/(library\/)?/, '');

/** What others make, by each file that names it. */
function imagesOfOthers(): Record<string, string[]> {
  const inDockerfile = (name: string): string[] => {
    const stages = readStages(join(ROOT, 'docker', name));
    return stages.map(({ from }) => from).filter((from) => !stages.some((stage) => stage.name === from));
  };
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { image: string; build?: { args?: Record<string, string> } }>;
  };
  const named = Object.values(services).flatMap(({ image, build }) => [image, ...Object.values(build?.args ?? {})]);
  const values = parse(read('helm', 'millrace', 'values.yaml')) as Record<string, { bundled?: { image: string } }>;
  return {
    Dockerfile: inDockerfile('Dockerfile'),
    'comfyui.Dockerfile': inDockerfile('comfyui.Dockerfile'),
    compose: named.flatMap((text) => /^\$\{\w+_IMAGE:-([^}]+)\}$/.exec(text)?.[1] ?? []),
    chart: Object.values(values).flatMap((value) => value?.bundled?.image ?? []),
  };
}

describe('images that others make', () => {
  const rows = read('docs', 'operations.md').match(/^\| `\S+:\S+` +\|.*$/gm) ?? [];
  const listed = rows.map((row) => /`([^`]+)`/.exec(row)?.[1] ?? '');

  it('are named in the same version everywhere, and listed with how each is pinned', () => {
    const images = imagesOfOthers();
    expect(Object.values(images).map(({ length }) => length > 0)).toEqual([true, true, true, true]);
    const all = [...new Set(Object.values(images).flat().map(short))];
    expect(all.sort()).toEqual([...listed].sort());
  });

  it('are pinned by what the compose file and the Dockerfiles take', () => {
    const names = [...read('docker-compose.yml').matchAll(/\$\{(\w+_IMAGE):-/g)].map(([, name]) => name ?? '');
    const missing = [...new Set(names)].filter((name) => !rows.some((row) => row.includes(`\`${name}\``)));
    expect(missing).toEqual([]);
  });
});
