import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUARDS } from '../../scripts/lib/testing/guards/index.mjs';

const ROOT = join(__dirname, '..', '..');

describe('the list of guards that are removed', () => {
  it('names each guard once', () => {
    const names = GUARDS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(GUARDS)('finds "$name" once in its file, and its tests', ({ file, find, sql, tests }) => {
    if (sql === undefined) expect(readFileSync(join(ROOT, file ?? ''), 'utf8').split(find ?? '')).toHaveLength(2);
    expect(tests.filter((test) => !existsSync(join(ROOT, `${test}.ts`)))).toEqual([]);
  });
});
