import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Comfy } from '@comfyorg/sdk';
import { Prisma } from '@prisma/client';
import { newId, type ErrorEnvelope, type Job } from '@millrace/contracts';
import { ApiClient, SmtpSink, TestStack, eventually, onOneDay, type TestAccount } from '@millrace/testing';

/*
 * What jobs may cost, on a stack that runs: an owner sets it, the official client meets it, and a receiver of webhooks and a mail server
 * of others are sent the warnings.
 */

/** What each job holds, and what a second of it costs. */
const HOLD_MICROS = 100_000;
const PRICE_MICROS = 10_000;
const CAPS = '/platform/v1/spend/caps';
const LIMIT_MS = 300_000;
/** Longer than the cap and the ceiling of any of these jobs lets it run. */
const long = {
  '1': {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 512, height: 512, steps: 100_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};

interface Notice {
  /** That of its message: one that is sent again has it again. */
  id: string;
  type: string;
  data: { scope?: string; percent?: number; span?: string; charged_micros?: number; usual_micros?: number };
}

let sink: SmtpSink;
let server: Server;
let stack: TestStack;
let account: TestAccount;
let owner: ApiClient;
/** By the account whose receiver got them, and by message. */
const received = new Map<string, Map<string, Notice>>();
const notices = (): Notice[] => [...(received.get(account.id)?.values() ?? [])];
beforeAll(async () => {
  sink = await SmtpSink.open();
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const ofAccount = (request.url ?? '').slice(1);
      const notice = JSON.parse(body) as Notice;
      received.set(ofAccount, (received.get(ofAccount) ?? new Map<string, Notice>()).set(notice.id, notice));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const settings = {
    MILLRACE_MAIL_SMTP_URL: sink.url,
    MILLRACE_MAIL_FROM: 'Millrace <no-reply@mail.test>',
    MILLRACE_PUBLIC_URL: 'https://api.test',
    MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    MILLRACE_HOLD_MICROS: String(HOLD_MICROS),
    MILLRACE_PRICE_MICROS_PER_SECOND: String(PRICE_MICROS),
    MILLRACE_HOLD_EXTENSION_SECONDS: '1',
  };
  stack = await TestStack.start({ settings });
  process.env.COMFY_BASE_URL = stack.publicUrl;
}, LIMIT_MS);
beforeEach(() => onOneDay());
beforeEach(async () => {
  account = await stack.createAccount(100_000_000, { queue_limit: 100 });
  owner = new ApiClient(stack.publicUrl, account.apiKey);
  const email = emailOf(account);
  await stack.test.database.models.member.create({
    data: { id: newId(), accountId: account.id, email, role: 'finance' },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${account.id}`;
  const json = { url, events: ['spend.warning', 'spend.anomaly'] };
  expect((await owner.call('POST', '/platform/v1/webhook-endpoints', { json })).status).toBe(201);
});
afterEach(cancelAll, LIMIT_MS);
afterAll(async () => {
  await stack.stop();
  await sink.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What a test has to do when it is over, beside its account's jobs. */
const leaving: (() => Promise<unknown>)[] = [];
const emailOf = ({ id }: TestAccount): string => `books-${id}@example.com`;
const mailsTo = (to: string): string[] =>
  sink.mails.filter((mail) => mail.to.includes(to)).map(({ text }) => text.replaceAll('=\r\n', ''));
async function cap(json: object): Promise<void> {
  expect((await owner.call('PUT', CAPS, { json })).status).toBe(200);
}
const submit = (headers: Record<string, string> = {}, by = owner) =>
  by.call<Job & ErrorEnvelope>('POST', '/api/v2/jobs', { json: { workflow: long }, headers });
/** Submit a job, and wait until it runs. */
async function running(headers: Record<string, string> = {}, by = owner): Promise<string> {
  const { status, body } = await submit(headers, by);
  expect(status).toBe(201);
  await eventually('the job to run', async () => (await by.job(body.id)).status === 'running');
  return body.id;
}
async function cancelAll(): Promise<void> {
  for (const leave of leaving.splice(0)) await leave();
  const { body } = await owner.call<{ jobs: Job[] }>('GET', '/api/v2/jobs?limit=100');
  for (const { id } of body.jobs) await owner.call('POST', `/api/v2/jobs/${id}/cancel`);
  await eventually('nothing to be held', async () => {
    const balance = await stack.test.database.models.balance.findUniqueOrThrow({ where: { accountId: account.id } });
    return balance.heldMicros === 0n;
  });
}

it(
  'a cap warns at 50, 80 and 100 percent, once each, and then refuses the official client with a sentence',
  async () => {
    // The one worker has something else to do: a job that runs holds more with time, however slow the machine is.
    const { apiKey } = await stack.createAccount();
    const elsewhere = new ApiClient(stack.publicUrl, apiKey);
    const busy = await running({}, elsewhere);
    leaving.push(() => elsewhere.call('POST', `/api/v2/jobs/${busy}/cancel`));
    await cap({ scope: 'account', daily_micros: 10 * HOLD_MICROS });
    const warnings: (string | undefined)[] = [];
    for (let count = 0; count < 10; count += 1) {
      const { status, headers } = await submit();
      expect(status).toBe(201);
      warnings.push(headers['millrace-spend-warning']);
    }
    expect(warnings.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect([warnings[4], warnings[7], warnings[9]]).toEqual(['account;day=50', 'account;day=80', 'account;day=100']);
    const client = new Comfy({ apiKey: account.apiKey });
    const workflow = client.workflows.fromJson(long);
    await expect(client.submit(workflow)).rejects.toThrow(
      /a cap on what its jobs may cost in a day.*raise the cap \(daily_micros\)/,
    );
    const refused = await submit();
    expect([refused.status, refused.body.error.code]).toEqual([402, 'spend_cap']);
    await eventually('three warnings to be received', () => notices().length >= 3);
    await eventually('a mail to be sent', () => mailsTo(emailOf(account)).length > 0);
    expect(mailsTo(emailOf(account)).join('\n')).toMatch(/percent of the daily cap of the account, 1 credit/);
    await eventually('nothing more to be sent', async () => {
      const where = { state: 'pending' };
      return (await stack.test.database.models.webhookMessage.count({ where })) === 0;
    });
    const warned = notices().sort((one, other) => (one.data.percent ?? 0) - (other.data.percent ?? 0));
    expect(warned.map(({ type, data: { scope, span, percent } }) => [type, scope, span, percent])).toEqual(
      [50, 80, 100].map((percent) => ['spend.warning', 'account', 'day', percent]),
    );
    // Raised, it lets jobs in again.
    await cap({ scope: 'account', daily_micros: 100 * HOLD_MICROS });
    expect((await submit()).status).toBe(201);
  },
  LIMIT_MS,
);

it(
  'a cap of a key lets what runs finish, or stops it, as was chosen, and leaves other keys alone',
  async () => {
    const made = await owner.call<{ id: string; key: string }>('POST', '/platform/v1/api-keys', {
      json: { name: 'of a program', scopes: ['jobs:read', 'jobs:write'] },
    });
    const program = new ApiClient(stack.publicUrl, made.body.key);
    const ofKey = { scope: 'key', key_id: made.body.id };
    await cap({ ...ofKey, monthly_micros: HOLD_MICROS });
    const id = await running({}, program);
    expect((await submit({}, program)).body.error).toMatchObject({ code: 'spend_cap' });
    await eventually('it to go beyond the cap', async () => {
      const { heldMicros } = await stack.test.database.models.balance.findUniqueOrThrow({
        where: { accountId: account.id },
      });
      return heldMicros > BigInt(HOLD_MICROS);
    });
    expect((await program.job(id)).status).toBe('running');
    const other = await submit();
    expect(other.status).toBe(201);
    await cap({ ...ofKey, monthly_micros: HOLD_MICROS, monthly_at_cap: 'stop' });
    const job = await program.ended(id);
    expect(job.status).toBe('canceled');
    expect((await owner.job(other.body.id)).status).not.toBe('canceled');
    const { body } = await owner.call<{ spend_caps: { scope: string; stopped: string | null }[] }>(
      'GET',
      '/platform/v1/spend',
    );
    expect(body.spend_caps).toMatchObject([{ scope: 'key', stopped: 'month' }]);
  },
  LIMIT_MS,
);

it(
  'a job never costs more than its ceiling',
  async () => {
    const ceiling = String(HOLD_MICROS);
    const tooLow = await submit({ 'Millrace-Spend-Limit-Micros': String(HOLD_MICROS - 1) });
    expect([tooLow.status, tooLow.body.error.code]).toEqual([422, 'invalid_request']);
    const id = await running({ 'Millrace-Spend-Limit-Micros': ceiling });
    const job = await owner.ended(id);
    expect(job.status).toBe('failed');
    const { chargedMicros } = await stack.test.database.models.job.findUniqueOrThrow({ where: { id } });
    expect(chargedMicros).toBeLessThanOrEqual(BigInt(HOLD_MICROS));
    expect(chargedMicros).toBeGreaterThan(0n);
  },
  LIMIT_MS,
);

it(
  'an hour of ten times the usual one is noticed, by webhook and by mail',
  async () => {
    const charge = (micros: number, hoursAgo: number): Promise<number> =>
      stack.test.database.execute(Prisma.sql`
        INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
        VALUES (${newId()}::uuid, ${account.id}::uuid, 'succeeded', 1, ${micros}, '{}',
          date_trunc('hour', now(), 'UTC') - make_interval(hours => ${hoursAgo}::int))`);
    for (const hoursAgo of [1, 2, 3]) await charge(200_000, hoursAgo);
    /** What is charged in the hour that it is now, whenever that began. */
    const chargeThisHour = async (): Promise<void> => {
      const [hour] = await stack.test.database.rows<{ charged: number }>(Prisma.sql`
        SELECT count(*)::int AS charged FROM usage_records
        WHERE account_id = ${account.id}::uuid AND finished_at >= date_trunc('hour', now(), 'UTC')`);
      if (hour?.charged === 0) await charge(2_000_000, 0);
      const where = { accountId: account.id };
      await stack.test.database.models.balance.update({ data: { updatedAt: new Date() }, where });
    };
    await chargeThisHour();
    // The loop looks once a minute, and when its process begins.
    await stack.maintenance.end();
    stack.maintenance = await stack.spawn('maintenance');
    const isNoticed = async (): Promise<boolean> => {
      await chargeThisHour();
      return notices().length > 0;
    };
    await eventually('the notice to be received', isNoticed, LIMIT_MS);
    expect(notices()).toMatchObject([
      { type: 'spend.anomaly', data: { charged_micros: 2_000_000, usual_micros: 200_000 } },
    ]);
    await eventually('the mail to be sent', () => mailsTo(emailOf(account)).length > 0);
    expect(mailsTo(emailOf(account))).toHaveLength(1);
  },
  LIMIT_MS,
);
