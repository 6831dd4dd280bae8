import type { Page } from 'playwright-core';
import { eventually, type TestAccount, type TestStack } from '@millrace/testing';
import { seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;

/** What the API answers to a program with this key. */
async function answerTo(key: string, path = '/api/v2/jobs'): Promise<number> {
  const { status } = await fetch(`${stack.publicUrl}${path}`, { headers: { Authorization: `Bearer ${key}` } });
  return status;
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const title = (page: Page, name: string): Promise<void> => page.getByRole('heading', { name, exact: true }).waitFor();

/** The key that a dialog shows once. The dialog is left open. */
async function shownKey(page: Page, name: string): Promise<string> {
  await title(page, `The key of ${name}`);
  const key = await page.locator('.code-block pre').innerText();
  expect(key).toMatch(/^mr_live_[0-9A-Za-z]{36}$/);
  return key;
}

/** A new key that may read jobs; its dialog is closed. */
async function createReader(page: Page, name: string): Promise<string> {
  await press(page, 'New key');
  await page.getByLabel('Name', { exact: true }).fill(name);
  for (const scope of ['jobs:write', 'assets:read', 'assets:write']) {
    await page.getByLabel(scope, { exact: true }).uncheck();
  }
  expect(await seriousFaults(page)).toEqual([]);
  await press(page, 'Create the key');
  const key = await shownKey(page, name);
  await page.keyboard.press('Escape');
  expect(await shownKey(page, name)).toBe(key);
  expect(await seriousFaults(page)).toEqual([]);
  await press(page, 'I have stored it');
  return key;
}

/** API keys, and the page of the account. */
export function keys(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('API keys in the console', () => {
    it('are created with scopes and shown once, rotated with an overlap, and revoked', async () => {
      const page = await browser.openSignedIn(account, '/keys');
      const key = await createReader(page, 'ci');
      await page.getByRole('button', { name: 'Rotate ci' }).waitFor();
      expect(await page.content()).not.toContain(key);
      expect(await answerTo(key)).toBe(200);
      expect(await answerTo(key, '/platform/v1/api-keys')).toBe(403);
      expect(await seriousFaults(page)).toEqual([]);

      await press(page, 'Rotate ci');
      await page.getByLabel('The old key keeps working for').selectOption('1 hour');
      await press(page, 'Rotate the key');
      const successor = await shownKey(page, 'ci');
      await press(page, 'I have stored it');
      expect(successor).not.toBe(key);
      expect([await answerTo(key), await answerTo(successor)]).toEqual([200, 200]);

      const replaced = page.getByRole('row').filter({ hasText: 'Replaced, still live' });
      await replaced.getByRole('button', { name: 'Revoke ci' }).click();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Revoke the key');
      await replaced.waitFor({ state: 'detached' });
      await eventually('the old key to be refused', async () => (await answerTo(key)) === 401);
      expect(await answerTo(successor)).toBe(200);
      await press(page, 'Show 1 ended key');
      await page.getByRole('row').filter({ hasText: 'ci' }).nth(1).waitFor();
    });

    it('are not lost to a way out of the page that shows one', async () => {
      const page = await browser.openSignedIn(account, '/jobs');
      await page.getByRole('link', { name: 'API keys', exact: true }).click();
      await press(page, 'New key');
      await page.getByLabel('Name', { exact: true }).fill('kept');
      await press(page, 'Create the key');
      const key = await shownKey(page, 'kept');
      await page.keyboard.press('Control+k');
      expect(await page.getByRole('combobox', { name: 'Search and commands' }).count()).toBe(0);
      await page.goBack();
      expect(await shownKey(page, 'kept')).toBe(key);
      const asked = page.waitForEvent('dialog');
      const left = page.reload().catch(() => 'it stays');
      const question = await asked;
      expect(question.type()).toBe('beforeunload');
      await question.dismiss();
      expect(await shownKey(page, 'kept')).toBe(key);
      await press(page, 'I have stored it');
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await title(page, 'Jobs');
      await left;
    });

    it('are not made later where the browser was offline: the act fails at once', async () => {
      const page = await browser.openSignedIn(account, '/keys');
      await press(page, 'New key');
      await page.getByLabel('Name', { exact: true }).fill('made offline');
      await page.context().setOffline(true);
      await press(page, 'Create the key');
      await page.getByText('It is not known whether this was done').waitFor();
      await page.context().setOffline(false);
      await press(page, 'Cancel');
      await page.reload();
      await page.getByText('This session').first().waitFor();
      expect(await page.getByText('made offline').count()).toBe(0);
    });

    it('are made with labels for those who see no other jobs, and show them', async () => {
      const page = await browser.openSignedIn(account, '/keys');
      await press(page, 'New key');
      await page.getByLabel('Name', { exact: true }).fill('an end user');
      await page.getByLabel('Labels', { exact: true }).fill('user=ada');
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Create the key');
      const key = await shownKey(page, 'an end user');
      await press(page, 'I have stored it');
      await page.getByRole('row').filter({ hasText: 'user=ada' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      expect([await answerTo(key), await answerTo(key, '/platform/v1/deployments')]).toEqual([200, 403]);
    });

    it('end the session that acts as one, after a warning', async () => {
      const page = await browser.openSignedIn(account, '/keys');
      const own = page.getByRole('row').filter({ hasText: 'This session' });
      await own.getByRole('button', { name: 'Revoke Console' }).click();
      await page.getByText('you are signed out').waitFor();
      await press(page, 'Revoke and sign out');
      await title(page, 'Sign in');
    });

    it('that may do more than the session are shown without acts that are refused', async () => {
      const wish = { name: 'a developer', scopes: ['jobs:read', 'keys:admin'] };
      const { key } = await stack.admin<{ key: string }>('POST', `/accounts/${account.id}/api-keys`, wish);
      const page = await browser.open('/keys');
      await page.getByLabel('API key').fill(key);
      await press(page, 'Sign in');
      await page
        .getByRole('row')
        .filter({ hasText: 'This session' })
        .getByRole('button', { name: /^Revoke / })
        .waitFor();
      const above = page.getByRole('row').filter({ hasText: 'All scopes' }).filter({ hasText: 'a test' });
      await above.waitFor();
      expect(await above.getByRole('button').count()).toBe(0);
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('lead a session that may read no jobs to the first page that it may read', async () => {
      const wish = { name: 'books', scopes: ['usage:read', 'credits:write'] };
      const { key } = await stack.admin<{ key: string }>('POST', `/accounts/${account.id}/api-keys`, wish);
      const page = await browser.open('/');
      await page.getByLabel('API key').fill(key);
      await press(page, 'Sign in');
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/usage');
      expect(await page.getByRole('link', { name: 'Jobs', exact: true }).count()).toBe(0);
    });

    it('are offered only to a session that may manage them', async () => {
      const reader = { name: 'reader', scopes: ['jobs:read'] };
      const { key } = await stack.admin<{ key: string }>('POST', `/accounts/${account.id}/api-keys`, reader);
      const page = await browser.open('/keys');
      await page.getByLabel('API key').fill(key);
      await press(page, 'Sign in');
      await title(page, 'This session may not manage keys');
      await page.getByRole('link', { name: 'Account', exact: true }).waitFor();
      expect(await page.getByRole('link', { name: 'API keys', exact: true }).count()).toBe(0);
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('are on a screen of their own: where it cannot be loaded, the rest stays, and loading the page again brings it', async () => {
      const page = await browser.openSignedIn(account, '/jobs');
      await title(page, 'Jobs');
      await page.route(/\/console\/assets\/.*\.css$/, (route) => route.abort());
      await page.getByRole('link', { name: 'API keys', exact: true }).click();
      await page.getByText('This screen could not be shown').waitFor();
      await page.getByRole('link', { name: 'Jobs', exact: true }).waitFor();
      await page.unroute(/\/console\/assets\/.*\.css$/);
      await press(page, 'Load the page again');
      await title(page, 'API keys');
      // What React says of every error that a screen ends with, once: all of it has arrived when another page is there.
      expect(browser.faults.splice(0).join()).toContain('preload CSS');
    });

    it('are shown on a phone', async () => {
      const page = await browser.openSignedIn(account, '/keys', PHONE);
      await page.getByText('This session').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });

  describe('the account in the console', () => {
    it('shows its plan, its limits, and how much of them is in use', async () => {
      const page = await browser.openSignedIn(account);
      await title(page, 'Jobs');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('account');
      await page.keyboard.press('Enter');
      await title(page, 'Account');
      await page.getByText('Standard', { exact: true }).waitFor();
      await page.getByRole('progressbar', { name: /^Storage: 0 B of / }).waitFor();
      await page.getByText('0 B, without a limit').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('is shown on a phone, and signs out everywhere', async () => {
      const page = await browser.openSignedIn(account, '/account', PHONE);
      await page.getByRole('progressbar', { name: /^Running jobs: 0 of / }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Sign out everywhere');
      await title(page, 'Sign in');
    });
  });
}
