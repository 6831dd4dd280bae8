import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { Prisma } from '@prisma/client';
import { ApiClient, eventually, type TestAccount, type TestStack } from '@millrace/testing';
import { modal, seriousFaults, untilTrue, type ConsoleBrowser } from '../support/console-browser';
import type { ConsoleStack } from '../support/console-stack';

let stack: TestStack;
let account: TestAccount;
let browser: ConsoleBrowser;

const PICTURE = {
  '1': { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 255 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'made' } },
};
const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const;
const SCRIPT = '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "taken over"</script></svg>';
const HOSTILE = '<img src=x onerror=alert(1)>.svg';
const BIG = { name: 'big.bin', mimeType: 'application/octet-stream', buffer: randomBytes(1_500_000) };

/** Sent in three parts, as the stack is set. */
const LARGE = { name: 'large.bin', mimeType: 'application/octet-stream', buffer: randomBytes(2 * 5_242_880 + 100) };
const VIDEO = {
  name: 'moving.webm',
  mimeType: 'video/webm',
  buffer: readFileSync(join(__dirname, '../fixtures/moving.webm')),
};

interface UploadedFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

const fileOf = (name: string, mimeType: string, text: string): UploadedFile => ({
  name,
  mimeType,
  buffer: Buffer.from(text),
});

async function picture(name: string, background: string): Promise<UploadedFile> {
  const buffer = await sharp({ create: { width: 64, height: 48, channels: 3, background } })
    .png()
    .toBuffer();
  return { name, mimeType: 'image/png', buffer };
}

/** A quarter of a second of silence, as a WAV file of 8,000 samples a second. */
function sound(name: string): UploadedFile {
  const samples = Buffer.alloc(2_000, 128);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return { name, mimeType: 'audio/wav', buffer: Buffer.concat([header, samples]) };
}

/** What a test needs of a video or a sound. */
interface Media {
  muted: boolean;
  currentTime: number;
  play(): Promise<void>;
}

/** Start a video or a sound, and wait until it has moved on. Muted: a browser starts nothing loud that nobody pressed. */
async function play(media: Locator): Promise<void> {
  await media.evaluate((element) => {
    const player = element as unknown as Media;
    player.muted = true;
    return player.play();
  });
  await eventually('it plays', () => media.evaluate((element) => (element as unknown as Media).currentTime > 0));
}

const press = (page: Page | Locator, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
const title = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, exact: true }).first().waitFor();
/** An asset in a gallery: the button that begins with what it does, and its name. */
const card = (page: Page, name: string, verb = 'Look at'): Locator =>
  page.locator('.asset-card', { hasText: verb }).filter({ has: page.getByText(name, { exact: true }) });
const isGone = (locator: Locator): Promise<void> => locator.waitFor({ state: 'detached' });

/** Upload files by the button, and wait until each says how it ended. */
async function upload(page: Page, files: UploadedFile[], outcome = 'Stored'): Promise<void> {
  await page.getByLabel('Files to upload').setInputFiles(files);
  const list = page.getByRole('region', { name: 'Uploads' });
  await eventually('the uploads to end', async () => {
    return (await list.getByText(outcome, { exact: true }).count()) === files.length;
  });
  expect(await seriousFaults(page)).toEqual([]);
  await press(page, 'Hide these uploads');
}

/** Uploads and outputs as files: uploaded, filtered, looked at, used. Needs one worker. */
export function assets(shared: ConsoleStack): void {
  beforeAll(async () => {
    ({ stack, browser } = shared);
    account = await stack.createAccount();
  });

  describe('assets in the console', () => {
    it('teach the first upload, arrive by button and by drop, and are shown without being run', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      await title(page, 'No uploads yet');
      expect(await seriousFaults(page)).toEqual([]);

      const html = fileOf('page.html', 'text/html', '<script>document.title = "taken over"</script>');
      const files = [await picture('blue.png', '#369'), fileOf(HOSTILE, 'image/svg+xml', SCRIPT), html, BIG];
      await upload(page, files);
      for (const { name } of files) await card(page, name).waitFor();
      await untilTrue(page, 'document.querySelector(".asset-thumb img")?.naturalWidth === 64');
      expect(await page.locator('.asset-thumb img').count()).toBe(1);

      const dropped = await page.evaluateHandle(`(() => {
      const files = new DataTransfer();
      files.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
      return files;
    })()`);
      await page.locator('.drop-area').dispatchEvent('drop', { dataTransfer: dropped });
      await card(page, 'dropped.txt').waitFor();

      for (const [name, source] of [
        [HOSTILE, SCRIPT],
        ['page.html', '<script>'],
      ] as const) {
        await card(page, name).focus();
        await page.keyboard.press('Enter');
        const dialog = modal(page);
        await dialog.getByText(source).waitFor();
        expect(await seriousFaults(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await isGone(dialog);
      }
      expect(await page.title()).toBe('Assets · Millrace');
    });

    it('are not sent again where the account has their bytes', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      const sent: string[] = [];
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (request.method() === 'POST' && pathname.startsWith('/api/')) sent.push(pathname);
      });
      await card(page, BIG.name).waitFor();
      await upload(page, [{ ...BIG, name: 'same.bin' }], 'Stored already');
      await card(page, 'same.bin').waitFor();
      expect(sent).toEqual(['/api/v2/assets/from-hash']);
    });

    it('are filtered by their address, and deleted', async () => {
      const page = await browser.openSignedIn(account, '/assets?content=text');
      await card(page, 'dropped.txt').waitFor();
      expect(await card(page, 'blue.png').count()).toBe(0);
      await card(page, 'dropped.txt').click();
      await press(page, 'Delete');
      await press(page, 'Delete the upload');
      await isGone(card(page, 'dropped.txt'));

      await page.getByLabel('Content').selectOption('Videos');
      await title(page, 'Nothing matches these filters');
      expect(new URL(page.url()).search).toBe('?content=video');
      await page.reload();
      await title(page, 'Nothing matches these filters');
      await press(page, 'Clear');
      await card(page, 'blue.png').waitFor();
    });

    it('are used in a new job, whose outputs lead back to it', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      await card(page, 'blue.png').click();
      await page.getByRole('link', { name: 'Use in a new job' }).click();
      await page.getByText('becomes its first input').waitFor();
      await press(page, 'Start with an example');
      await page.locator('.asset-field').getByText('blue.png').waitFor();
      await press(page, 'Run this graph');
      await page.waitForURL(/\/console\/jobs\/[0-9a-f-]{36}$/);
      const job = page.url();
      await page.getByText('Succeeded', { exact: true }).first().waitFor();

      await page.goto(browser.address('/assets?kind=output'));
      await page.getByRole('button', { name: /^Look at ?inverted/ }).click();
      const dialog = modal(page);
      await dialog.getByText('with its job').waitFor();
      expect(await dialog.getByRole('button', { name: 'Delete' }).count()).toBe(0);
      await dialog.getByRole('link', { name: /…/ }).click();
      await page.waitForURL(job);
    });

    it('are chosen for an input of a graph, or uploaded there', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      await upload(page, [await picture('red.png', '#a33')]);
      await card(page, 'blue.png').click();
      await page.getByRole('link', { name: 'Use in a new job' }).click();
      await page.getByText('becomes its first input').waitFor();
      await press(page, 'Start with an example');
      const field = page.locator('.asset-field');
      await field.getByText('blue.png').waitFor();

      await page.getByRole('button', { name: 'image', exact: true }).click();
      await title(page, 'Choose a file');
      expect(await seriousFaults(page)).toEqual([]);
      expect(await card(page, BIG.name, 'Choose').count()).toBe(0);
      await card(page, 'red.png', 'Choose').click();
      await field.getByText('red.png').waitFor();

      await page.getByLabel('File for image').setInputFiles(await picture('red.png', '#a33'));
      await page.getByText('These bytes were stored already.').waitFor();
      await page.getByLabel('File for image').setInputFiles(await picture('green.png', '#3a3'));
      await field.getByText('green.png').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('that are large go on where they broke off, by themselves and after the page was closed', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      const parts: string[] = [];
      page.on('request', (request) => {
        const part = /\/upload-parts\/[^/]+\/(\d+)/.exec(request.url())?.[1];
        if (part !== undefined) parts.push(part);
      });
      await page.route(/\/upload-parts\/[^/]+\/2\?/, (route) => route.abort());
      await page.getByLabel('Files to upload').setInputFiles([LARGE]);
      await page.getByText('The connection broke off. It goes on by itself').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
      // The page is gone before the way is free again: it would go on by itself.
      await page.reload();
      await page.unrouteAll();

      parts.length = 0;
      await page.route(/\/upload-parts\/[^/]+\/3\?/, (route) => route.abort(), { times: 1 });
      await upload(page, [LARGE]);
      expect(parts).toEqual(['2', '3', '3']);
      await card(page, LARGE.name).waitFor();
    });

    it('that are video and sound play, as uploads and as outputs of a job', async () => {
      const page = await browser.openSignedIn(account, '/assets');
      await upload(page, [VIDEO, sound('silence.wav')]);
      for (const [name, element] of [
        [VIDEO.name, 'video'],
        ['silence.wav', 'audio'],
      ] as const) {
        await card(page, name).click();
        await play(modal(page).locator(element));
        expect(await seriousFaults(page)).toEqual([]);
        await page.keyboard.press('Escape');
        await isGone(modal(page));
      }

      const client = new ApiClient(stack.publicUrl, account.apiKey);
      const { id: jobId } = await client.ended((await client.run(PICTURE)).id);
      // The engine of the test makes neither: its job gets the two files as outputs.
      const { models } = stack.test.database;
      for (const [at, [name, type]] of Object.entries([
        [VIDEO.name, 'video'],
        ['silence.wav', 'audio'],
      ])) {
        const { id: assetId } = await models.asset.findFirstOrThrow({
          where: { filePath: name, accountId: account.id },
        });
        const place = { nodeId: '2', nodeIndex: 1 + Number(at), attempt: 1, ordinal: 1 + Number(at) };
        await models.jobOutput.create({ data: { jobId, ...place, name: String(name), type: String(type), assetId } });
      }
      await page.goto(browser.address(`/jobs/${jobId}`));
      const outputs = page.getByRole('region', { name: 'Outputs' });
      await play(outputs.locator('video'));
      await play(outputs.locator('audio'));
      expect(await seriousFaults(page)).toEqual([]);
    });

    it('are shown on a phone', async () => {
      const page = await browser.openSignedIn(account, '/assets', PHONE);
      await card(page, 'blue.png').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
      await card(page, HOSTILE).click();
      await modal(page).getByText(SCRIPT).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });

  describe('a thousand assets', () => {
    it('are read as they are scrolled to, and only those in view are drawn', async () => {
      const many = await stack.createAccount();
      const page = await browser.openSignedIn(many, '/assets');
      await upload(page, [fileOf('first.txt', 'text/plain', 'first')]);
      await stack.test.database.execute(Prisma.sql`
      INSERT INTO assets (id, account_id, hash, size_bytes, content_type, file_path, created_at)
      SELECT gen_random_uuid(), a.account_id, a.hash, a.size_bytes, a.content_type, n || '.txt',
        a.created_at - make_interval(secs => n)
      FROM assets a, generate_series(1, 1000) n WHERE a.account_id = ${many.id}::uuid`);
      await page.reload();
      await card(page, 'first.txt').waitFor();
      await eventually('the end of the list', async () => {
        await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
        return (await card(page, '1000.txt').count()) === 1;
      });
      expect(await page.locator('.asset-card').count()).toBeLessThan(150);
    });
  });
}
