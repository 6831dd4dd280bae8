import { readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { ADMIN_VERBS } from '../../apps/cli/src/commands/admin/admin-verbs';
import { CLIENTS, ROOT, SOURCES, repositoryFiles } from './support/repository-files';

const FILES = repositoryFiles();
const FOLDERS = new Set(FILES.flatMap(foldersOf));
const exists = (path: string): boolean => FILES.includes(path) || FOLDERS.has(path);

function foldersOf(file: string): string[] {
  const parts = dirname(file).split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

interface Page {
  path: string;
  /** Without code blocks, in which paths may be anything. */
  prose: string;
  text: string;
}

const PAGES: Page[] = FILES.filter((path) => path.endsWith('.md') && !path.includes('/fixtures/'))
  .filter((path) => !CLIENTS.includes(path))
  .map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, text, prose: text.replace(/^ *```[\s\S]*?^ *```/gm, '') };
  });

const matchesOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, found]) => found ?? '');
const faultsOf = (find: (page: Page) => string[]): string[] =>
  PAGES.flatMap((page) => find(page).map((fault) => `${page.path}: ${fault}`));

describe('the pages', () => {
  it('link to files and folders that exist', () => {
    const faults = faultsOf(({ path, prose }) =>
      matchesOf(prose, /\]\(([^)#\s]+)(?:#[^)]*)?\)/g).filter(
        (link) => !/^[a-z]+:/.test(link) && !exists(normalize(join(dirname(path), link)).replace(/\/$/, '')),
      ),
    );
    expect(faults).toEqual([]);
  });

  it('name verbs that `millrace admin` has', () => {
    const verbs = new Set(ADMIN_VERBS.map(({ name }) => name));
    const faults = faultsOf(({ text }) =>
      matchesOf(text, /\bmillrace admin(?: --reason (?:"[^"]*"|'[^']*'))? ([a-z][a-z-]*)/g).filter(
        (verb) => !verbs.has(verb),
      ),
    );
    expect(faults).toEqual([]);
  });

  it('name paths that exist', () => {
    const inSources = new RegExp(`^(${SOURCES.join('|')})/[\\w./-]+$`);
    const faults = faultsOf(({ prose }) =>
      matchesOf(prose, /`([^`\s]+)`/g)
        .filter((name) => inSources.test(name) && !name.includes('NAME'))
        .filter((name) => !exists(name.replace(/\/$/, ''))),
    );
    expect(faults).toEqual([]);
  });

  it('name files that exist', () => {
    const names = new Set(FILES.map((path) => basename(path)));
    const faults = faultsOf(({ prose }) =>
      matchesOf(prose, /`([\w.-]+\.(?:ts|mjs|cjs|sql|tpl))`/g)
        .filter((name) => !/^(verb-)?noun\.|NAME/.test(name))
        .filter((name) => !names.has(name)),
    );
    expect(faults).toEqual([]);
  });

  it('name settings that exist', () => {
    const settings = new Set(matchesOf(readFileSync(join(ROOT, 'docs/settings.md'), 'utf8'), /^## `(\w+)`$/gm));
    // What the command line and the tests read, and a variable of the guide's own.
    const others = /^MILLRACE_(URL|API_KEY|OPS_URL|KEY|TEST_\w+)$/;
    const faults = faultsOf(({ text }) =>
      matchesOf(text, /\b(MILLRACE_[A-Z][A-Z_]*[A-Z])\b/g).filter((name) => !settings.has(name) && !others.test(name)),
    );
    expect(faults).toEqual([]);
  });

  it('name commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const faults = faultsOf(({ text }) => matchesOf(text, /npm run ([\w:]+)/g).filter((name) => !(name in scripts)));
    expect(faults).toEqual([]);
  });
});

describe('the security questionnaire', () => {
  const text = PAGES.find(({ path }) => path === 'docs/questionnaire.md')?.text ?? '';
  const answers = [...text.matchAll(/^\| (.+?\?) +\| (.+?) +\|$/gm)].map(([, question = '', answer = '']) => [
    question,
    answer,
  ]);

  it.each(answers)('%s is answered by a page, a test or the operator', (_question, answer) => {
    expect(answer).toMatch(
      /\]\([^)]+\)|`[\w.-]+spec(?:\.ts)?`|`test\/[\w./-]+`|`[\w./-]+\.(?:int-|e2e-)?spec\.ts`|\*\*operator\*\*/,
    );
  });

  it('names tests that exist', () => {
    const tests = FILES.filter((path) => path.endsWith('spec.ts')).map((path) => basename(path, '.ts'));
    const named = matchesOf(text, /`([\w-]+\.(?:int-|e2e-|timing-)?spec)`/g);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !tests.includes(name))).toEqual([]);
  });
});

describe('the README', () => {
  const listed = PAGES.find(({ path }) => path === 'README.md')?.text ?? '';

  it.each(PAGES.map(({ path }) => path).filter((path) => /^docs\/[\w-]+\.md$/.test(path)))('lists %s', (path) => {
    expect(listed).toContain(`| [${path}](${path}) `);
  });
});

describe('the decisions', () => {
  const pages = PAGES.filter(({ path }) => /^docs\/decisions\/\d/.test(path));
  const index = PAGES.find(({ path }) => path === 'docs/decisions/README.md')?.text ?? '';

  it.each(pages.map((page) => [basename(page.path), page]))('%s has a context, a choice and a price', (name, page) => {
    expect(matchesOf(page.text, /^## (\w+)$/gm)).toEqual(['Context', 'Choice', 'Price']);
    const lines = page.text.split('\n').filter((line) => !line.startsWith('|'));
    expect(lines.length).toBeLessThan(40);
    expect(index).toContain(`](${name}) `);
  });
});

describe('the glossary', () => {
  it('has at most 32 words, each once', () => {
    const text = PAGES.find(({ path }) => path === 'docs/glossary.md')?.text ?? '';
    const words = matchesOf(text, /^\| ([a-z ]+?) +\|/gm).filter((word) => word !== 'word');
    expect(words.length).toBeGreaterThan(0);
    expect(words.length).toBeLessThanOrEqual(32);
    expect(new Set(words).size).toBe(words.length);
  });
});
