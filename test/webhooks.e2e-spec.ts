import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Job } from '@millrace/contracts';
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
const received: { headers: IncomingHttpHeaders; body: string }[] = [];
/** Whether the receiver answers. */
let isSilent = false;
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body });
      if (!isSilent) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack = await TestStack.start({ settings: { MILLRACE_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  account = await stack.createAccount();
  client = new ApiClient(stack.publicUrl, account.apiKey);
});
afterAll(async () => {
  await stack.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const ENDPOINTS = '/platform/v1/webhook-endpoints';
const GRAPH = {
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'a' } },
};
const makeEndpoint = async (json: object = {}): Promise<{ id: string; secret: string }> => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
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
