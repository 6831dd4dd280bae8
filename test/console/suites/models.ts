import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import {
  createTestFolder,
  eventually,
  weightsOf,
  type TestAccount,
  type TestFolder,
  type TestStack,
} from '@millrace/testing';
import { seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;
let folder: TestFolder;

/** A file on disk: one that is chosen again has not been changed since. */
function fileOf(name: string, bytes: Buffer): string {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return path;
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const rowOf = (page: Page, path: string): Locator => page.getByRole('row').filter({ hasText: path });

/** Choose a file and say what it is. */
async function begin(page: Page, file: string, kind: string, name?: string): Promise<void> {
  await page.getByLabel('Model to upload').setInputFiles(file);
  await page.getByLabel('Folder').fill(kind);
  if (name !== undefined) await page.getByLabel('Name').fill(name);
  expect(await seriousFaults(page)).toEqual([]);
  await press(page, 'Upload the model');
}

/** The model library. The stack sends uploads in parts of 5 MiB. */
export function models(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
    folder = await createTestFolder();
  });
  afterAll(() => folder.drop());

  describe('models in the console', () => {
    it('are uploaded under the name that graphs use, and deleted', async () => {
      const page = await browser.openSignedIn(account, '/models');
      await page.getByRole('heading', { name: 'No models yet' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      const file = fileOf('tiny.safetensors', weightsOf('of the model'));
      await begin(page, file, 'diffusion_models', 'flux/tiny.safetensors');
      const row = rowOf(page, 'diffusion_models/flux/tiny.safetensors');
      await row.getByText('Ready', { exact: true }).waitFor();
      await row.getByText('diffusion model').waitFor();
      await page.getByText('Stored', { exact: true }).waitFor();
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
      await row.getByRole('button', { name: /^Delete/ }).click();
      await press(page, 'Delete the model');
      await page.getByRole('heading', { name: 'No models yet' }).waitFor();
    });

    it('that broke off go on when the same file is chosen again, and what is no model says why', async () => {
      const page = await browser.openSignedIn(account, '/models');
      const parts: string[] = [];
      page.on('request', (request) => {
        const part = /\/upload-parts\/[^/]+\/(\d+)/.exec(request.url())?.[1];
        if (part !== undefined) parts.push(part);
      });
      await page.route(/\/upload-parts\/[^/]+\/2\?/, (route) => route.abort());
      const large = fileOf('large.safetensors', weightsOf(randomBytes(2 * 5_242_880)));
      await begin(page, large, 'checkpoints');
      await page.getByText('The connection broke off. It goes on by itself').waitFor();
      await rowOf(page, 'checkpoints/large.safetensors').getByText('Uploading').waitFor();
      // The page is gone before the way is free again.
      await page.reload();
      await page.unrouteAll();
      parts.length = 0;
      await begin(page, large, 'checkpoints');
      await rowOf(page, 'checkpoints/large.safetensors').getByText('Ready', { exact: true }).waitFor();
      expect(parts).toEqual(['2', '3']);

      await begin(page, fileOf('text.safetensors', Buffer.from('This is no model.')), 'loras');
      const refused = rowOf(page, 'loras/text.safetensors');
      await refused.getByText('Failed', { exact: true }).waitFor();
      await eventually('the reason to be there', async () => (await refused.locator('.model-problem').count()) === 1);
      expect(await seriousFaults(page)).toEqual([]);
      // The browser says itself which requests failed.
      browser.faults.splice(0);
    });

    it('are imported from the hosts that the operator allows alone', async () => {
      const page = await browser.openSignedIn(account, '/models');
      await press(page, 'Import');
      await page.getByLabel('URL').fill('https://models.example.com/fine/detail.safetensors?download=true');
      expect(await page.getByLabel('Name').inputValue()).toBe('detail.safetensors');
      await page.getByLabel('Folder').fill('loras');
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Import the model');
      await page.getByText('The model is not imported').waitFor();
      await page.getByText('the operator of this service has named no hosts for that').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });
  });
}
