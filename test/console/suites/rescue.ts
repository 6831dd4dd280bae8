import { ApiClient, type TestAccount, type TestStack } from '@millrace/testing';
import { seriousFaults, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

/** Steps of a picture that is still being made when its worker is lost. */
const ENDLESS = 100_000;

/** A job whose worker is lost. Ends the first worker of the stack. */
export function rescue(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('a job whose worker is lost', () => {
    it('says so, and what became of it', async () => {
      const job = await new ApiClient(stack.publicUrl, account.apiKey).run({
        '1': {
          class_type: 'MillraceReactionDiffusion',
          inputs: { width: 256, height: 256, steps: ENDLESS, seed: 7, feed: 0.055, kill: 0.062 },
        },
        '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'lost' } },
      });
      const page = await browser.openSignedIn(account, `/jobs/${job.id}`);
      await page.getByText('Running', { exact: true }).first().waitFor();
      await stack.workers[0]?.end();
      // Its lease is over.
      await stack.test.database.models.job.update({ where: { id: job.id }, data: { leaseExpiresAt: new Date(0) } });
      await stack.addWorker();
      const attempts = page.getByRole('region', { name: 'Attempts' });
      await attempts.getByText('The worker was lost. The job was given to another worker.').waitFor();
      await attempts.getByText('A worker runs the graph.').waitFor();
      expect(await attempts.getByText('not charged').count()).toBe(1);
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await attempts.getByText('The job was canceled.').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });
  });
}
