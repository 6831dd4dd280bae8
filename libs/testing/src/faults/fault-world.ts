import pg from 'pg';
import type { Member, ModelCache, Victims } from './injection';
import { HookReceiver, makeSpender, type LoadTarget, type Spender } from './load';

/** A stack that is up, and may be harmed. */
export interface FaultyStack {
  victims: Omit<Victims, 'leaseMs' | 'databaseUrl' | 'deploymentWorkers' | 'receiver' | 'modelWorkers'>;
  /** Of the workers with ComfyUI that deployments have. */
  modelCache: ModelCache;
  /** Start a worker outside, with ComfyUI and a cache of its own, that joins the pool of a deployment. It is one of the apps from then on. */
  joinModelWorker: (poolId: string) => Promise<{ member: Member; cache: ModelCache }>;
  origins: string[];
  opsUrl: string;
  adminToken: string;
  /** Past the proxies. */
  databaseUrl: string;
  /** Environment of the processes, past the proxies. */
  env: NodeJS.ProcessEnv;
  /** Holds all data and logs. */
  folder: string;
  leaseMs: number;
}

const SPENDERS = 4;
const READY_LIMIT_MS = 120_000;

export async function makeTarget(stack: FaultyStack, canary: string, micros: number): Promise<LoadTarget> {
  const { id = '' } = await admin(stack, 'accounts', { name: 'under faults' });
  await admin(stack, `accounts/${id}/credits`, { amount_micros: micros, reason: 'to be spent' });
  const { key = '' } = await admin(stack, `accounts/${id}/api-keys`, { name: 'under faults' });
  return { origins: stack.origins, accountId: id, apiKey: key, canary };
}

/** The account has all its events sent, from before its first job on. */
export async function makeEndpoint({ origins, apiKey }: LoadTarget): Promise<HookReceiver> {
  const receiver = await HookReceiver.start();
  const response = await fetch(`${origins[0]}/platform/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url }),
  });
  if (!response.ok) throw new Error(`a webhook endpoint was refused: ${response.status} ${await response.text()}`);
  return receiver;
}

/** Accounts whose jobs may cost only so much, each with a member to whom warnings go. */
export async function makeSpenders(stack: FaultyStack, canary: string, receiver: HookReceiver): Promise<Spender[]> {
  const targets = await Promise.all(Array.from({ length: SPENDERS }, () => makeTarget(stack, canary, 10_000_000_000)));
  return query(stack.databaseUrl, async (client) => {
    const spenders: Spender[] = [];
    for (const target of targets) spenders.push(await makeSpender(client, target, receiver));
    return spenders;
  });
}

/** A deployment of the account, whose workers come and go by themselves. */
export async function makeDeployment(
  stack: FaultyStack,
  owner: LoadTarget,
  engine: 'cpu' | 'comfyui',
  minWorkers: number,
): Promise<{ target: LoadTarget; poolId: string }> {
  const limits = { min_workers: minWorkers, max_workers: 2, idle_seconds: 2 };
  const draft = { account_id: owner.accountId, name: `${engine} under faults`, engine, ...limits };
  const { path = '', pool = '' } = await admin(stack, 'deployments', draft);
  return { target: { ...owner, origins: stack.origins.map((origin) => origin + path) }, poolId: pool };
}

/** Wait for the first worker of a pool: until then nobody knows what its jobs may name. */
export async function workersReady({ databaseUrl }: FaultyStack, poolId: string): Promise<void> {
  const until = Date.now() + READY_LIMIT_MS;
  for (;;) {
    const { ready } = await counts(
      databaseUrl,
      `SELECT 'ready' AS name, count(*)::int FROM workers WHERE pool_id = '${poolId}' AND state = 'ready'`,
    );
    if ((ready ?? 0) > 0) return;
    if (Date.now() > until) throw new Error(`no worker of ${poolId} was ready in time`);
    await pause(250);
  }
}

/** A call of an operator. */
export async function admin(
  { opsUrl, adminToken }: FaultyStack,
  path: string,
  body: object,
): Promise<Record<string, string>> {
  const response = await fetch(`${opsUrl}/admin/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, string>;
}

export async function counts(databaseUrl: string, sql: string): Promise<Record<string, number>> {
  return query(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string; count: number }>(sql);
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  });
}

export async function query<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // Of a connection that breaks while nothing is asked.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
