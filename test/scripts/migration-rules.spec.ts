import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LARGE_TABLES, migrationFaults } from '../../scripts/lib/prisma/migration-rules.mjs';

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
    ['ALTER TABLE jobs ADD CONSTRAINT a CHECK (b > 0)', 'add it NOT VALID'],
    ['ALTER TABLE jobs ADD CHECK (b > 0)', 'add it NOT VALID'],
    ['ALTER TABLE public.jobs ADD CONSTRAINT a CHECK (b IN (1, 2)), ADD COLUMN c integer', 'add it NOT VALID'],
    [
      'alter table "assets" add constraint a foreign key (b) references jobs (id) on delete cascade',
      'add it NOT VALID',
    ],
    [
      'ALTER TABLE jobs ADD CONSTRAINT a CHECK (b > 0) NOT VALID; ALTER TABLE jobs VALIDATE CONSTRAINT a',
      'later migration',
    ],
    ['ALTER TABLE jobs ADD COLUMN a integer CHECK (a > 0)', 'NOT VALID, by itself'],
    ['ALTER TABLE jobs ADD a uuid REFERENCES accounts (id)', 'NOT VALID, by itself'],
    ['ALTER TABLE jobs ADD COLUMN a integer UNIQUE', 'USING INDEX'],
    ['ALTER TABLE jobs ALTER COLUMN a SET NOT NULL', 'CHECK (a IS NOT NULL) NOT VALID'],
    ['ALTER TABLE jobs ALTER a TYPE bigint', 'add a column, fill it in batches'],
    ['ALTER TABLE jobs ALTER COLUMN a SET DATA TYPE bigint USING a::bigint', 'add a column, fill it in batches'],
    ['ALTER TABLE jobs ADD COLUMN a uuid NOT NULL DEFAULT gen_random_uuid()', 'a value of its own in a'],
    ['ALTER TABLE jobs ADD COLUMN a timestamptz DEFAULT clock_timestamp()', 'a value of its own in a'],
    ['ALTER TABLE jobs ADD COLUMN IF NOT EXISTS a bigserial', 'a value of its own in a'],
    ['ALTER TABLE jobs ADD COLUMN a bigint GENERATED ALWAYS AS IDENTITY', 'a value of its own in a'],
    ['ALTER TABLE jobs ADD COLUMN a text GENERATED ALWAYS AS (lower(b)) STORED', 'a value of its own in a'],
    ['ALTER TABLE jobs ADD COLUMN a integer; ALTER TABLE assets DROP COLUMN b', 'locks jobs and assets together'],
    [
      'CREATE TRIGGER a BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION f(); DROP TRIGGER b ON public.job_attempts',
      'locks jobs and job_attempts together',
    ],
  ])('is refused with %p', (sql, reason) => {
    expect(migrationFaults(NEW, sql)).toEqual([expect.stringContaining(reason)]);
  });

  it.each([
    'CREATE INDEX CONCURRENTLY a ON jobs (id);',
    "-- A comment; with words.\nCREATE INDEX CONCURRENTLY IF NOT EXISTS a ON jobs (id) WHERE status = 'a;b';\n",
    'CREATE INDEX a ON pools (id); CREATE INDEX b ON deployments (id)',
    'CREATE TABLE usage_records (id uuid); CREATE INDEX a ON usage_records (id)',
    'ALTER TABLE assets ADD CONSTRAINT a UNIQUE USING INDEX b',
    'ALTER TABLE jobs ADD COLUMN a integer',
    'ALTER TABLE jobs ADD COLUMN a bigint NOT NULL DEFAULT 0, ADD COLUMN b timestamptz(3) DEFAULT now() NOT NULL',
    'ALTER TABLE jobs ADD COLUMN a jsonb NOT NULL DEFAULT \'{"a": random()}\'::jsonb, ADD b text[] DEFAULT ARRAY[]::text[]',
    'ALTER TABLE jobs ADD COLUMN a numeric(10, 2) DEFAULT 0, ADD COLUMN b timestamptz DEFAULT CURRENT_TIMESTAMP',
    'ALTER TABLE jobs ADD CONSTRAINT a CHECK (b > 0) NOT VALID',
    'ALTER TABLE jobs ADD CONSTRAINT a FOREIGN KEY (b) REFERENCES accounts (id) NOT VALID',
    'ALTER TABLE jobs VALIDATE CONSTRAINT a',
    'ALTER TABLE jobs VALIDATE CONSTRAINT a; ALTER TABLE assets VALIDATE CONSTRAINT b; ALTER TABLE blobs ADD c integer',
    'ALTER TABLE jobs ADD a integer; ALTER TABLE jobs ADD b integer; ALTER TABLE pools ADD c integer',
    'ALTER TABLE jobs ALTER COLUMN a DROP NOT NULL, ALTER COLUMN b SET DEFAULT gen_random_uuid(), DROP CONSTRAINT c',
    'ALTER TABLE pools ADD COLUMN a integer CHECK (a > 0), ALTER COLUMN b SET NOT NULL, ALTER COLUMN c TYPE text',
    'CREATE TABLE usage_records (a integer); ALTER TABLE usage_records ADD CONSTRAINT b CHECK (a > 0)',
    'CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ CREATE INDEX a ON jobs (id); SELECT 1 $$; SELECT 1',
  ])('may say %p', (sql) => {
    expect(migrationFaults(NEW, sql)).toEqual([]);
  });

  it('may set NOT NULL what a migration before it has checked', () => {
    const sql = 'ALTER TABLE jobs ALTER COLUMN a SET NOT NULL';
    const add = 'ALTER TABLE jobs ADD CONSTRAINT a_check CHECK (a IS NOT NULL) NOT VALID';
    const validate = 'ALTER TABLE jobs VALIDATE CONSTRAINT a_check';
    expect(migrationFaults(NEW, sql, [add, validate])).toEqual([]);
    expect(migrationFaults(NEW, `${validate}; ${sql}`, [add])).toEqual([]);
    expect(migrationFaults(NEW, sql, [add])).toEqual([expect.stringContaining('NOT NULL')]);
    const ofAnother = [add.replace('jobs', 'assets'), validate.replace('jobs', 'assets')];
    expect(migrationFaults(NEW, sql, ofAnother)).toEqual([expect.stringContaining('NOT NULL')]);
    const weaker = [add.replace('a IS NOT NULL', 'a IS NOT NULL OR b'), validate];
    expect(migrationFaults(NEW, sql, weaker)).toEqual([expect.stringContaining('NOT NULL')]);
  });

  it('of before is left as it is', () => {
    expect(migrationFaults('20261121000000_foundation', 'CREATE INDEX a ON jobs (id)')).toEqual([]);
  });

  it('of this checkout breaks no rule', () => {
    const folders = readdirSync(join(PRISMA, 'migrations'), { withFileTypes: true }).filter((one) => one.isDirectory());
    const names = folders.map(({ name }) => name).sort();
    const scripts = names.map((name) => readFileSync(join(PRISMA, 'migrations', name, 'migration.sql'), 'utf8'));
    const faults = names.flatMap((name, index) => migrationFaults(name, scripts[index] ?? '', scripts.slice(0, index)));
    expect(faults).toEqual([]);
  });
});

it('every large table is one of the schema', () => {
  const structure = readFileSync(join(PRISMA, 'structure.sql'), 'utf8');
  for (const table of LARGE_TABLES) expect(structure).toContain(`CREATE TABLE ${table} (`);
});
