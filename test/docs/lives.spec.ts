import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, repositoryFiles } from './support/repository-files';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const [, section = ''] = /^## How long data is kept\n([\s\S]*?)^## /m.exec(read('docs/operations.md')) ?? [];
/** Rows of the page: table, life, what ends it. */
const lives = [...section.matchAll(/^\| `(\w+)` +\| (.+?) +\| (.+?) +\|$/gm)];

describe('how long data is kept', () => {
  it('is said of every table of the schema, once, and of no other', () => {
    const tables = [...read('prisma/structure.sql').matchAll(/^CREATE TABLE (\w+) \(/gm)].map(([, table]) => table);
    expect(lives.map(([, table]) => table).sort()).toEqual(tables.sort());
  });

  it('names loops that there are', () => {
    const loops = repositoryFiles()
      .filter((path) => path.endsWith('.loop.ts'))
      .map((path) => /readonly name = '(.+)'/.exec(read(path))?.[1]);
    const named = [...section.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !loops.includes(name))).toEqual([]);
  });
});
