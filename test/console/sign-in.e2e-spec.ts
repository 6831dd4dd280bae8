import { TestStack, type TestAccount } from '@millrace/testing';
import { ConsoleBrowser, seriousFaults } from './support/console-browser';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;
beforeAll(async () => {
  stack = await TestStack.start({ workers: 0 });
  account = await stack.createAccount();
  browser = await ConsoleBrowser.launch(stack);
});
afterAll(async () => {
  expect(browser.faults).toEqual([]);
  await browser.close();
  await stack.stop();
});

const SIGN_IN = { name: 'Sign in', exact: true };

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
