import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENTS, ROOT, repositoryFiles } from './support/repository-files';

/** Words that readers had to decode, with the better ones. Case does not matter; each part of a name is a word. */
const WORDS: [old: RegExp, better: string][] = [
  [/\bbeliev\w*/i, 'cache, cached, TTL'],
  [/\b(im)?patien\w*/i, 'timeout, retry, wait'],
  [/\bdoors?\b/i, 'guard (HTTP), index or public API (of a lib)'],
  [/\b(told|tells?|telling)\b/i, 'publish, report, record, send, return, show, say, distinguish'],
  [/\b(heard|hears?|hearing)\b/i, 'receive, received, subscribed'],
  [/\bpok(e|es|ed|ing)\b/i, 'request (`requestDispatch`)'],
  [/\b(whoever|whomever|whatever|whatsoever)\b/i, 'who, anyone, any, what, or a direct subject'],
  [/\bto be had\b/i, 'available'],
  [/\banew\b/i, 'again'],
];

const TEXT = /\.(ts|mjs|cjs|js|json|jsonc|md|yaml|yml|tpl|txt|sql|prisma|toml|css)$|Dockerfile$/;
/** Texts of others, what is recorded from others, applied migrations with what follows from them, and this list. */
const EXEMPT = [
  ...CLIENTS,
  /^package-lock\.json$/,
  /(^|\/)fixtures\/.*\.(json|md|txt)$/,
  /^prisma\/(migrations\/|structure\.sql$)/,
  /^test\/docs\/words\.spec\.ts$/,
];

/** A text in which the parts of names are words: `retryPatiently` and `BOOT_PATIENCE` both have one of the list. */
function wordsOf(text: string): string {
  return text.replace(/([a-z\d])([A-Z])/g, '$1 $2').replaceAll('_', ' ');
}

function faultsOf(path: string, text: string): string[] {
  const words = wordsOf(text);
  return WORDS.filter(([old]) => old.test(words)).flatMap(([old, better]) =>
    words.split('\n').flatMap((line, at) => {
      const found = old.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${at + 1}: "${found}": better ${better}`];
    }),
  );
}

describe('the words of the repository', () => {
  it('are the plain ones', () => {
    const isExempt = (path: string): boolean =>
      EXEMPT.some((own) => (typeof own === 'string' ? own === path : own.test(path)));
    const paths = repositoryFiles().filter((path) => TEXT.test(path) && !isExempt(path));
    expect(paths.length).toBeGreaterThan(500);
    expect(paths.flatMap((path) => faultsOf(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it.each(['// Whoever asks', 'const retryPatiently = 1;', 'BOOT_PATIENCE_MS', 'toldApart()', "it('tells why')"])(
    'are found in text and in the parts of names: %s',
    (line) => expect(faultsOf('a.ts', `\n${line}`)).toEqual([expect.stringMatching(/^a\.ts:2: "\w+": better /)]),
  );

  it.each(['spoken', 'unheard_of', 'patterns', 'outdoors', 'wholesale'])('are not found inside others: %s', (line) => {
    expect(faultsOf('a.ts', line.replace('_', ''))).toEqual([]);
  });
});
