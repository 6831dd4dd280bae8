import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import {
  ApiClient,
  createTestFolder,
  uploadModel,
  weightsOf,
  type TestAccount,
  type TestFolder,
  type TestStack,
} from '@millrace/testing';
import { beyondEdge, seriousFaults, untilTrue, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let folder: TestFolder;
let account: TestAccount;
let browser: ConsoleBrowser;

const NAME = 'portraits';

async function createOn(page: Page, { workers }: { workers: string }): Promise<Locator> {
  await page.getByRole('button', { name: 'New deployment' }).click();
  await page.getByLabel('Name', { exact: true }).fill(NAME);
  await page.getByLabel('Workers at most').fill(workers);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  return page.getByRole('article', { name: NAME });
}

/** Run a short job on the deployment of a card. */
async function runOn(page: Page, card: Locator): Promise<void> {
  await card.getByRole('link', { name: 'New job here' }).click();
  await page.getByRole('button', { name: 'Start with an example' }).click();
  await page.getByLabel('steps', { exact: true }).fill('50');
  await page.getByRole('button', { name: 'Run this graph' }).click();
  await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}\?deployment=/);
}

async function remove(page: Page, card: Locator): Promise<void> {
  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete the deployment' }).click();
  await page.getByRole('heading', { name: 'No deployments yet' }).waitFor();
}

/** Deployments and what they cost. Needs no worker: its fleet starts them. */
export function deployments(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    folder = await createTestFolder();
    account = await stack.createAccount(100_000_000, { deployment_limit: 1, deployment_worker_limit: 2 });
    const file = join(folder.path, 'classes.json');
    writeFileSync(file, JSON.stringify({ classes: [{ name: 'cpu', engine: 'cpu', priceMicrosPerSecond: 250 }] }));
    await stack.spawn('fleet', {
      MILLRACE_FLEET: 'processes',
      MILLRACE_ENGINE_CLASSES_FILE: file,
      MILLRACE_FLEET_DIR: folder.path,
    });
  });
  afterAll(async () => {
    await folder.drop();
  });

  describe('deployments in the console', () => {
    it('are created at a price that is seen, run a job, are stopped, started and deleted', async () => {
      const page = await browser.openSignedIn(account, '/deployments');
      const card = page.getByRole('article', { name: NAME });
      const model = { folder: 'loras', name: 'soft.safetensors' };
      await uploadModel(new ApiClient(stack.publicUrl, account.apiKey), model, weightsOf('soft'));
      await page.getByRole('button', { name: 'New deployment' }).click();
      await page.getByText('0.00025 credits a second').waitFor();
      await page.getByLabel('Name', { exact: true }).fill(NAME);
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByLabel('loras/soft.safetensors').check();
      await page.getByLabel('Workers at most').fill('3');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByText('deployment_limit').waitFor();
      await page.getByLabel('Workers at most').fill('2');
      await page.getByRole('button', { name: 'Create', exact: true }).click();

      await card.getByText('Ready', { exact: true }).waitFor();
      await card.getByText('of 0–2').waitFor();
      await card.getByText('Models from the start: 1').click();
      await card.getByText('loras/soft.safetensors').waitFor();
      await card.getByText('its models: its workers keep none of the library').waitFor();
      await card.getByText('How long its workers take to start').click();
      await card.getByRole('row', { name: /^Boot/ }).waitFor();
      await card.getByRole('row', { name: /^All together/ }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);

      await runOn(page, card);
      await page.getByText('Succeeded', { exact: true }).first().waitFor();

      await page.getByRole('link', { name: 'Deployments', exact: true }).click();
      await card.getByRole('button', { name: 'Stop' }).click();
      await card.getByText('Stopped', { exact: true }).waitFor();
      await card.getByRole('link', { name: `Jobs of ${NAME}` }).click();
      await page.locator('a[href*="/console/jobs/"]').waitFor();
      await page.goBack();
      await card.getByRole('button', { name: 'Start' }).click();
      await card.getByText('Stopped', { exact: true }).waitFor({ state: 'detached' });

      await card.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Keep it' }).click();
      await card.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete the deployment' }).click();
      await page.getByRole('heading', { name: 'No deployments yet' }).waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('are changed in place, and show who did what', async () => {
      const page = await browser.openSignedIn(account, '/deployments');
      const card = await createOn(page, { workers: '1' });
      await card.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Name', { exact: true }).fill('headshots');
      await page.getByLabel('Idle seconds').fill('60');
      await page.getByRole('button', { name: 'Save' }).click();
      const renamed = page.getByRole('article', { name: 'headshots' });
      await renamed.getByText('1 min 0 s').waitFor();
      await renamed.getByText('History').click();
      await renamed.getByText('name headshots, idle_seconds 60').waitFor();
      await renamed.getByText('Created').waitFor();
      expect(await renamed.getByText('by an API key').count()).toBe(2);
      await renamed.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Workers at most').fill('3');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Nothing was changed').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Cancel' }).click();
      const desk = page.viewportSize();
      await page.setViewportSize({ width: 360, height: 640 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      if (desk !== null) await page.setViewportSize(desk);
      await remove(page, renamed);
    });

    it('have two versions side by side, whose shares are changed, and one goes', async () => {
      const page = await browser.openSignedIn(account, '/deployments');
      const card = await createOn(page, { workers: '1' });
      await card.getByText('Ready', { exact: true }).waitFor();
      await runOn(page, card);
      await page.getByText('Succeeded', { exact: true }).first().waitFor();
      await page.getByRole('link', { name: 'Deployments', exact: true }).click();
      await card.getByText('Versions', { exact: true }).click();
      const versionOf = (number: number): Locator => card.getByRole('region', { name: `Version ${number}` });
      const [first, second] = [versionOf(1), versionOf(2)];
      await first.getByText('Latest jobs: 1 succeeded, 0 failed.').waitFor();
      await first.getByText('100 % of the jobs').waitFor();
      await card.getByRole('button', { name: 'Try another version' }).click();
      await page.getByLabel('Share of the jobs').fill('25');
      expect(await seriousFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Add the version' }).click();
      await second.getByText('25 % of the jobs').waitFor();
      await second.getByText('Ready', { exact: true }).waitFor();
      await second.getByText('None of the latest jobs ended on it.').waitFor();
      await card.getByRole('slider').fill('60');
      await card.getByRole('button', { name: 'Set the share' }).click();
      await second.getByText('60 % of the jobs').waitFor();
      await first.getByText('40 % of the jobs').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(page.viewportSize()?.width);
      expect(await seriousFaults(page)).toEqual([]);
      await card.getByRole('button', { name: 'Roll back to version 1' }).click();
      await first.getByText('100 % of the jobs').waitFor();
      await card.getByRole('button', { name: 'End version 2' }).click();
      await card.getByText('Ended: 2 (cpu)').waitFor();
      await card.getByRole('button', { name: 'Try another version' }).waitFor();
      await remove(page, card);
    });

    it('are offered to drain where they have jobs', async () => {
      const page = await browser.openSignedIn(account, '/deployments');
      const card = page.getByRole('article', { name: NAME });
      await page.getByRole('button', { name: 'New deployment' }).click();
      await page.getByLabel('Name', { exact: true }).fill(NAME);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await card.getByText('Ready', { exact: true }).waitFor();
      await card.getByRole('link', { name: 'New job here' }).click();
      await page.getByRole('button', { name: 'Start with an example' }).click();
      await page.getByLabel('steps', { exact: true }).fill('100000');
      await page.getByRole('button', { name: 'Run this graph' }).click();
      await page.getByText('Running', { exact: true }).first().waitFor();
      const job = page.url();

      await page.getByRole('link', { name: 'Deployments', exact: true }).click();
      await card.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete the deployment' }).click();
      await page.getByRole('button', { name: 'Drain, then delete' }).click();
      await card.getByText('Draining', { exact: true }).waitFor();

      await page.goto(job);
      const canceled = page.waitForResponse(/\/cancel$/);
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await canceled;
      await page.goto(browser.address('/deployments'));
      await page.getByRole('heading', { name: 'No deployments yet' }).waitFor();
    });

    it('are shown on a phone', async () => {
      const page = await browser.openSignedIn(account, '/deployments', {
        viewport: { width: 360, height: 740 },
        colorScheme: 'dark',
      });
      await page.getByRole('button', { name: 'New deployment' }).click();
      await page.getByLabel('Name', { exact: true }).fill(NAME);
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.getByRole('article', { name: NAME }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });

  describe('usage in the console', () => {
    it('shows the balance, what each day and each deployment was charged, and the ledger', async () => {
      const page = await browser.openSignedIn(account, '/usage');
      await page.getByText('Available credits').waitFor();
      await page.getByRole('row', { name: /^Granted .*\+100\.00/ }).waitFor();
      await page
        .getByRole('row', { name: /^Charged for a job/ })
        .first()
        .waitFor();
      await untilTrue(page, 'document.querySelectorAll(".day-chart rect").length === 30');
      expect(await seriousFaults(page)).toEqual([]);

      await page.getByLabel('Time', { exact: true }).selectOption('7');
      await page.waitForURL(/days=7/);
      await untilTrue(page, 'document.querySelectorAll(".day-chart rect").length === 7');
      await page.getByLabel('Grouped by').selectOption('deployment');
      await page.getByRole('columnheader', { name: 'Deployment' }).waitFor();
      await page.reload();
      await page.getByRole('heading', { name: 'Usage by deployment' }).waitFor();

      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Usage as CSV' }).click();
      expect((await download).suggestedFilename()).toBe('usage-7-days-by-deployment.csv');
    });

    it('is shown on a phone', async () => {
      const page = await browser.openSignedIn(account, '/usage', {
        viewport: { width: 360, height: 740 },
        colorScheme: 'dark',
      });
      await page.getByRole('row', { name: /^Granted/ }).waitFor();
      await page.locator('.day-chart rect').first().waitFor({ state: 'attached' });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await beyondEdge(page)).toEqual([]);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });
}
