import type { TestAccount, TestStack } from '@millrace/testing';
import { seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const SIGN_IN = { name: 'Sign in', exact: true };

/** Sessions: by a link, and by a key. */
export function signIn(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('signing in to the console', () => {
    it('a link does it, leaves the address, and signing out ends it', async () => {
      const page = await browser.openSignedIn(account, '/jobs');
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
      expect(page.url()).not.toContain('link');
      expect(await page.evaluate('document.cookie')).toBe('');
      expect(await seriousFaults(page)).toEqual([]);
      await page.locator('button.account').click();
      await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
      await page.getByRole('heading', SIGN_IN).waitFor();
      await page.reload();
      await page.getByRole('heading', SIGN_IN).waitFor();
    });

    it('a key does it, and a wrong one is refused with the cure', async () => {
      const page = await browser.open();
      await page.getByRole('heading', SIGN_IN).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      const key = page.getByLabel('API key');
      await key.fill('mr_live_wrong');
      await page.getByRole('button', SIGN_IN).click();
      await page.getByText('The API key is not valid').waitFor();
      await key.fill(account.apiKey);
      await page.getByRole('button', SIGN_IN).click();
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    });
  });
}
