import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEY_USES } from '../../libs/platform/src/secrets/key-ring';
import { ROOT, repositoryFiles } from './support/repository-files';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const [, section = ''] = /^### Rotate the secret key\n([\s\S]*?)^## /m.exec(read('docs/operations.md')) ?? [];
const rows = [...section.matchAll(/^\| (`.+?`) +\|(.+)\|$/gm)].map(([, uses = '', text = '']) => ({
  uses: [...uses.matchAll(/`(.+?)`/g)].map(([, use]) => use),
  text,
}));

describe('the page on the rotation of the secret key', () => {
  it('lists every use of the key, and how long each needs the old one', () => {
    expect(rows.flatMap(({ uses }) => uses).sort()).toEqual([...KEY_USES].sort());
  });

  it('names every loop that seals again', () => {
    const loops = repositoryFiles()
      .filter((path) => path.endsWith('.loop.ts'))
      .flatMap((path) => /readonly name = '(reseal-.+)'/.exec(read(path))?.[1] ?? []);
    const named = rows.flatMap(({ text }) => /`(reseal-[\w-]+)`/.exec(text)?.[1] ?? []);
    expect(named.sort()).toEqual(loops.sort());
  });
});
