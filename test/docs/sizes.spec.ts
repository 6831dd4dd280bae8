import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../..');
const MOST_LINES = 300;
const MOST_FILES = 25;

const IS_CODE = /\.(ts|tsx|mjs|cjs|js|css|sh)$/;
/** Tests, what they are made of, and results of a bench. */
const IS_APART = /([-.]spec\.tsx?$|\.conformance\.ts$|\/conformance\/|\/fixtures\/|\/node_modules\/|^bench\/results\/)/;

const code = ['apps', 'bench', 'docker', 'libs', 'scripts']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((path) => `${folder}/${String(path)}`))
  .filter((path) => IS_CODE.test(path) && !IS_APART.test(path));

const linesOf = (path: string): number => readFileSync(join(ROOT, path), 'utf8').split('\n').length - 1;

describe('the code', () => {
  it(`has no file of more than ${MOST_LINES} lines`, () => {
    expect(code.filter((path) => linesOf(path) > MOST_LINES)).toEqual([]);
    expect(code.length).toBeGreaterThan(500);
  });

  it(`has no folder of more than ${MOST_FILES} files`, () => {
    const folders = code.map((path) => dirname(path));
    const isFull = (folder: string): boolean => folders.filter((other) => other === folder).length > MOST_FILES;
    expect([...new Set(folders)].filter(isFull)).toEqual([]);
  });
});
