import { composeStatement, statementPart, type StatementPart } from './statement-part';

const text = (sql: { text: string }): string => sql.text.replace(/\s+/g, ' ').trim();

describe('a statement of parts', () => {
  const job = statementPart<'id'>('job')`SELECT ${'a job'} AS id`;
  const hold = statementPart('hold')`INSERT INTO holds SELECT id, ${7} FROM ${job}`;

  it('has what a part reads before it, once, and the values in order', () => {
    const usage = statementPart('usage')`INSERT INTO usage SELECT id FROM ${job}`;
    const statement = composeStatement([hold, usage])`SELECT id FROM ${job} WHERE id <> ${'another'}`;
    expect(text(statement)).toBe(
      'WITH job AS (SELECT $1 AS id), hold AS (INSERT INTO holds SELECT id, $2 FROM job), ' +
        'usage AS (INSERT INTO usage SELECT id FROM job) SELECT id FROM job WHERE id <> $3',
    );
    expect(statement.values).toEqual(['a job', 7, 'another']);
  });

  it('has the parts that its last query alone reads', () => {
    expect(text(composeStatement([])`SELECT id FROM ${job}`)).toBe('WITH job AS (SELECT $1 AS id) SELECT id FROM job');
    expect(text(composeStatement([])`SELECT ${1}`)).toBe('SELECT $1');
  });

  it('is refused where a name stands for two parts', () => {
    const other = statementPart('job')`SELECT 1`;
    expect(() => composeStatement([hold, other])`SELECT 1`).toThrow('two parts of one statement are named job');
  });

  it('shows nothing of a part to who holds it, and wants the columns that are read', () => {
    const reader = (read: StatementPart<'id'>): StatementPart => statementPart('reader')`SELECT id FROM ${read}`;
    const wide = statementPart<'id' | 'status'>('wide')`SELECT 1 AS id, 2 AS status`;
    const narrow = statementPart<'status'>('narrow')`SELECT 2 AS status`;
    expect(JSON.stringify(reader(wide))).toBe('{}');
    // @ts-expect-error -- it offers no id.
    expect(() => reader(narrow)).not.toThrow();
  });
});
