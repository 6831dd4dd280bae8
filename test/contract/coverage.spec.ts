import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, JOB_ERROR_CODES } from '@millrace/contracts';

const ROOT = join(__dirname, '../..');

/** Codes of the contract's own table (7.2); the others are the supplement's. */
const CONTRACT_CODES: readonly string[] = [
  'invalid_workflow',
  'workflow_format_ui',
  'missing_asset',
  'idempotency_key_reuse',
  'hash_mismatch',
  'blob_not_found',
  'not_found',
  'queue_full',
  'deployment_not_ready',
  'deployment_stopped',
  'insufficient_credits',
  'unauthorized',
  'forbidden',
  'upstream_error',
];

/** Codes that the contract's API answers beyond those, according to its document. */
const DOCUMENT = readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8');
const ADDED_CODES = ERROR_CODES.filter((code) => !CONTRACT_CODES.includes(code) && DOCUMENT.includes(`\`${code}\``));

/** What each section rules, by the names that the table gives the rules: '' is the section as a whole. */
const SECTIONS: Record<string, string[]> = {
  '1': ['polling', 'durable', 'assets', 'links', 'surfaces', 'mount'],
  '2.1': ['', 'expires_at', 'queue_position', 'progress', 'outputs', 'metrics'],
  '2.2': ['', 'weight'],
  '2.3': ['', 'type', 'hash', 'retained', 'url_expires_at'],
  '2.4': [''],
  '2.5.1': [''],
  '2.5.2': [''],
  '2.5.3': [''],
  '2.6': ['', 'text', 'truncated', 'shed'],
  '2.6.1': [''],
  '2.6.2': [''],
  '2.6.3': [''],
  '2.6.4': [''],
  '2.6.5': ['surface', 'unfinished', 'predates', 'demo'],
  '2.6.6': [''],
  '2.7': [''],
  '3': ['creation', 'running', 'cancel', 'failed', 'expired', 'terminal', 'moves'],
  '4.1': [
    'header',
    'workflow',
    'verbatim',
    'extra_data',
    'vendor key',
    'secrets',
    'compared',
    'reserved',
    'check 1',
    'check 2',
    'check 3',
    'check 4',
    'answers',
    'key 1',
    'key 2',
    'key 3',
    'key 4',
    'key 5',
    'key 6',
    'key 7',
  ],
  '4.2': ['job', 'cancel', 'asset', 'events', 'list'],
  '5.1': [''],
  '5.2': [''],
  '5.3': ['', 'token'],
  '5.4': [''],
  '5.5': ['', 'forbidden'],
  '5.6': [''],
  '6.1': [''],
  '6.2': [''],
  '6.3': [''],
  '6.4': [''],
  '7.1': ['', 'details'],
  '7.2': ['rule 1', 'rule 2', 'rule 3'],
  '8': ['key', 'Retry-After', 'queue', 'retention', 'logs', 'progress'],
  '9.1': [''],
  '9.2': [''],
  '9.3': [''],
  S1: [
    'post',
    'list',
    'list items',
    'filters',
    'bad list',
    'workflow',
    'logs',
    'streams',
    'cancel',
    'metadata',
    'upload',
    'part order',
    'upload fields',
    'upload key',
    'upload memory',
    'expires_in',
    'from-hash',
    'by-hash',
    'grace',
    'asset',
    'delete',
    'content',
    'ranges',
    'HEAD, ETag',
    'redirect',
    'openapi',
    'reference',
  ],
  S2: [
    '405',
    'fields',
    'null',
    'unknown',
    'extra_data',
    'reasons',
    'at once',
    'escapes',
    'Host',
    'thrown',
    'release',
    'Retry-After',
  ],
  S3: [
    'frames',
    'comment',
    'size',
    'connect',
    'position',
    'throttle',
    'order',
    'end',
    'ended',
    'Redis',
    'slow',
    'memory',
    'drain',
    'polls',
  ],
  S4: ['digits', 'text', 'replaced', 'depth', 'hints', 'malformed', 'UI'],
  S5: ['links', 'absolute', 'outer origin'],
  S6: ['canceled', 'worker lost', '404'],
  S7: ['everything', 'text', 'type', 'node', 'order', 'names', 'hash'],
  S8: ['quotes', 'gzip', 'chunked', 'redirects', 'stopped', 'timestamps', 'closed'],
};

/** Every rule of the contract and its supplement: each must have a test. */
const RULES = [
  ...Object.entries(SECTIONS).flatMap(([section, rules]) => rules.map((rule) => `${section} ${rule}`.trim())),
  ...CONTRACT_CODES.map((code) => `7.2 ${code}`),
  ...ADDED_CODES.map((code) => `S2 ${code}`),
  ...JOB_ERROR_CODES.map((code) => `S6 ${code}`),
  'S6 deadline',
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

  it('has a test for every rule and every error code, and no rule twice', () => {
    const named = table.map(({ rule }) => rule);
    expect(RULES.filter((rule) => !named.includes(rule))).toEqual([]);
    expect(named.filter((rule) => !RULES.includes(rule))).toEqual([]);
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
