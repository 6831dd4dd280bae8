import { execFile, execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { Job } from '@millrace/contracts';
import { ApiClient, TestStack, eventually, type TestAccount } from '@millrace/testing';
import { dumpLinesWith, filesWith, redisKeysWith, tablesWith } from './support';

const run = promisify(execFile);
const CLI = join(process.cwd(), 'dist/apps/cli/src/main.js');
/** The end user that is erased; nothing else has this text. */
const ADA = `ada${randomBytes(8).toString('hex')}`;

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-erasure-'));
  stack = await TestStack.start({ settings: { MILLRACE_ERASURE_SETTLE_SECONDS: '1' } });
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The command line, as the account or as an operator. */
async function cli(...args: string[]): Promise<Record<string, unknown>> {
  const env = {
    ...process.env,
    MILLRACE_URL: stack.publicUrl,
    MILLRACE_API_KEY: account.apiKey,
    MILLRACE_OPS_URL: stack.api.opsUrl,
    MILLRACE_ADMIN_TOKEN: stack.env.MILLRACE_ADMIN_TOKEN,
    XDG_CONFIG_HOME: '/nonexistent',
  };
  const { stdout } = await run(process.execPath, [CLI, '--json', ...args], { env, cwd: folder });
  return JSON.parse(stdout) as Record<string, unknown>;
}

interface Erasure {
  id: string;
  state: string;
  value: string | null;
  pseudonym: string;
  counts: Record<string, number>;
}

const isDone = (id: string): Promise<Erasure> =>
  eventually(
    'the erasure to be done',
    async () => {
      const erasure = await stack.admin<Erasure>('GET', `/erasures/${id}`);
      return erasure.state === 'done' ? erasure : null;
    },
    180_000,
  );
const loading = (assetId: string, prefix: string): object => ({
  '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: assetId } } } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: prefix } },
});
const picture = async (color: string): Promise<Buffer> =>
  sharp({ create: { width: 8, height: 8, channels: 3, background: color } })
    .png()
    .toBuffer();
const upload = async (bytes: Buffer, path: string, as = client): Promise<string> => {
  const { body, status } = await as.upload(bytes, { content_type: 'image/png', file_path: path });
  expect(status).toBe(201);
  return body.id;
};
const succeeded = async (id: string): Promise<Job> => {
  const job = await client.ended(id);
  expect(job.status).toBe('succeeded');
  return job;
};
const costs = async (): Promise<{ group: string | null; jobs: number; charged_micros: number }[]> => {
  const path = '/platform/v1/usage?group_by=label:user';
  const { body } = await client.call<{ usage: { group: string | null; jobs: number; charged_micros: number }[] }>(
    'GET',
    path,
  );
  return body.usage;
};

it('of an erased label nothing is found, though maintenance is killed in the middle, and those of another label stay whole', async () => {
  const shared = await upload(await picture('#123'), 'template.png');
  const subKey = { name: `for ${ADA}`, labels: { user: ADA } };
  const { body: key } = await client.call<{ key: string }>('POST', '/platform/v1/api-keys', { json: subKey });
  await client.call('PUT', '/platform/v1/label-rules', { json: { label: 'user', value: ADA, max_jobs: 1_000 } });
  const hers = new ApiClient(stack.publicUrl, key.key);
  const bytes = Buffer.concat([await picture('#456'), Buffer.from(ADA)]);
  const onlyHers = await upload(bytes, `${ADA}.png`, hers);
  const jobs = [(await hers.run(loading(onlyHers, ADA))).id];
  for (let nth = 0; nth < 5; nth += 1) {
    jobs.push((await client.run(loading(shared, ADA), { metadata: { user: ADA } })).id);
  }
  const [made] = await Promise.all(jobs.map(succeeded));
  const bobs = await succeeded((await client.run(loading(shared, 'bobs'), { metadata: { user: 'bob' } })).id);
  // Bob's other job reads what Ada's has made.
  const hersOfBob = made?.outputs[0]?.id ?? '';
  const mixed = await succeeded((await client.run(loading(hersOfBob, 'mixed'), { metadata: { user: 'bob' } })).id);
  // What is said of her without a job or a key of hers: a warning of a cap in money, and why a job of another's batch was refused.
  const endpoint = { url: 'https://receiver.example.com/', events: ['spend.warning'] };
  await client.call('POST', '/platform/v1/webhook-endpoints', { json: endpoint });
  const cap = { label: 'user', value: ADA, daily_micros: 1, daily_at_cap: 'stop' };
  await client.call('PUT', '/platform/v1/label-rules', { json: cap });
  const jobOf = (user: string): object => ({ workflow: loading(shared, user), metadata: { user } });
  const each = { admission: 'each', jobs: [jobOf(ADA), jobOf('bob')] };
  const { body: batch } = await client.call<{ id: string; refused: { code: string }[] }>('POST', '/api/v2/batches', {
    json: each,
  });
  expect(batch.refused).toMatchObject([{ code: 'label_spend_limit' }]);
  await eventually('the batch to be over', async () => {
    const { body } = await client.call<{ completed_at: string | null }>('GET', `/api/v2/batches/${batch.id}`);
    return body.completed_at !== null;
  });
  const before = await costs();
  const said = await tablesWith(stack.test.url, ADA);
  expect(said.length).toBeGreaterThan(5);
  expect(said).toEqual(expect.arrayContaining(['batches', 'webhook_messages']));

  const other = await stack.createAccount();
  // Nobody carries it out, so that it is asked for twice before it is done.
  await stack.maintenance.end('SIGKILL');
  const asked = await cli('privacy', 'erase-label', `user=${ADA}`);
  const id = String(asked.id);
  expect(await cli('privacy', 'erase-label', `user=${ADA}`)).toMatchObject({ id });
  const killed = await stack.spawn('maintenance');
  await eventually('a step to be done', async () => {
    const { state } = await stack.admin<Erasure>('GET', `/erasures/${id}`);
    return state !== 'requested';
  });
  await killed.end('SIGKILL');
  await stack.spawn('maintenance');
  const done = await isDone(id);
  expect(done).toMatchObject({ value: null, counts: { jobs: 6 } });
  expect(await cli('admin', 'erasure', id)).toMatchObject({ state: 'done' });

  expect({
    tables: await tablesWith(stack.test.url, ADA),
    dump: await dumpLinesWith(stack.test.url, ADA),
    redis: await redisKeysWith(ADA),
    files: await filesWith(stack.env.MILLRACE_BLOB_DIR ?? '', ADA),
  }).toEqual({ tables: [], dump: [], redis: [], files: [] });
  expect((await hers.call('GET', '/api/v2/jobs')).status).toBe(401);
  expect((await client.call('GET', `/api/v2/jobs/${made?.id}`)).status).toBe(404);

  // Bob's jobs, their outputs and what they read are whole.
  for (const job of [bobs, mixed]) {
    const found = await client.job(job.id);
    expect(found).toMatchObject({ status: 'succeeded', metadata: { user: 'bob' } });
    expect((await client.download(found.outputs[0]?.url ?? '')).length).toBe(job.outputs[0]?.size_bytes);
  }
  expect((await client.call('GET', `/api/v2/assets/${shared}`)).status).toBe(200);
  expect((await client.call('GET', `/api/v2/assets/${onlyHers}`)).status).toBe(404);
  // The books say what they said, of a pseudonym.
  const renamed = before.map((row) => (row.group === ADA ? { ...row, group: done.pseudonym } : row));
  const sorted = (rows: typeof before): typeof before =>
    [...rows].sort((a, b) => String(a.group).localeCompare(String(b.group)));
  expect(sorted(await costs())).toEqual(sorted(renamed));
  expect(await stack.admin('GET', '/audit')).toMatchObject({ ok: true });
  // Nobody else's business.
  const stranger = new ApiClient(stack.publicUrl, other.apiKey);
  expect((await stranger.call('GET', `/platform/v1/erasures/${id}`)).status).toBe(404);
  const foreign = { subject: 'job', job_id: bobs.id };
  expect((await stranger.call('POST', '/platform/v1/erasures', { json: foreign })).status).toBe(404);
});

it('an erased job is gone, and no other', async () => {
  const input = await upload(await picture('#789'), 'one.png');
  const [gone, stays] = [
    await succeeded((await client.run(loading(input, 'gone'))).id),
    await succeeded((await client.run(loading(input, 'stays'))).id),
  ];
  const asked = await cli('privacy', 'erase-job', gone.id);
  expect(await isDone(String(asked.id))).toMatchObject({ counts: { jobs: 1, assets: 1 } });
  expect((await client.call('GET', `/api/v2/jobs/${gone.id}`)).status).toBe(404);
  expect(await tablesWith(stack.test.url, gone.outputs[0]?.id ?? '')).toEqual([]);
  const found = await client.job(stays.id);
  expect((await client.download(found.outputs[0]?.url ?? '')).length).toBe(stays.outputs[0]?.size_bytes);
});

it('the archive has all that the account has, as its manifest says, and nothing of another', async () => {
  const input = await upload(await picture('#abc'), 'kept.png');
  const exact = { ...loading(input, 'exported'), '3': { class_type: 'PrimitiveInt', inputs: { value: 12 } } };
  const { id } = await succeeded((await client.run(exact, { metadata: { user: 'bob' } })).id);
  const stranger = new ApiClient(stack.publicUrl, (await stack.createAccount()).apiKey);
  const { id: foreign } = await stranger.run({
    '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'foreign' } },
  });
  await stranger.ended(foreign);

  expect(await cli('privacy', 'export', '--out', 'own.zip')).toEqual({ saved: 'own.zip' });
  expect(await cli('admin', '--reason', 'a test', 'export-account', account.id, '--out', 'operator.zip')).toEqual({
    saved: 'operator.zip',
  });
  for (const name of ['own', 'operator']) {
    const at = join(folder, name);
    execFileSync('python3', ['-m', 'zipfile', '-e', `${at}.zip`, at]);
    const read = (path: string): string => readFileSync(join(at, path), 'utf8');
    const manifest = JSON.parse(read('manifest.json')) as {
      account_id: string;
      files: { path: string; records: number; size_bytes: number; hash: string }[];
    };
    expect(manifest.account_id).toBe(account.id);
    const linesOf = (path: string): Record<string, never>[] =>
      read(path)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, never>);
    for (const { path, records, size_bytes: sizeBytes, hash } of manifest.files) {
      const bytes = readFileSync(join(at, path));
      expect([bytes.length, `sha256:${createHash('sha256').update(bytes).digest('hex')}`]).toEqual([sizeBytes, hash]);
      expect(linesOf(path)).toHaveLength(records);
      expect(bytes.toString()).not.toContain(foreign);
    }
    const job = linesOf('jobs.ndjson').find((line) => line.id === id);
    expect(job).toMatchObject({ status: 'succeeded', metadata: { user: 'bob' }, workflow: exact });
    const [output] = linesOf('outputs.ndjson').filter((line) => line.job_id === id) as unknown as {
      path: string;
      size_bytes: number;
    }[];
    expect(readFileSync(join(at, output?.path ?? '')).length).toBe(output?.size_bytes);
    expect(linesOf('ledger.ndjson').length).toBeGreaterThan(3);
    expect(linesOf('usage.ndjson').some((line) => line.job_id === id)).toBe(true);
    expect(linesOf('assets.ndjson').map((line) => line.id)).toContain(input);
    expect(read('api-keys.ndjson')).not.toContain('hash');
    const actors = linesOf('audit.ndjson').map(({ actor }) => String(actor));
    expect([actors.includes('operator'), actors.includes('admin')]).toEqual([true, false]);
  }
  const log = await stack.admin<{ entries: { action: string; actor: string; reason: string | null }[] }>(
    'GET',
    `/audit-log?account_id=${account.id}&action=account.export`,
  );
  expect(log.entries.map(({ actor, reason }) => [actor.split(':')[0], reason])).toEqual([
    ['admin', 'a test'],
    ['api_key', null],
  ]);
});
