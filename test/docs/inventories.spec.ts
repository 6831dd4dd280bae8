import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ATTACKS } from '../hostile/support/attacks';

const ROOT = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** With a README, such as `libs/jobs`. */
const parts = ['apps', 'libs']
  .flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`))
  .filter((part) => existsSync(join(ROOT, part, 'README.md')) && existsSync(join(ROOT, part, 'src')));

/** What follows "Owns the tables", or "The table" in a list. */
const OWNED = /(?:Owns the|The) tables? ((?:`\w+`(?:,\s+|\s+and\s+)?)+)/g;
const ownedBy = (part: string): string[] =>
  [...read(`${part}/README.md`).matchAll(OWNED)].flatMap(([, list = '']) =>
    [...list.matchAll(/`(\w+)`/g)].map(([, table = '']) => table),
  );

/** Those whose rooms have an order. */
const withRooms = [...read('.dependency-cruiser.cjs').matchAll(/^ {2}'([\w-]+\/[\w-]+)\/src': \[/gm)]
  .map(([, part = '']) => part)
  .filter((part) => parts.includes(part));

/** A room has an index; the README names it in code, in a link to it or in a figure. */
const roomsOf = (part: string): string[] =>
  readdirSync(join(ROOT, part, 'src')).filter((name) => existsSync(join(ROOT, part, 'src', name, 'index.ts')));
const namesRoom = (readme: string, room: string): boolean => {
  const figures = [...readme.matchAll(/^```[^]*?^```/gm)].join('\n');
  const inText = [`\`${room}\``, `\`${room}/`, `src/${room}\``, `](src/${room})`, `](src/${room}/README`].some((name) =>
    readme.includes(name),
  );
  return inText || figures.split(/[^\w-]+/).includes(room);
};

describe('the READMEs of apps and libs', () => {
  it('name each table of the database once, with its owner', () => {
    const tables = [...read('prisma/structure.sql').matchAll(/^CREATE (?:UNLOGGED )?TABLE (?:public\.)?(\w+)/gm)].map(
      ([, table = '']) => table,
    );
    expect(tables.length).toBeGreaterThan(50);
    expect(parts.flatMap(ownedBy).sort()).toEqual(tables.sort());
  });

  it.each(withRooms)('name the rooms of %s', (part) => {
    const readme = read(`${part}/README.md`);
    expect(roomsOf(part).filter((room) => !namesRoom(readme, room))).toEqual([]);
  });
});

it('the table of docs/security.md has a row for each attack of test/hostile, in their order', () => {
  const [, table = ''] = /<!-- attacks -->([^]*?)<!-- \/attacks -->/.exec(read('docs/security.md')) ?? [];
  const rows = [...table.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\|/gm)].slice(2).map(([, ...cells]) => cells);
  expect(rows).toEqual(ATTACKS.map(({ resource, name }) => [resource, name]));
});
