import type { Page } from 'playwright-core';
import type { TestAccount, TestStack } from '@millrace/testing';
import { modal, seriousFaults, untilTrue, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const QUICK = '50';
/** Steps of a picture that is still being made when it is canceled. */
const ENDLESS = '100000';

/** The playground with its example, as long as so many steps take. */
async function openExample(page: Page, steps: string): Promise<void> {
  await page.getByRole('button', { name: 'Start with an example' }).click();
  await page.getByLabel('steps', { exact: true }).fill(steps);
}

const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run this graph' }).click();
const status = (page: Page, name: string): Promise<void> => page.getByText(name, { exact: true }).first().waitFor();

/** A job from the playground to its picture. Needs one worker. */
export function jobLife(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('a job in the console', () => {
    it('is made, and copied as a program, where the page came over plain HTTP from another machine', async () => {
      const { apiKey } = await stack.createAccount();
      const page = await browser.open(browser.plainAddress('/new'));
      await page.getByLabel('API key').fill(apiKey);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      // It makes no picture: the address of one has the service's own host, which such a page may show nothing of.
      await openExample(page, ENDLESS);
      expect(await page.evaluate('isSecureContext')).toBe(false);
      await run(page);
      await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
      await page.getByRole('button', { name: 'Copy as …' }).click();
      const dialog = modal(page);
      await dialog.getByRole('button', { name: /^Copy/ }).first().click();
      await dialog.getByText('Copied', { exact: true }).waitFor();

      const other = await browser.open();
      await other.getByLabel('API key').focus();
      await other.keyboard.press('Control+v');
      expect(await other.getByLabel('API key').inputValue()).toContain('/api/v2/jobs');

      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await status(page, 'Canceled');
    });

    it('is made in the playground, watched until it has its picture, and run again with changes', async () => {
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page, QUICK);
      expect(await seriousFaults(page)).toEqual([]);
      await run(page);
      await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
      await status(page, 'Succeeded');
      const picture = page.locator('.output-picture img');
      await picture.waitFor();
      await untilTrue(page, 'document.querySelector(".output-picture img")?.naturalWidth > 0');
      expect(await seriousFaults(page)).toEqual([]);

      const first = page.url();
      await page.getByRole('link', { name: 'Run again with changes' }).click();
      const seed = page.getByLabel('seed', { exact: true });
      const before = await seed.inputValue();
      await page.getByRole('button', { name: 'Random seed' }).click();
      expect(await seed.inputValue()).not.toBe(before);
      await page.getByText(/^About \d.* credits/).waitFor();
      await run(page);
      await page.waitForURL((url) => /\/jobs\/[0-9a-f-]{36}$/.test(url.pathname) && url.href !== first);
      await status(page, 'Succeeded');

      await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
      await untilTrue(page, `document.querySelectorAll('a[href*="/console/jobs/"]').length === 2`);
      expect(await seriousFaults(page)).toEqual([]);

      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search and commands' }).fill(first.split('/').at(-1) ?? '');
      await page.keyboard.press('Enter');
      await page.waitForURL(first);
    });

    it('has beside its button what a run would come to, also where it would be refused', async () => {
      const [fresh, poor] = [await stack.createAccount(), await stack.createAccount(1)];
      const page = await browser.openSignedIn(fresh, '/new');
      await openExample(page, QUICK);
      const note = page.locator('.editor-submit .estimate');
      await note.getByText('Its first run: time and cost are not known yet').waitFor();
      expect(await note.getAttribute('title')).toMatch(/^\d.* credits are held while it runs\.$/);
      expect(await stack.test.database.models.job.count({ where: { accountId: fresh.id } })).toBe(0);
      const without = await browser.openSignedIn(poor, '/new');
      await openExample(without, QUICK);
      await without
        .locator('.editor-submit .estimate-refused')
        .getByText(/credits/)
        .waitFor();
      expect(await seriousFaults(without)).toEqual([]);
    });

    it('is canceled while it runs', async () => {
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page, ENDLESS);
      await run(page);
      await status(page, 'Running');
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await status(page, 'Canceled');
    });

    it('says why it waits, until it runs', async () => {
      const first = await browser.openSignedIn(account, '/new');
      await openExample(first, ENDLESS);
      await run(first);
      await status(first, 'Running');
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page, ENDLESS);
      await run(page);
      const reason = page.getByText(/^The workers are busy with other jobs\./);
      await reason.waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await first.getByRole('button', { name: 'Cancel', exact: true }).click();
      await status(page, 'Running');
      await reason.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await status(page, 'Canceled');
    });

    it('is not submitted while a value is no number, and the node says so', async () => {
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page, 'many');
      await page.getByRole('button', { name: '1 node to mend' }).waitFor();
      expect(await page.getByRole('button', { name: 'Run this graph' }).isDisabled()).toBe(true);
      await page.getByLabel('steps', { exact: true }).fill(QUICK);
      await page.getByRole('button', { name: '1 node to mend' }).waitFor({ state: 'detached' });
    });

    it('is submitted with a value that the service takes, also where its type is another', async () => {
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page, `"${QUICK}"`);
      await page.locator('.editor-submit .estimate').waitFor();
      await run(page);
      await status(page, 'Succeeded');
    });

    it('is shown on a phone', async () => {
      const page = await browser.openSignedIn(account, '/jobs', {
        viewport: { width: 360, height: 740 },
        colorScheme: 'dark',
      });
      await page.locator('a[href*="/console/jobs/"]').first().click();
      await page.getByRole('heading', { name: 'Outputs' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });
}
