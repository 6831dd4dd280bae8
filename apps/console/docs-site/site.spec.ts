import { mkdtempSync, readdirSync, rmSync, writeFileSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import MiniSearch from 'minisearch';
import { ERROR_CODES, JOB_ERROR_CODES } from '@millrace/contracts';
import type { FoundSection } from '../src/docs/search-options';
import { SEARCH_OPTIONS } from '../src/docs/search-options';
import { stateTable } from './blocks';
import { renderPage } from './markdown';
import { searchIndex } from './search-index';
import { readSite } from './site';

const DOCS = join(__dirname, '../../../docs');
const site = readSite(DOCS);

const render = (markdown: string): string =>
  renderPage(markdown, {
    link: (href) => href,
    picture: (name) => name,
    nameOf: (file) => (file === 'errors.md' ? 'Errors' : null),
  }).html;

describe('the docs as a site', () => {
  it('names a page where a link shows its file', () => {
    expect(render('[errors.md](errors.md), [what failed](errors.md), [a.md](a.md)')).toBe(
      '<p><a href="errors.md">Errors</a>, <a href="errors.md">what failed</a>, <a href="a.md">a.md</a></p>\n',
    );
  });

  it('has every page below docs/, each once', () => {
    const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
    const slugs = site.pages.map(({ slug }) => `${slug}.md`);
    expect(slugs.sort()).toEqual(files.map((name) => relative('.', name)).sort());
  });

  it('has a section for each error code', () => {
    const headings = site.pages.find(({ slug }) => slug === 'errors')?.headings.map(({ id }) => id);
    expect(headings).toEqual(expect.arrayContaining([...ERROR_CODES, ...JOB_ERROR_CODES]));
  });

  it('has nothing that the policy forbids, and no markup of a page', () => {
    for (const { slug, html } of site.pages) {
      expect([slug, /<[^>]*\s(style|on\w+)=|<(script|style|iframe|object)\b/i.exec(html)?.[0]]).toEqual([
        slug,
        undefined,
      ]);
    }
    expect(render('a <b onclick="x">bold</b>\n\n<script>alert(1)</script>')).not.toMatch(/<(b|script)\b/);
    expect(render('[x](javascript:alert(1))')).not.toContain('href');
  });

  it('aligns cells by a class', () => {
    expect(render('| a | b |\n| - | -: |\n| 1 | 2 |')).toContain('<td class="right">2</td>');
  });

  it('shows a state diagram as its moves, and refuses any other', () => {
    const html = stateTable('stateDiagram-v2\n  [*] --> queued: a submission\n  failed --> [*]\n');
    expect(html).toContain('<tr><td>start</td><td>queued</td><td>a submission</td></tr>');
    expect(html).toContain('<tr><td>failed</td><td>end</td><td></td></tr>');
    expect(() => stateTable('graph LR\n a --> b')).toThrow('graph LR');
  });

  it('finds what is searched, in the place of its heading', () => {
    const index = MiniSearch.loadJSON(searchIndex(site.pages), SEARCH_OPTIONS);
    const find = (text: string): string | undefined => (index.search(text)[0] as FoundSection | undefined)?.id;
    expect(find('idempotency_key_reuse')).toBe('errors#idempotency_key_reuse');
    expect(find('queue full')).toBe('errors#queue_full');
    expect(find('back up restore')).toBe('operations#backup-and-restore');
  });
});

describe('a link that leads nowhere', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const withLink = (link: string): string => {
    mkdirSync(join(folder, 'decisions'), { recursive: true });
    for (const { slug } of site.pages) {
      const text = readFileSync(join(DOCS, `${slug}.md`), 'utf8');
      writeFileSync(join(folder, `${slug}.md`), /^# .+$/m.exec(text)?.[0] ?? '');
    }
    writeFileSync(join(folder, 'errors.md'), `# Errors\n\n${link}\n`);
    return folder;
  };

  it.each(['[a](gone.md)', '[a](#gone)', '[a](glossary.md#gone)', '![a](gone.png)'])('fails the build: %s', (link) => {
    expect(() => readSite(withLink(link))).toThrow(/docs\/errors\.md: .*gone/);
  });

  it('of a screen of the console leads to the screen', () => {
    const { pages } = readSite(withLink('[Webhooks](../apps/console/src/webhooks)'));
    expect(pages.find(({ slug }) => slug === 'errors')?.html).toContain('<a href="/console/webhooks">Webhooks</a>');
  });

  it('of the repository is text, and one of the service its address', () => {
    const { pages } = readSite(
      withLink('[the chart](../helm/README.md) [api](openapi.json) [words](glossary.md#glossary)'),
    );
    const html = pages.find(({ slug }) => slug === 'errors')?.html;
    expect(html).toContain(
      '<p>the chart <a href="/api/v2/openapi.json">api</a> <a href="/console/docs/glossary#glossary">words</a></p>',
    );
  });
});
