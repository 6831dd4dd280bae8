import type { Page } from 'playwright-core';
import type { TestStack } from '@millrace/testing';
import { seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let browser: ConsoleBrowser;

/** The one account, of which the service shows nothing. */
const ACCOUNT = '00000000-0000-7000-8000-000000000001';
const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;
const SIGN_IN = { name: 'Sign in', exact: true };
const title = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
const jobs = (page: Page): Promise<void> => title(page, 'Jobs');

/** The console of a self-hosted service that has a token. */
export function selfHosted(shared: ConsoleStack, token: string): void {
  beforeAll(() => {
    ({ stack, browser } = shared);
  });

  describe('the console of a self-hosted service with a token', () => {
    it('asks for the token, and shows nothing of accounts, members and keys', async () => {
      const page = await browser.open('/', PHONE);
      await title(page, 'Sign in');
      expect(await page.locator('main').textContent()).not.toMatch(/API key|by mail/);
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('Token').fill('wrong');
      await page.getByRole('button', SIGN_IN).click();
      await page.getByText('Check that all of the token was copied').waitFor();
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', SIGN_IN).click();
      await jobs(page);
      await page.getByRole('button', { name: 'Open the navigation' }).click();
      await page.getByRole('link', { name: 'Account', exact: true }).waitFor();
      expect(await page.getByRole('link', { name: 'Members', exact: true }).count()).toBe(0);
      expect(await page.getByRole('link', { name: 'API keys', exact: true }).count()).toBe(0);
      await page.getByRole('link', { name: 'Account', exact: true }).click();
      await title(page, 'Account');
      await page.getByText('Self-hosted', { exact: true }).waitFor();
      expect(await page.locator('main').textContent()).not.toMatch(/Plan|API keys|keys:admin/);
      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.getByLabel('Token').waitFor();
    });

    it('takes a link as its token, and joins nobody to anything', async () => {
      const page = await browser.open(`/jobs#link=${await browser.linkTo(ACCOUNT)}`);
      await title(page, 'Sign in');
      await page.getByText('This link signs this browser in to the service').waitFor();
      expect(await page.locator('main').textContent()).not.toMatch(/Join|account/);
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('button', SIGN_IN).click();
      await jobs(page);
      await page.goto(`${stack.publicUrl}/console/jobs#link=${await browser.linkTo(ACCOUNT)}`);
      await page.reload();
      await jobs(page);
    });
  });
}
