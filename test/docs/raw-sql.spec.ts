import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const PAGE = 'docs/decisions/0018-where-sql-is-written.md';
const SQL = /\b(Prisma\.sql|composeStatement\(|statementPart[<(])/;
const IS_PRODUCT = /(?<!spec)\.ts$/;

/** The files and folders of the page's table. */
const listed = [...readFileSync(join(ROOT, PAGE), 'utf8').matchAll(/^\| `([^`]+)`/gm)].map(([, path]) => path ?? '');

const withSql = ['apps', 'libs']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((path) => `${folder}/${String(path)}`))
  .filter((path) => IS_PRODUCT.test(path) && !path.includes('/fixtures/') && !path.startsWith('libs/testing/'))
  .filter((path) => SQL.test(readFileSync(join(ROOT, path), 'utf8')));

const isIn = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

describe('SQL', () => {
  it('is written only where the page on it says, in stores', () => {
    expect(withSql.filter((path) => !listed.some((place) => isIn(path, place)))).toEqual([]);
    const inStores = /\.store\.ts$|^libs\/database\/src\//;
    expect(withSql.filter((path) => !inStores.test(path))).toEqual([]);
  });

  it('is written everywhere that the page says', () => {
    expect(listed.filter((place) => !withSql.some((path) => isIn(path, place)))).toEqual([]);
    expect(listed.length).toBeGreaterThan(10);
  });
});
