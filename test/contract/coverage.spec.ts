import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');

/** Rules of the contract and its supplement that must have a test, by the names that the table gives them. */
const RULES = [
  ...['1 polling', '1 durable', '1 surfaces', '2.1', '2.1 metrics', '2.1 outputs', '2.2', '2.3', '2.4'],
  ...['2.5.1', '2.5.2', '2.5.3', '3 creation', '3 running', '3 cancel', '3 failed', '3 expired', '3 moves'],
  ...['4.1 verbatim', '4.1 extra_data', '4.1 secrets', '4.1 reserved'],
  ...[1, 2, 3, 4].map((check) => `4.1 check ${check}`),
  ...[1, 2, 3, 4, 5, 6, 7].map((rule) => `4.1 key ${rule}`),
  ...['5.1', '5.3', '5.5', '5.6', '6.1', '6.2', '6.3', '7.1', '7.1 details'],
  ...[
    'invalid_workflow',
    'workflow_format_ui',
    'missing_asset',
    'idempotency_key_reuse',
    'not_found',
    'queue_full',
  ].map((code) => `7.2 ${code}`),
  ...['insufficient_credits', 'unauthorized', 'upstream_error'].map((code) => `7.2 ${code}`),
  ...['7 rule 1', '7 rule 2', '8 key', '8 Retry-After', '8 queue', '9.1', '9.3'],
  ...['post', 'list', 'list items', 'filters', 'bad list', 'workflow', 'streams', 'cancel', 'metadata'].map(
    (rule) => `S1 ${rule}`,
  ),
  ...['fields', 'null', 'unknown', 'reasons', '405', '413', '415', 'JSON', 'escapes', 'headers', 'release'].map(
    (rule) => `S2 ${rule}`,
  ),
  ...['frames', 'connect', 'position', 'throttle', 'order', 'end', 'ended', 'Redis', 'slow', 'drain'].map(
    (rule) => `S3 ${rule}`,
  ),
  ...['S4 digits', 'S4 depth', 'S4 hints', 'S6 worker lost', 'S6 404'],
];

interface Row {
  rule: string;
  tests: { file: string; name: string }[];
}

function readTable(): Row[] {
  const lines = readFileSync(join(ROOT, 'docs/contract-coverage.md'), 'utf8').split('\n');
  const rows = lines.filter((line) => line.startsWith('|')).slice(2);
  return rows.map((line) => {
    const [rule = '', , tests = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return {
      rule,
      tests: tests.split('; ').map((test) => {
        const [file = '', name = ''] = test.split(' › ');
        return { file, name };
      }),
    };
  });
}

describe('docs/contract-coverage.md', () => {
  const table = readTable();

  it('has a test for every rule, and no rule twice', () => {
    const named = table.map(({ rule }) => rule);
    expect(RULES.filter((rule) => !named.includes(rule))).toEqual([]);
    expect(named.filter((rule, at) => named.indexOf(rule) !== at)).toEqual([]);
  });

  it('names tests that exist', () => {
    const texts = new Map<string, string>();
    const textOf = (file: string): string => {
      const text = texts.get(file) ?? (existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : '');
      texts.set(file, text);
      return text;
    };
    const missing = table.flatMap(({ rule, tests }) =>
      tests
        .filter(({ file, name }) => name === '' || !textOf(file).includes(name))
        .map(({ name }) => `${rule}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});
