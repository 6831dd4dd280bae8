import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { join, modal, seriousFaults, showTab, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const KEYS = '/platform/v1/api-keys';
const clientOf = (key: string): ApiClient => new ApiClient(stack.publicUrl, key);

const ENDED = 'Your session has ended.';
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
      expect(await page.getByText(ENDED).count()).toBe(0);
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

    it('a link that counts no more says how to get another one', async () => {
      const page = await browser.openSignedIn(account, '/jobs');
      const link = await browser.linkTo(account.id);
      const other = await browser.open(`/#link=${link}`);
      await join(other);
      await page.context().clearCookies();
      await page.goto('about:blank');
      await page.goto(browser.address(`/#link=${link}`));
      await page.getByRole('heading', { name: 'This link signs nobody in', level: 1 }).waitFor();
      await page.getByText('Ask for a new link under “Sign in by mail”, and open it in this browser.').waitFor();
      expect(await page.getByText('Authorization').count()).toBe(0);
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Sign in in another way' }).click();
      await page.getByText('Sign in by mail').waitFor();
    });

    it('a session that ended says so, and the same screen follows the next one', async () => {
      const page = await browser.openSignedIn(account, '/keys');
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await stack.test.database.models.consoleSession.deleteMany({ where: { accountId: account.id } });
      await page.getByRole('alert').getByText(ENDED).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('API key').fill(account.apiKey);
      await page.getByRole('button', SIGN_IN).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      expect(await page.getByText(ENDED).count()).toBe(0);
    });

    it('a tab never acts in another account than it shows', async () => {
      const other = await stack.createAccount();
      const tab = await browser.openSignedIn(account, '/keys');
      await tab.getByRole('button', { name: 'New key', exact: true }).click();
      await tab.getByLabel('Name').fill('of the first account');
      // Hidden, it reads nothing by itself: what it knows is old.
      await showTab(tab, 'hidden');
      const second = await tab.context().newPage();
      await second.goto(browser.address(`/keys#link=${await browser.linkTo(other.id)}`));
      await join(second);
      await second.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await Promise.all([
        tab.waitForResponse((answer) => answer.status() === 409),
        tab.getByRole('button', { name: 'Create the key', exact: true }).click(),
      ]);
      await tab.getByRole('heading', { name: /^This browser is signed in to .* now$/ }).waitFor();
      await modal(tab).waitFor({ state: 'detached' });
      await tab.getByText('Console', { exact: true }).first().waitFor();
      for (const { apiKey } of [account, other]) {
        const { text } = await clientOf(apiKey).call('GET', KEYS);
        expect(text).not.toContain('of the first account');
      }
    });

    it('nothing of an account is shown to who signs in to another one after its session has ended', async () => {
      const name = 'Seen by the first account alone';
      await clientOf(account.apiKey).call('POST', KEYS, { json: { name } });
      const page = await browser.openSignedIn(account, '/keys');
      await page.getByText(name).first().waitFor();
      await page.evaluate("fetch('/platform/v1/sessions', { method: 'DELETE', headers: { 'Millrace-Console': '1' } })");
      await page.getByRole('heading', SIGN_IN).waitFor();
      // What is read from here on never arrives: only what was kept could be shown.
      await page.route(`**${KEYS}`, () => undefined);
      await page.getByLabel('API key').fill((await stack.createAccount()).apiKey);
      await page.getByRole('button', SIGN_IN).click();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      expect(await page.getByText(name).count()).toBe(0);
    });
  });
}
