import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LARGE_TABLES, indexFaults } from '../../scripts/lib/prisma/migration-rules.mjs';

const PRISMA = join(__dirname, '..', '..', 'prisma');
const NEW = '20991231000000_new';

describe('a migration', () => {
  it.each([
    ['CREATE INDEX a ON jobs (id)', 'do it CONCURRENTLY'],
    ['CREATE INDEX ON public.jobs (id)', 'do it CONCURRENTLY'],
    ['create unique index if not exists a\n  on "jobs" (id)', 'do it CONCURRENTLY'],
    ['ALTER TABLE assets ADD CONSTRAINT a UNIQUE (id)', 'USING INDEX'],
    ['ALTER TABLE jobs ADD PRIMARY KEY (id)', 'USING INDEX'],
    ['CREATE INDEX CONCURRENTLY a ON jobs (id); SELECT 1', 'a migration of its own'],
    ['DROP INDEX CONCURRENTLY a; DROP INDEX CONCURRENTLY b', 'a migration of its own'],
  ])('is refused with %p', (sql, reason) => {
    expect(indexFaults(NEW, sql)).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    'CREATE INDEX CONCURRENTLY a ON jobs (id);',
    "-- A comment; with words.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a ON jobs (id) WHERE status = 'a;b';\n",
    'CREATE INDEX a ON pools (id); CREATE INDEX b ON deployments (id)',
    'CREATE TABLE usage_records (id uuid); CREATE INDEX a ON usage_records (id)',
    'ALTER TABLE assets ADD CONSTRAINT a UNIQUE USING INDEX b',
    'ALTER TABLE jobs ADD COLUMN a integer',
    'CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ CREATE INDEX a ON jobs (id); SELECT 1 $$; SELECT 1',
  ])('may say %p', (sql) => {
    expect(indexFaults(NEW, sql)).toEqual([]);
  });

  it('of before is left as it is', () => {
    expect(indexFaults('20261121000000_foundation', 'CREATE INDEX a ON jobs (id)')).toEqual([]);
  });

  it('of this checkout breaks no rule', () => {
    const folders = readdirSync(join(PRISMA, 'migrations'), { withFileTypes: true }).filter((one) => one.isDirectory());
    const faults = folders.flatMap(({ name }) =>
      indexFaults(name, readFileSync(join(PRISMA, 'migrations', name, 'migration.sql'), 'utf8')),
    );
    expect(faults).toEqual([]);
  });
});

it('every large table is one of the schema', () => {
  const structure = readFileSync(join(PRISMA, 'structure.sql'), 'utf8');
  for (const table of LARGE_TABLES) expect(structure).toContain(`CREATE TABLE ${table} (`);
});
