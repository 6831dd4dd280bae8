import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { Asset, Job } from '@millrace/contracts';
import { BOOT_MS, STORES, startAssetStack, type AssetStack } from './support/asset-stack';

const run = promisify(execFile);
const VERIFY = join(process.cwd(), 'dist/apps/maintenance/src/verify-storage.js');

/** A picture that no other test has. */
const picture = (): Promise<Buffer> =>
  sharp(randomBytes(48), { raw: { width: 4, height: 4, channels: 3 } })
    .png()
    .toBuffer();
const other = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0xff));

describe.each(STORES)('bytes that were damaged in %s', (store) => {
  let world: AssetStack;
  beforeAll(async () => {
    world = await startAssetStack(store);
  }, BOOT_MS);
  afterAll(() => world.stack.stop());

  const upload = async (bytes: Buffer): Promise<Asset> =>
    (await world.client.upload(bytes, { content_type: 'image/png', file_path: 'in.png' })).body;
  const runWith = async ({ id }: Asset): Promise<Job> => {
    const job = await world.client.run({
      '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id } } } },
      '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
    });
    return world.client.ended(job.id);
  };
  /** What its owner is answered, by each way to the content. */
  const answers = async ({ id, url }: Asset): Promise<(number | string)[]> => {
    const authorization = `Bearer ${world.account.apiKey}`;
    const ways = [
      () => fetch(`${world.stack.publicUrl}/api/v2/assets/${id}/content`, { headers: { authorization } }),
      () => fetch(url),
    ];
    const said = await Promise.all(
      ways.map(async (ask) => {
        const answer = await ask();
        if (answer.ok) return [answer.status];
        const { error } = (await answer.json()) as { error: { code: string; message: string } };
        expect(error.message).toContain(id);
        return [answer.status, error.code];
      }),
    );
    return said.flat();
  };
  const LOST = [410, 'content_lost', 410, 'content_lost'];
  const verify = (): Promise<{ code: number; last: string }> => {
    const env = { ...process.env, ...world.stack.env };
    const lastOf = (text: string): string => text.trim().split('\n').at(-1) ?? '';
    return run(process.execPath, [VERIFY], { env }).then(
      ({ stdout }) => ({ code: 0, last: lastOf(stdout) }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, last: lastOf(stdout) }),
    );
  };

  it('are found when a job takes them: it fails and names the asset, its owner is answered 410, and an upload mends it', async () => {
    const bytes = await picture();
    const asset = await upload(bytes);
    await world.replaceBytes(asset.id, other(bytes));
    const failed = await runWith(asset);
    expect([failed.status, failed.error?.code]).toEqual(['failed', 'input_unavailable']);
    expect(failed.error?.message).toMatch(new RegExp(`${asset.id} could not be read: its bytes are lost or damaged`));
    const { chargedMicros } = await world.stack.test.database.models.job.findUniqueOrThrow({
      where: { id: failed.id },
    });
    expect(chargedMicros).toBe(0n);
    expect(await answers(asset)).toEqual(LOST);
    expect((await world.client.call('HEAD', `/api/v2/assets/by-hash/${asset.hash}`)).status).toBe(404);

    await upload(bytes);
    expect(await answers(asset)).toEqual([200, 200]);
    expect((await runWith(asset)).status).toBe('succeeded');
    expect(await verify()).toMatchObject({ code: 0 });
  });

  it('are found by verify-storage, as are those that are gone, and are sound again when they were copied back', async () => {
    const [rotten, lost] = [await picture(), await picture()];
    const [ofRotten, ofLost] = [await upload(rotten), await upload(lost)];
    await world.replaceBytes(ofRotten.id, other(rotten));
    await world.replaceBytes(ofLost.id, null);
    const found = await verify();
    expect(found).toMatchObject({ code: 1, last: expect.stringContaining('1 lost, 1 corrupt.') as string });
    expect([await answers(ofRotten), await answers(ofLost)]).toEqual([LOST, LOST]);
    const { findings } = await world.stack.admin<{ findings: { check: string; subject: string }[] }>('GET', '/audit');
    expect(findings.map(({ check, subject }) => [check, subject]).sort()).toEqual(
      [
        ['bytes-are-their-hash', ofRotten.hash],
        ['blob-has-its-bytes', ofLost.hash],
      ].sort(),
    );

    await world.replaceBytes(ofRotten.id, rotten);
    await world.replaceBytes(ofLost.id, lost);
    expect(await verify()).toMatchObject({ code: 0 });
    expect([await answers(ofRotten), await answers(ofLost)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
  });
});
