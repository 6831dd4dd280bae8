import { fitted } from './fit';
import { recordTable } from './records';
import { type Cell, tableLines } from './table';

const ID = '01a22991-5793-7550-85c7-f17a6a8c81fc';
const OTHER = '01a22990-6285-75e2-a1b8-8784469b5aad';
const lines = (rows: Cell[][], columns: number): string[] => tableLines(fitted(rows, columns).rows);

describe('a table on a terminal', () => {
  it('has no column without a value, and is whole where there is room', () => {
    const rows = [
      ['id', 'ended', 'made by', 'name'],
      [ID, '–', OTHER, 'ci'],
      [ID, '', OTHER, 'web'],
    ];
    expect(fitted(rows, 90)).toMatchObject({ leftOut: [] });
    expect(lines(rows, 90)).toEqual([
      `  id                                    made by                               name`,
      `  ${ID}  ${OTHER}  ci`,
      `  ${ID}  ${OTHER}  web`,
    ]);
  });

  it('keeps the first id, shortens others, and cuts the longest text', () => {
    const rows = [
      ['id', 'made by', 'what it is for', 'scopes'],
      [ID, `api_key:${OTHER}`, 'the web shop', 'jobs:read jobs:write assets:read assets:write'],
    ];
    expect(lines(rows, 100)[1]).toBe(`  ${ID}  api_key:…469b5aad  the web shop    jobs:read jobs:write ass…`);
  });

  it.each([40, 60, 80, 100, 120])('is at most %d columns wide, and names what has no room', (columns) => {
    const titles = ['id', 'name', 'status', 'labels', 'scopes', 'credits', 'from where it may be used'];
    const text = 'a text of any length in a column of its own';
    const rows: Cell[][] = [titles, [ID, text, 'live', text, text, { text: '12.5', align: 'right' }, text]];
    const { rows: shown, leftOut } = fitted(rows, columns);
    for (const line of tableLines(shown)) expect(line.length).toBeLessThanOrEqual(columns);
    expect([...(shown[0] ?? []).map((cell) => (typeof cell === 'string' ? cell : cell.text)), ...leftOut]).toEqual(
      titles,
    );
  });

  it('leaves the first column and its ids as they are, however narrow it is', () => {
    expect(lines([['id', 'name'], [ID, 'ci']], 20)).toEqual(['  id', `  ${ID}`]); // prettier-ignore
  });
});

describe('records as a table', () => {
  const nowMs = Date.parse('2026-11-29T12:00:00Z');
  const records = [
    {
      id: ID,
      labels: { user: 'ada', team: 'north' },
      paid_micros: 2_500_000,
      made_at: '2026-11-29T11:00:00Z',
      expires_at: '2026-12-03T12:00:00Z',
      ends_at: '2030-01-31T00:00:00Z',
      name: 'ci',
    },
  ];

  it('show the most important fields first, labels as pairs, and on a terminal when something is from now', () => {
    const { titles, rows } = recordTable(records, { nowMs, onTerminal: true, first: ['id', 'gone', 'name'] });
    expect(titles).toEqual(['id', 'name', 'labels', 'paid credits', 'made at', 'expires at', 'ends at']);
    const paid = { text: '2.5', align: 'right' };
    expect(rows).toEqual([[ID, 'ci', 'user=ada team=north', paid, '1 h ago', 'in 4 d', '2030-01-31']]);
  });

  it('keep times to come exact where they are read by a program', () => {
    const { rows } = recordTable(records, { nowMs, onTerminal: false });
    expect(rows[0]?.slice(3, 6)).toEqual(['1 h ago', '2026-12-03T12:00:00Z', '2030-01-31T00:00:00Z']);
  });
});
