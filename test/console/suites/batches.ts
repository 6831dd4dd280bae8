import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { BatchView } from '@millrace/contracts';
import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { modal, seriousFaults, untilTrue, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let browser: ConsoleBrowser;

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;
/** Pictures of these widths; a blur is larger than those of 16, which fail. */
const blurred = (widths: number[]): object => ({
  workflow: {
    '1': { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 3368601 } },
    '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } },
    '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'a' } },
  },
  table: { '1.width': widths },
});
const grown = (seeds: number[]): object => ({
  workflow: {
    '1': {
      class_type: 'MillraceReactionDiffusion',
      inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
    },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
  },
  table: { '1.seed': seeds },
});
const submit = async (json: object): Promise<string> => {
  const { status, body } = await client.call<BatchView>('POST', '/api/v2/batches', { json });
  expect(status).toBe(201);
  return body.id;
};
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const lines = (page: Page) => page.getByRole('list', { name: 'Jobs of the batch' }).getByRole('listitem');
const tab = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Jobs by status' }).getByRole('link', { name });

/** So many jobs of the batch are listed. */
const shown = (count: number): string =>
  `document.querySelectorAll('[aria-label="Jobs of the batch"] > li').length === ${count}`;

/** Batches: the list, one of them, and all that can be done with it. Needs one worker. */
export function batches(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
    client = new ApiClient(stack.publicUrl, account.apiKey);
  });

  describe('batches in the console', () => {
    it('begin with an empty page', async () => {
      const page = await browser.openSignedIn(account, '/batches');
      await page.getByRole('heading', { name: 'No batches yet' }).waitFor();
      await page.getByRole('link', { name: 'how batches work' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('show how far one is, its jobs by status, and have the failed ones tried again', async () => {
      const id = await submit(blurred([64, 16, 64]));
      const page = await browser.openSignedIn(account, '/batches');
      const row = page.getByRole('row').filter({ has: page.getByTitle(id) });
      await row.getByText('2 succeeded, 1 failed').waitFor();
      await row.getByText('100 %').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await row.getByRole('link').click();
      await page.getByText('3 of 3').waitFor();
      await untilTrue(page, shown(3));
      await tab(page, 'Failed 1').click();
      await page.waitForURL(/status=failed/);
      const failed = lines(page).filter({ hasText: 'Node 2' });
      await failed.waitFor();
      const before = await failed.getByRole('link').getAttribute('title');
      await untilTrue(page, shown(1));
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Retry the failed job');
      await page.getByText('One job is tried again').waitFor();
      await page.getByText('once', { exact: true }).waitFor();
      await tab(page, 'Failed 1').waitFor();
      await lines(page).filter({ hasText: 'Node 2' }).waitFor();
      await untilTrue(page, `document.querySelector('a[title="${before ?? ''}"]') === null`);
    });

    it('of a deployment are listed and shown below it, and canceled there', async () => {
      const wish = { account_id: account.id, name: 'fleetless', engine: 'cpu' };
      const { id: deployment } = await stack.admin<{ id: string }>('POST', '/deployments', wish);
      const id = await submit(grown([1, 2]));
      // The stack has no fleet, which would start workers for it.
      const ofDeployment = { surface: 'deployment', deploymentId: deployment };
      await stack.test.database.models.job.updateMany({ where: { batchId: id }, data: ofDeployment });
      await stack.test.database.models.batch.update({ where: { id }, data: ofDeployment });
      const page = await browser.openSignedIn(account, '/batches');
      await page.getByLabel('Deployment').selectOption('fleetless');
      const row = page.getByRole('row').filter({ has: page.getByTitle(id) });
      await row.waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await row.getByRole('link').click();
      await untilTrue(page, shown(2));
      await lines(page).first().getByRole('link').click();
      await page.waitForURL(new RegExp(`/jobs/.*deployment=${deployment}`));
      await page.goBack();
      await press(page, 'Cancel all');
      await press(page, 'Cancel all jobs');
      await tab(page, 'Canceled 2').click();
      await page.waitForURL(/status=canceled/);
      await untilTrue(page, shown(2));
      await page.getByRole('link', { name: 'Batches', exact: true }).last().click();
      await row.waitFor();
    });

    it('are downloaded as lines and as one archive', async () => {
      const id = await submit(blurred([64, 64]));
      const page = await browser.openSignedIn(account, `/batches/${id}`);
      await page.getByText('2 of 2').waitFor();
      const load = async (name: string): Promise<[string, Buffer]> => {
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name, exact: true }).click(),
        ]);
        return [download.suggestedFilename(), readFileSync(await download.path())];
      };
      const [name, text] = await load('Results (NDJSON)');
      expect(name).toContain(id);
      const jobs = text
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { status: string });
      expect(jobs.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
      const [archive, bytes] = await load('Outputs (ZIP)');
      expect([archive.endsWith('.zip'), bytes.subarray(0, 2).toString()]).toEqual([true, 'PK']);
    });

    it('are canceled as a whole, after a question, on a phone', async () => {
      const id = await submit(grown([1, 2, 3, 4]));
      const page = await browser.openSignedIn(account, `/batches/${id}`, PHONE);
      await press(page, 'Cancel all');
      const dialog = modal(page);
      await dialog.getByText(/of its 4 jobs have not ended/).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel all jobs' }).click();
      await page.getByText('4 of 4').waitFor();
      await tab(page, 'Canceled 4').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      await page.getByRole('link', { name: 'Batches', exact: true }).first().click();
      await page.getByText('4 canceled').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    });
  });
}
