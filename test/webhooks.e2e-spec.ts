import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { newId, type BatchView, type Job } from '@millrace/contracts';
import { ApiClient, eventually, TestStack, type TestAccount } from '@millrace/testing';

interface Message {
  id: string;
  type: string;
  timestamp: string;
  data: Job;
}

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
let server: Server;
/** Where mail is written. */
let mailFolder: string;
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
/** Whether the receiver answers. */
let isSilent = false;
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      if (request.url === '/gone') return response.writeHead(410).end();
      received.push({ headers: request.headers, body });
      if (!isSilent) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  mailFolder = await mkdtemp(join(tmpdir(), 'millrace-mail-'));
  const settings = { MILLRACE_MAIL_FOLDER: mailFolder, MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  stack = await TestStack.start({ settings });
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  await rm(mailFolder, { recursive: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const DAY_MS = 86_400_000;
const ENDPOINTS = '/platform/v1/webhook-endpoints';
const GRAPH = {
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};
const makeEndpoint = async (json: object = {}, path = '/hook'): Promise<{ id: string; secret: string }> => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const { status, body } = await client.call<{ id: string; secret: string }>('POST', ENDPOINTS, {
    json: { url, ...json },
  });
  expect(status).toBe(201);
  return body;
};
const messageOf = (jobId: string, from = 0): Promise<{ headers: Record<string, string>; body: string }> =>
  eventually('the message is received', () => {
    const found = received.slice(from).find(({ body }) => body.includes(jobId));
    return found && { headers: found.headers as Record<string, string>, body: found.body };
  });

it('the end of a job is sent as a poll answers it, signed, and its links work', async () => {
  const { id, secret } = await makeEndpoint();
  const { id: jobId } = await client.run(GRAPH);
  const job = await client.ended(jobId);
  const { headers, body } = await messageOf(jobId);
  const message = new Webhook(secret).verify(body, headers) as Message;
  expect(message).toMatchObject({ id: headers['webhook-id'], type: 'job.succeeded', data: { id: jobId } });
  const withoutLinks = ({ outputs, ...rest }: Job): object => ({
    ...rest,
    outputs: outputs.map(({ url: _url, url_expires_at: _until, ...output }) => output),
  });
  expect(withoutLinks(message.data)).toEqual(withoutLinks(job));
  const [output] = message.data.outputs;
  const bytes = await client.download(output?.url ?? '');
  expect(bytes.length).toBe(output?.size_bytes);
  await client.call('DELETE', `${ENDPOINTS}/${id}`);
});

it('a maintenance process that is killed in the middle of an attempt loses no message', async () => {
  const { id, secret } = await makeEndpoint();
  const from = received.length;
  isSilent = true;
  const { id: jobId } = await client.run(GRAPH);
  await messageOf(jobId, from);
  await stack.maintenance.end();
  isSilent = false;
  // What the claim has its lease for.
  await stack.test.database.models.webhookMessage.updateMany({ where: { jobId }, data: { dueAt: new Date(0) } });
  const again = received.length;
  stack.maintenance = await stack.spawn('maintenance');
  const { headers, body } = await messageOf(jobId, again);
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ data: { id: jobId } });
  await eventually('it is recorded as delivered', async () => {
    const message = await stack.test.database.models.webhookMessage.findFirst({ where: { jobId } });
    return message?.state === 'delivered' && message.attempt === 2;
  });
  await client.call('DELETE', `${ENDPOINTS}/${id}`);
});

it('what happens to the account is sent: low credits, a key that expires, a deployment that stops', async () => {
  const { id, secret } = await makeEndpoint({ events: ['credits.low', 'key.expiring', 'deployment.stopped'] });
  const from = received.length;
  const verified = async (part: string): Promise<unknown> => {
    const { headers, body } = await messageOf(part, from);
    return new Webhook(secret).verify(body, headers);
  };
  const balance = (await client.call<{ available_micros: number }>('GET', '/platform/v1/credits')).body;
  const below = { json: { below_micros: balance.available_micros } };
  expect((await client.call('PUT', '/platform/v1/credits/alert', below)).body).toEqual(below.json);
  expect((await client.call('GET', '/platform/v1/credits/alert')).body).toEqual(below.json);
  await stack.admin('POST', `/accounts/${account.id}/credits`, { amount_micros: -1, reason: 'a test' });
  expect(await verified('credits.low')).toMatchObject({
    type: 'credits.low',
    data: { available_micros: balance.available_micros - 1, alert_below_micros: balance.available_micros },
  });

  const { apiKey: models } = stack.test.database.models;
  const { id: keyId } = await models.findFirstOrThrow({ where: { accountId: account.id } });
  const [createdAt, expiresAt] = [new Date(Date.now() - 9 * DAY_MS), new Date(Date.now() + 6 * DAY_MS)];
  await models.update({ where: { id: keyId }, data: { createdAt, expiresAt } });
  // The loop runs once a minute, and when its process starts.
  await stack.maintenance.end();
  stack.maintenance = await stack.spawn('maintenance');
  expect(await verified('key.expiring')).toMatchObject({ data: { id: keyId, days: 7 } });

  const make = { account_id: account.id, name: 'Renders', engine: 'cpu' };
  const deployment = await stack.admin<{ id: string }>('POST', '/deployments', make);
  for (let time = 0; time < 2; time += 1) await stack.admin('POST', `/deployments/${deployment.id}/stop`);
  expect(await verified('deployment.stopped')).toMatchObject({
    data: { id: deployment.id, name: 'Renders', reason: 'stopped' },
  });
  const types = received.slice(from).map((message) => (JSON.parse(message.body) as Message).type);
  expect(types.sort()).toEqual(['credits.low', 'deployment.stopped', 'key.expiring']);
  await client.call('DELETE', `${ENDPOINTS}/${id}`);
});

it('the end of a batch is sent as a poll answers it, signed, once', async () => {
  const { id, secret } = await makeEndpoint({ events: ['batch.completed'] });
  const from = received.length;
  const table = { '1.color': [1, 2, 3] };
  const made = await client.call<BatchView>('POST', '/api/v2/batches', { json: { workflow: GRAPH, table } });
  expect(made.status).toBe(201);
  const { id: batchId } = made.body;
  const { headers, body } = await messageOf(batchId, from);
  const message = new Webhook(secret).verify(body, headers) as { type: string; data: BatchView };
  expect([headers['webhook-id'], message.type]).toEqual([expect.any(String), 'batch.completed']);
  const { body: batch } = await client.call<BatchView>('GET', `/api/v2/batches/${batchId}`);
  expect(message.data).toEqual(batch);
  expect(batch).toMatchObject({ status: 'completed', counts: { succeeded: 3 } });
  expect(received.slice(from)).toHaveLength(1);
  await client.call('DELETE', `${ENDPOINTS}/${id}`);
});

it('an endpoint that is gone is disabled, and the others and the developers learn of it', async () => {
  const member = { email: 'dev@example.com', role: 'developer' };
  await stack.test.database.models.member.create({ data: { id: newId(), accountId: account.id, ...member } });
  const other = await makeEndpoint({ events: ['webhook.disabled'] });
  const gone = await makeEndpoint({ events: ['job.canceled', 'job.succeeded'] }, '/gone');
  const from = received.length;
  await client.run(GRAPH);
  const { headers, body } = await messageOf(gone.id, from);
  expect(new Webhook(other.secret).verify(body, headers)).toMatchObject({
    type: 'webhook.disabled',
    data: { id: gone.id, reason: 'gone' },
  });
  const mail = await eventually('the mail', async () => {
    // What is still being written has another name.
    const file = (await readdir(mailFolder)).find((name) => name.endsWith('.eml'));
    return file === undefined ? null : readFile(join(mailFolder, file), 'utf8');
  });
  // Quoted-printable folds long lines (RFC 2045, 6.7).
  expect(mail.replaceAll(/=\r?\n/g, '')).toContain(`The webhook endpoint ${gone.id} at 127.0.0.1`);
  expect(mail).toContain(`To: ${member.email}`);
  const { body: list } = await client.call<{ webhook_endpoints: object[] }>('GET', ENDPOINTS);
  expect(list.webhook_endpoints).toContainEqual(
    expect.objectContaining({ id: gone.id, enabled: false, disabled_reason: 'gone' }),
  );
  for (const { id } of [other, gone]) await client.call('DELETE', `${ENDPOINTS}/${id}`);
});

it('an endpoint at an address that is not public is refused', async () => {
  for (const url of [
    'http://169.254.169.254/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'http://example.com@10.0.0.1/',
  ]) {
    const { status, body } = await client.call<{ error: { code: string } }>('POST', ENDPOINTS, { json: { url } });
    expect([status, body.error.code]).toEqual([422, 'invalid_request']);
  }
});

it('an account has a limit of endpoints', async () => {
  const made: string[] = [];
  for (let at = 0; at < 10; at += 1) made.push((await makeEndpoint()).id);
  const url = 'http://127.0.0.1:1/';
  const { status, body } = await client.call<{ error: { code: string } }>('POST', ENDPOINTS, { json: { url } });
  expect([status, body.error.code]).toEqual([422, 'webhook_endpoint_limit']);
  for (const id of made) expect((await client.call('DELETE', `${ENDPOINTS}/${id}`)).status).toBe(204);
  expect((await client.call<{ webhook_endpoints: object[] }>('GET', ENDPOINTS)).body.webhook_endpoints).toEqual([]);
});
