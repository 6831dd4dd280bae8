import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pageGroups } from '../../../apps/console/docs-site/pages';
import { seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

/** What the browser loads before it shows anything: 250 KB, compressed. */
const FIRST_LOAD_BYTES = 250_000;
const CONSOLE = join(__dirname, '../../../dist/console');
const DOCS = join(__dirname, '../../../docs');

let browser: ConsoleBrowser;

/** The title of the page that is read after another. */
function titleAfter(slug: string): string {
  const slugs = pageGroups(DOCS).flatMap(({ pages }) => pages.map((page) => page.slug));
  const next = slugs[slugs.indexOf(slug) + 1];
  return /^# (.+)$/m.exec(readFileSync(join(DOCS, `${next}.md`), 'utf8'))?.[1] ?? '';
}

/** The docs as a site. */
export function docs(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ browser } = shared);
  });

  describe('the docs in the console', () => {
    it('are read without signing in, page by page, and found by their words', async () => {
      const page = await browser.open('/docs/api-guide');
      await page.getByRole('heading', { name: 'The API in ten minutes', level: 1 }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);

      await page.locator('.docs-text').getByRole('link', { name: 'Errors', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Errors', level: 1 }).waitFor();
      await page.getByRole('navigation', { name: 'Pages before and after' }).getByRole('link').last().click();
      await page.getByRole('heading', { name: titleAfter('errors'), level: 1 }).waitFor();

      await page.getByRole('combobox', { name: 'Search the docs' }).fill('queue full');
      await page.getByRole('option').first().waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/console\/docs\/errors#queue_full$/);
      await page.locator('#queue_full').waitFor();
    });

    it('open at the heading that the address names, on a phone and in the dark, too', async () => {
      const page = await browser.open('/docs/errors#credits_exhausted', {
        viewport: { width: 360, height: 740 },
        colorScheme: 'dark',
      });
      const heading = page.locator('#credits_exhausted');
      await heading.waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'All pages' }).click();
      await page.getByRole('link', { name: 'Self-hosting', exact: true }).click();
      await page.getByRole('heading', { name: 'Self-hosting', level: 1 }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    });

    it('are where an error of the console sends its reader', async () => {
      const page = await browser.open('/jobs');
      await page.getByLabel('API key').fill('mr_live_wrong');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('link', { name: 'What this means' }).click();
      await page.waitForURL(/\/console\/docs\/errors#unauthorized$/);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    });
  });

  it('the console is shown after at most 250 KB', () => {
    const page = readFileSync(join(CONSOLE, 'index.html'), 'utf8');
    const first = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name]) => name);
    const sizes = first.map((name) => readFileSync(join(CONSOLE, `${name ?? ''}.gz`)).length);
    expect(first.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(FIRST_LOAD_BYTES);
    // The pages of the docs are chunks of their own.
    expect(
      readdirSync(join(CONSOLE, 'assets')).filter((name) => /^(api-guide|errors)-.*\.js$/.test(name)),
    ).toHaveLength(2);
  });
}
