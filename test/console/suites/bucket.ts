import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import type { TestAccount } from '@millrace/testing';
import { modal, seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';
import type { TestBucket } from '../support/test-bucket';

let account: TestAccount;
let browser: ConsoleBrowser;

/** Sent in three parts, as the stack is set. */
const large = (name: string): { name: string; mimeType: string; buffer: Buffer } => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: randomBytes(2 * 5_242_880 + 100),
});

/** Upload a file. @returns how many parts of it went to the bucket. */
async function uploadLarge(page: Page, name: string, bucketOrigin: string): Promise<number> {
  let parts = 0;
  const count = (request: { method(): string; url(): string }): void => {
    if (request.method() === 'PUT' && request.url().startsWith(bucketOrigin)) parts += 1;
  };
  page.on('requestfinished', count);
  await page.getByLabel('Files to upload').setInputFiles([large(name)]);
  await page.getByRole('region', { name: 'Uploads' }).getByText('Stored', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Hide these uploads' }).click();
  page.off('requestfinished', count);
  return parts;
}

/** What a page sends to a bucket, and reads from it. */
export function bucket(shared: ConsoleStack, store: TestBucket): void {
  beforeAll(async () => {
    ({ browser } = shared);
    account = await shared.stack.createAccount();
  });

  describe('files of a service with a bucket', () => {
    it('go through the service while the bucket has no rule for pages, and else to the bucket', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      expect(await uploadLarge(page, 'refused.bin', store.origin)).toBe(0);
      // One may have been an accident; the browser says itself which requests it did not send.
      const refused = expect.stringContaining('CORS policy') as string;
      expect(browser.faults.splice(0)).toEqual([refused, refused]);

      await store.allowPages();
      expect(await uploadLarge(page, 'allowed.bin', store.origin)).toBe(3);
      for (const name of ['refused.bin', 'allowed.bin']) await page.getByText(name, { exact: true }).waitFor();

      // Twice the connection breaks, after a part has arrived: the rest follows it there, and nothing is begun again.
      let sent = 0;
      await page.route(`${store.origin}/**`, (route) => {
        sent += 1;
        return sent === 2 || sent === 3 ? route.abort() : route.continue();
      });
      expect(await uploadLarge(page, 'interrupted.bin', store.origin)).toBe(3);
      await page.unroute(`${store.origin}/**`);
      // The browser says itself what broke.
      browser.faults.splice(0);

      const text = { name: 'text.txt', mimeType: 'text/plain', buffer: Buffer.from('of the bucket') };
      await page.getByLabel('Files to upload').setInputFiles([text]);
      await page.locator('.asset-card').filter({ hasText: text.name }).click();
      await modal(page).getByText('of the bucket').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });
  });
}
