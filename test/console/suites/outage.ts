import type { Page } from 'playwright-core';
import { eventually, type TestAccount, type TestStack } from '@millrace/testing';
import { seriousFaults, untilTrue, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

/** As a proxy answers while the service behind it is away. */
const AWAY = { status: 503, contentType: 'text/html', body: '<h1>503 Service Unavailable</h1>' };
/** Of a read that fails each time. */
const TRIES = 4;

/** Have reads answered by a proxy alone. @returns how many were. */
async function sendAway(page: Page, path: RegExp): Promise<() => number> {
  let reads = 0;
  await page.route(path, (route) => {
    reads += 1;
    return route.fulfill(AWAY);
  });
  return () => reads;
}

/** The error of a screen stays where it is over two more polls, with the focus on its button, and goes with the first success. */
async function staysOverPolls(page: Page, path: RegExp, reads: () => number): Promise<void> {
  const note = page.locator('.error-note').first();
  await note.getByText('The service does not answer at present').waitFor();
  await note.getByText('Try again in a moment.').waitFor();
  await note.getByRole('button', { name: 'Try again', exact: true }).focus();
  await page.evaluate(`
    window.firstNote = document.querySelector('#main .error-note');
    window.blinked = false;
    new MutationObserver(() => {
      window.blinked ||= !window.firstNote.isConnected || document.querySelector('#main .skeleton') !== null;
    }).observe(document.querySelector('#main'), { childList: true, subtree: true });
  `);
  const seen = reads();
  await eventually('two more polls', async () => reads() > seen + 2 * TRIES, 60_000);
  expect(await page.evaluate('window.blinked')).toBe(false);
  expect(await page.evaluate('window.firstNote.contains(document.activeElement)')).toBe(true);
  await page.keyboard.press('Enter');
  await note.getByRole('button', { name: 'Trying again …' }).waitFor();
  await page.unroute(path);
  await note.waitFor({ state: 'detached' });
}

/** What the screens show while a proxy answers instead of the service. */
export function outage(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('a screen that polls while the service is away', () => {
    it('keeps its error until something succeeds, and leads to the status of the service', async () => {
      const path = /\/api\/v2\/jobs\?/;
      const page = await browser.openSignedIn(account, '/keys');
      const reads = await sendAway(page, path);
      await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
      const status = page.locator('.error-note').getByRole('link', { name: 'Status of the service' });
      expect(await status.getAttribute('href')).toBe('/status');
      expect(await seriousFaults(page)).toEqual([]);
      await staysOverPolls(page, path, reads);
    });

    it("does so in the operators' console, and says what to check", async () => {
      const path = /\/admin\/v1\/workers/;
      const page = await browser.openForOperator('/workers');
      const reads = await sendAway(page, path);
      await page.getByLabel('Admin token').fill(stack.env['MILLRACE_ADMIN_TOKEN'] ?? '');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText('Check that an api process is ready').waitFor();
      await untilTrue(page, "document.querySelector('#main .skeleton') === null");
      expect(await seriousFaults(page)).toEqual([]);
      await staysOverPolls(page, path, reads);
    });
  });
}
