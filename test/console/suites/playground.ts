import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { holdRequest, loseAnswer, seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const ASSETS = /\/api\/v2\/assets$/;
const JOBS = /\/api\/v2\/jobs$/;
const JOB_PAGE = /\/console\/jobs\/[0-9a-f-]{36}$/;
const QUICK = '50';
/** Reads a picture. */
const INVERTED = JSON.stringify({
  '1': { class_type: 'LoadImage', inputs: { image: '' } },
  '2': { class_type: 'ImageInvert', inputs: { image: ['1', 0] } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'inverted' } },
});
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const goTo = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click();

/** The playground with its example, of so many steps. */
async function openExample(page: Page): Promise<void> {
  await press(page, 'Start with an example');
  await page.getByLabel('steps', { exact: true }).fill(QUICK);
}

/** The playground with a graph that reads a picture, which is on its way. @returns a function that lets it arrive. */
async function uploadInto(page: Page, background: string): Promise<() => void> {
  const letGo = await holdRequest(page, ASSETS);
  await page.getByLabel('Graph, as text').fill(INVERTED);
  const buffer = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
    .png()
    .toBuffer();
  const asked = page.waitForRequest(ASSETS);
  await page.getByLabel('File for image').setInputFiles({ name: 'late.png', mimeType: 'image/png', buffer });
  await asked;
  return letGo;
}

/** What goes on in the playground while somebody leaves it. Needs one worker. */
export function playground(shared: ConsoleStack): void {
  beforeEach(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('the playground', () => {
    it('makes one job of a graph whose answer was lost, also when the page was left in between', async () => {
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page);
      await loseAnswer(page, JOBS);
      await press(page, 'Run this graph');
      await page.getByText('No answer arrived', { exact: true }).waitFor();
      await goTo(page, 'Jobs');
      await goTo(page, 'New job');
      await openExample(page);
      await page.getByText('Sent again, it makes no second one').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Run this graph');
      await page.getByText('look for the first one among your jobs').waitFor();
      expect(await stack.test.database.models.job.count({ where: { accountId: account.id } })).toBe(1);
    });

    it('opens a job only for who is still there when its answer arrives', async () => {
      const page = await browser.openSignedIn(account, '/new');
      await openExample(page);
      const letGo = await holdRequest(page, JOBS);
      await press(page, 'Run this graph');
      await goTo(page, 'Jobs');
      await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
      letGo();
      await page.locator('a[href*="/console/jobs/"]').waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/jobs');
    });

    it('puts an upload into the graph that it was chosen for, beside what was typed meanwhile', async () => {
      const page = await browser.openSignedIn(account, '/new');
      const letGo = await uploadInto(page, '#a33');
      await page.getByLabel('filename_prefix', { exact: true }).fill('typed');
      letGo();
      await page.locator('.asset-field').getByText('late.png', { exact: true }).waitFor();
      expect(await page.getByLabel('filename_prefix', { exact: true }).inputValue()).toBe('typed');
    });

    it('leaves a graph alone that came after the one of an upload', async () => {
      const page = await browser.openSignedIn(account, '/new');
      const letGo = await uploadInto(page, '#3a3');
      await press(page, 'Another graph');
      await openExample(page);
      const stored = page.waitForResponse(ASSETS);
      letGo();
      await stored;
      await page.locator('.editor-submit .estimate').waitFor();
      await press(page, 'Run this graph');
      await page.waitForURL(JOB_PAGE);
      const { body } = await new ApiClient(stack.publicUrl, account.apiKey).call(
        'GET',
        `/api/v2/jobs/${page.url().split('/').at(-1) ?? ''}/workflow`,
      );
      expect(JSON.stringify(body)).toContain('"steps":50');
    });
  });
}
