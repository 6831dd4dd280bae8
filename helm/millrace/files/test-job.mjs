// Submits a small job as a customer would and waits for its end. On the cloud surface it makes an account for it through the
// admin API, and suspends it afterwards.
import process from 'node:process';

const { PUBLIC_URL, OPS_URL, ADMIN_TOKEN, SURFACE, TOKEN } = process.env;
const LIMIT_MS = Number(process.env.LIMIT_MS || 240_000);
const PAUSE_MS = 1_000;
const WORKFLOW = {
  1: { class_type: 'EmptyImage', inputs: { width: 64, height: 64, batch_size: 1, color: 255 } },
  2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'helm-test' } },
};

/** Ask for JSON. @throws when the answer is no success. */
async function ask(method, url, token, body) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

const admin = (method, path, body) => ask(method, `${OPS_URL}/admin/v1${path}`, ADMIN_TOKEN, body);

async function makeAccount() {
  const { id } = await admin('POST', '/accounts', { name: 'helm test' });
  await admin('POST', `/accounts/${id}/credits`, { amount_micros: 10_000_000, reason: 'helm test' });
  const { key } = await admin('POST', `/accounts/${id}/api-keys`, { name: 'helm test' });
  return { id, key };
}

async function runJob(token) {
  const job = await ask('POST', `${PUBLIC_URL}/api/v2/jobs`, token, { workflow: WORKFLOW });
  // Links may carry another origin; the job is read from this address.
  const self = new URL(new URL(job.urls.self, PUBLIC_URL).pathname, PUBLIC_URL).href;
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    const { status, error } = await ask('GET', self, token);
    if (status === 'succeeded') return job.id;
    if (!['queued', 'running'].includes(status)) throw new Error(`${job.id} ${status}: ${JSON.stringify(error)}`);
    if (Date.now() > deadline) throw new Error(`${job.id} is still ${status} after ${LIMIT_MS / 1000} seconds`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const account = SURFACE === 'cloud' ? await makeAccount() : undefined;
try {
  process.stdout.write(`${await runJob(account?.key ?? TOKEN)} succeeded\n`);
} finally {
  if (account) await admin('PATCH', `/accounts/${account.id}`, { status: 'suspended' });
}
