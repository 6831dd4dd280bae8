import type { Page, Request } from 'playwright-core';
import { ApiClient, FaultProxy, eventually, type TestAccount, type TestStack } from '@millrace/testing';
import { beyondEdge, modal, seriousFaults, showTab, untilTrue, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let browser: ConsoleBrowser;

const save = (images: [string, number]) => ({ class_type: 'SaveImage', inputs: { images, filename_prefix: 'made' } });
/** A job that runs until it is canceled. */
const ENDLESS = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': save(['1', 0]),
};
const BLUE = {
  '1': { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 255 } },
  '2': save(['1', 0]),
};
const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;
/** A read of the list. */
const LIST = /\/api\/v2\/jobs\?/;
const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).first().click();
const rows = (page: Page, count: number): Promise<void> =>
  untilTrue(page, `document.querySelectorAll('a[href*="/console/jobs/"]').length === ${count}`);

/** The list of jobs, and the page of one that ended. Needs one worker. */
export function jobList(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
    client = new ApiClient(stack.publicUrl, account.apiKey);
  });

  describe('the list of jobs', () => {
    it('cancels those that are selected, and leaves the others', async () => {
      const [first, second, third] = [await client.run(ENDLESS), await client.run(ENDLESS), await client.run(ENDLESS)];
      const page = await browser.openSignedIn(account, '/jobs');
      await rows(page, 3);
      for (const { id } of [second, third]) await page.getByLabel(`Select job ${id}`).check();
      await press(page, 'Cancel 2 jobs');
      expect(await seriousFaults(page)).toEqual([]);
      await modal(page).getByRole('button', { name: 'Cancel 2 jobs' }).click();
      await page.getByText('2 jobs are canceled').waitFor();
      const ended = await Promise.all([client.ended(second.id), client.ended(third.id)]);
      expect(ended.map(({ status }) => status)).toEqual(['canceled', 'canceled']);
      expect((await client.job(first.id)).completed_at).toBeNull();
      await client.call('POST', `/api/v2/jobs/${first.id}/cancel`);
      await client.ended(first.id);
    });

    it('keeps its filters under a name, in the browser', async () => {
      await client.ended((await client.run(BLUE)).id);
      const page = await browser.openSignedIn(account, '/jobs');
      await rows(page, 4);
      await page.getByLabel('Status').selectOption('succeeded');
      await rows(page, 1);
      await press(page, 'Save this view');
      await page.getByLabel('Name').fill('made');
      await page.keyboard.press('Enter');
      await press(page, 'Clear');
      await rows(page, 4);
      await page.reload();
      await page.getByLabel('Saved view').selectOption('made');
      await rows(page, 1);
      expect(new URL(page.url()).searchParams.get('status')).toBe('succeeded');
      expect(await seriousFaults(page)).toEqual([]);
      await press(page, 'Forget this view');
      await page.getByLabel('Saved view').waitFor({ state: 'detached' });
    });
  });

  describe('a list without a mouse', () => {
    const focused = (page: Page, expression: string): Promise<void> =>
      untilTrue(page, `document.activeElement.${expression}`);

    it('leads to a job and back, and a dialog gives the focus back', async () => {
      const { id } = await client.run(ENDLESS);
      const page = await browser.openSignedIn(account, '/jobs');
      await page.getByLabel(`Select job ${id}`).focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/jobs/${id}`);
      await focused(page, "id === 'main'");
      await page.goBack();
      await page.getByLabel(`Select job ${id}`).focus();
      await page.keyboard.press('Space');
      await page.getByRole('button', { name: 'Cancel 1 job', exact: true }).focus();
      await page.keyboard.press('Enter');
      await modal(page).getByRole('button', { name: 'Cancel 1 job', exact: true }).focus();
      await page.keyboard.press('Enter');
      await modal(page).waitFor({ state: 'detached' });
      // What opened the dialog has gone with the choice.
      await focused(page, "id === 'main'");
      await client.ended(id);
      await page.goto(browser.address('/keys'));
      await page.getByRole('button', { name: 'New key', exact: true }).focus();
      await page.keyboard.press('Enter');
      await modal(page).waitFor();
      await page.keyboard.press('Escape');
      await modal(page).waitFor({ state: 'detached' });
      await focused(page, "textContent === 'New key'");
    });
  });

  describe('a list on a phone', () => {
    it('begins with a first request', async () => {
      const page = await browser.openSignedIn(await stack.createAccount(), '/jobs', PHONE);
      await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('shows all of a line, and is selected from with a finger', async () => {
      const metadata = { user: 'a-name-that-is-longer-than-a-phone-is-wide-0123456789', order: '4711' };
      const [running, queued] = [await client.run(ENDLESS, { metadata }), await client.run(ENDLESS, { metadata })];
      const page = await browser.openSignedIn(account, '/keys', PHONE);
      await page.route(LIST, async (route) => {
        const answer = await route.fetch();
        const list = (await answer.json()) as { jobs: { status: string; metrics: Record<string, number> }[] };
        for (const job of list.jobs) if (job.status === 'queued') job.metrics['estimated_wait_ms'] = 5_400_000;
        return route.fulfill({ response: answer, json: list });
      });
      await page.goto(browser.address('/jobs'));
      await page.getByText('starts in about 1 h 30 min').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await beyondEdge(page)).toEqual([]);
      expect(await seriousFaults(page)).toEqual([]);
      const box = await page.getByLabel(`Select job ${queued.id}`).boundingBox();
      // Beside the box, where the line itself leads to the job.
      await page.mouse.click((box?.x ?? 0) - 8, (box?.y ?? 0) + 26);
      await page.getByRole('button', { name: 'Cancel 1 job', exact: true }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/console/jobs');
      await page.goto(browser.address(`/jobs/${queued.id}`));
      await page.getByText(`user=${metadata.user}`).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      for (const { id } of [running, queued]) await client.call('POST', `/api/v2/jobs/${id}/cancel`);
      for (const { id } of [running, queued]) await client.ended(id);
    });
  });

  describe('a list in a hidden tab', () => {
    it('is not read, and is read at once when the tab is shown again', async () => {
      const readsOf = (page: Page): Request[] => {
        const reads: Request[] = [];
        page.on('request', (request) => {
          if (LIST.test(request.url())) reads.push(request);
        });
        return reads;
      };
      const [hidden, shown] = [
        await browser.openSignedIn(account, '/jobs'),
        await browser.openSignedIn(account, '/jobs'),
      ];
      const [unseen, seen] = [readsOf(hidden), readsOf(shown)];
      await eventually('both are read', () => unseen.length > 0 && seen.length > 0);
      await showTab(hidden, 'hidden');
      const [before, until] = [unseen.length, seen.length + 2];
      await eventually('the tab in view is read twice', () => seen.length >= until);
      expect(unseen).toHaveLength(before);
      await Promise.all([hidden.waitForRequest(LIST), showTab(hidden, 'visible')]);
    });
  });

  describe('a long list of jobs', () => {
    it('asks for a page that was refused again when somebody presses, and not before', async () => {
      await client.ended((await client.run(BLUE)).id);
      const page = await browser.openSignedIn(account, '/keys');
      const asked: string[] = [];
      await page.route(LIST, async (route) => {
        const url = route.request().url();
        if (url.includes('cursor=')) {
          asked.push(url);
          const error = { code: 'invalid_cursor', message: 'There is no such page.' };
          return route.fulfill({ status: 400, json: { error } });
        }
        const answer = await route.fetch();
        const list = (await answer.json()) as object;
        return route.fulfill({ response: answer, json: { ...list, next_cursor: 'of-a-test' } });
      });
      // The list is not read again by itself.
      await showTab(page, 'hidden');
      await page.getByRole('link', { name: 'Jobs', exact: true }).first().click();
      await page.getByText('Older jobs could not be read').waitFor();
      const before = asked.length;
      await press(page, 'Try again');
      await eventually('it is asked for once more', () => asked.length === before + 1);
      await page.getByText('Older jobs could not be read').waitFor();
      expect([before, asked.length]).toEqual([1, 2]);
    });
  });

  describe('the page of a job', () => {
    it('says when its stream is away, comes back by itself, and has missed nothing', async () => {
      const { hostname: host, port } = new URL(stack.publicUrl);
      const proxy = await FaultProxy.start({ host, port: Number(port) });
      const before = await client.run(ENDLESS);
      const job = await client.run(BLUE);
      const page = await browser.openSignedIn(account, `http://127.0.0.1:${proxy.port}/console/jobs/${job.id}`);
      const sign = (text: string): Promise<void> => page.locator('.connection', { hasText: text }).waitFor();
      await sign('Live');
      // A tab that nobody sees keeps no connection.
      await showTab(page, 'hidden');
      await sign('Connecting');
      await showTab(page, 'visible');
      await sign('Live');
      proxy.behave({ kind: 'down' });
      await sign('Reconnecting');
      expect(await seriousFaults(page)).toEqual([]);
      proxy.behave({ kind: 'open' });
      await sign('Live');

      proxy.behave({ kind: 'down' });
      await sign('Reconnecting');
      await client.call('POST', `/api/v2/jobs/${before.id}/cancel`);
      await client.ended(job.id);
      await page.getByText('Queued', { exact: true }).first().waitFor();
      proxy.behave({ kind: 'open' });
      await page.getByText('Succeeded', { exact: true }).first().waitFor();
      await untilTrue(page, 'document.querySelector(".output-picture img")?.naturalWidth === 64');
      await page.locator('.connection').waitFor({ state: 'detached' });
      await browser.closePages();
      await proxy.close();
    });

    it('shows a failure on its node, with its cure', async () => {
      const fields = { content_type: 'image/png', file_path: 'input.png' };
      const { body: asset } = await client.upload(Buffer.from('This is no picture.'), fields);
      const image = { __type: 'core/ASSET', info: { id: asset.id } };
      const failing = { '1': { class_type: 'LoadImage', inputs: { image } }, '2': save(['1', 0]) };
      const { id } = await client.run(failing);
      await client.ended(id);
      const page = await browser.openSignedIn(account, `/jobs/${id}`);
      const alert = page.getByRole('alert', { name: 'Why the job failed' });
      await alert.waitFor();
      await alert.getByRole('link').first().waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('shows the first of many outputs, and all of them on request', async () => {
      const { id } = await client.run(BLUE);
      await client.ended(id);
      const page = await browser.openSignedIn(account, '/keys');
      await page.route(`**/api/v2/jobs/${id}`, async (route) => {
        const answer = await route.fetch();
        const job = (await answer.json()) as { outputs: object[] };
        const outputs = Array.from({ length: 200 }, (_, at) => ({ ...job.outputs[0], name: `out_${at}.png` }));
        return route.fulfill({ response: answer, json: { ...job, outputs } });
      });
      await page.goto(browser.address(`/jobs/${id}`));
      await untilTrue(page, "document.querySelectorAll('.output').length === 24");
      await press(page, 'Show all 200 outputs');
      await untilTrue(page, "document.querySelectorAll('.output').length === 200");
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('shows nothing of the job that was shown before', async () => {
      const [running, waiting] = [await client.run(ENDLESS), await client.run(ENDLESS)];
      const page = await browser.openSignedIn(account, `/jobs/${running.id}`);
      await page.locator('.preview img').waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search and commands' }).fill(waiting.id);
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`/jobs/${waiting.id}$`));
      await page.getByText('Outputs appear here as they are stored.').waitFor();
      expect(await page.locator('.preview').count()).toBe(0);
      for (const { id } of [waiting, running]) await client.call('POST', `/api/v2/jobs/${id}/cancel`);
    });

    it('downloads an output under its name', async () => {
      const { id } = await client.run(BLUE);
      const { outputs } = await client.ended(id);
      const page = await browser.openSignedIn(account, `/jobs/${id}`);
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: /^Download / }).click();
      expect((await download).suggestedFilename()).toBe(outputs[0]?.name);
    });
  });
}
