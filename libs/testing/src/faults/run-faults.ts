import { randomBytes } from 'node:crypto';
import { composeAuditChainAuditor } from '@millrace/accounts';
import { StorageAuditor, composeAssets, openBlobStore, assetSettings } from '@millrace/assets';
import { billingSettings, composeBilling } from '@millrace/billing';
import { Database } from '@millrace/database';
import { composeAudits, jobSettings } from '@millrace/jobs';
import { RedisConnections } from '@millrace/messaging';
import { Metrics, createLogger, readSettings, type Auditor } from '@millrace/platform';
import { composeErasureAudit } from '@millrace/privacy';
import {
  admin,
  counts,
  makeDeployment,
  makeEndpoint,
  makeSpenders,
  makeTarget,
  pause,
  query,
  workersReady,
  type FaultyStack,
} from './fault-world';
import { DeploymentWorkers, Injector, ModelWorkers, type FaultKind, type Member } from './injection';
import {
  BatchClient,
  ErasureClient,
  History,
  LoadClient,
  ModelClient,
  NoticeClient,
  SpendClient,
  ageKeys,
} from './load';
import { Random } from './random';
import type { Verdict } from './verdict-of';
import { judge } from './verdicts';

export interface FaultRun {
  seconds: number;
  seed: number;
  clients: number;
  say: (line: string) => void;
}

export interface FaultReport {
  faults: Record<FaultKind, number>;
  outcomes: Record<string, number>;
  statuses: Record<string, number>;
  drainSeconds: number;
  verdicts: Verdict[];
}

/** Of the library; a cache holds some of them, so that they are fetched again and again. */
const MODELS = 6;
const MODELS_IN_CACHE = 2.25;
const DRAIN_LIMIT_MS = 120_000;
const CLIENTS_END_MS = 15_000;

/** Put a stack under load, harm it for a while, let it come to rest, and prove that it kept its promises. */
export async function runFaults(stack: FaultyStack, { seconds, seed, clients, say }: FaultRun): Promise<FaultReport> {
  const random = new Random(seed);
  const history = new History();
  const canary = `canary-${randomBytes(16).toString('hex')}`;
  const [rich, poor, erasing] = await Promise.all([
    makeTarget(stack, canary, 10_000_000_000),
    makeTarget(stack, canary, 300_000),
    makeTarget(stack, canary, 10_000_000_000),
  ]);
  const { target: deployed, poolId } = await makeDeployment(stack, rich, 'cpu', 1);
  const deploymentWorkers = new DeploymentWorkers(poolId, stack.victims.fleet, stack.databaseUrl);
  // One of its workers is that which joins from outside, as long as that is ready.
  const loading = await makeDeployment(stack, rich, 'comfyui', 2);
  const outside = await stack.joinModelWorker(loading.poolId);
  const modelWorkers = new ModelWorkers(
    new DeploymentWorkers(loading.poolId, stack.victims.fleet, stack.databaseUrl),
    outside.member,
    [stack.modelCache, outside.cache],
  );
  await workersReady(stack, loading.poolId);
  const models = { count: MODELS, sizeBytes: Math.floor(stack.modelCache.budgetBytes / MODELS_IN_CACHE) };
  const origin = stack.origins[0] ?? '';
  const ofModels = new Random(random.whole(1, 1e9));
  const modelClient = await ModelClient.open(`m${seed}`, origin, loading.target, history, ofModels, models);
  const receiver = await makeEndpoint(rich);
  const stop = new AbortController();
  const { databaseUrl, leaseMs, folder } = stack;
  const victims = { ...stack.victims, databaseUrl, leaseMs, deploymentWorkers, modelWorkers, receiver };
  const injector = new Injector(victims, history, new Random(random.whole(1, 1e9)), stop.signal);
  const load = Array.from({ length: clients }, (_, index) => {
    const target = [rich, deployed, rich, poor][index % 4] ?? rich;
    return new LoadClient(`c${seed}-${index}`, target, history, new Random(random.whole(1, 1e9)), stop.signal).run();
  });
  const batches = new BatchClient(`b${seed}`, rich, history, new Random(random.whole(1, 1e9)), stop.signal);
  load.push(batches.run(), modelClient.run(stop.signal));
  const operator = (path: string, body: object) => admin(stack, path, body).catch(() => null);
  const notices = new NoticeClient(rich, history, operator, new Random(random.whole(1, 1e9)), stop.signal);
  const erasures = new ErasureClient(`e${seed}`, erasing, history, new Random(random.whole(1, 1e9)), stop.signal);
  const spending = new SpendClient(
    `s${seed}`,
    await makeSpenders(stack, canary, receiver),
    poor,
    (accountId, micros) => operator(`accounts/${accountId}/credits`, { amount_micros: micros, reason: 'to be spent' }),
    history,
    new Random(random.whole(1, 1e9)),
    stop.signal,
  );
  load.push(spending.run(), notices.run(), keepAging(stack, notices, stop.signal), erasures.run());
  const timer = setInterval(() => say(`  ${injector.total} faults, ${history.submissions.length} submissions`), 10_000);
  const ending = setTimeout(() => stop.abort(), seconds * 1_000);
  await injector.run();
  clearTimeout(ending);
  clearInterval(timer);
  await Promise.race([Promise.all(load), pause(CLIENTS_END_MS)]);
  // Those that were answered after the last time are as old as the others.
  await query(stack.databaseUrl, (client) => ageKeys(client, notices.made)).catch(() => undefined);
  say('Faults are over; the stack comes to rest.');
  const began = performance.now();
  await drain(stack);
  const drainSeconds = (performance.now() - began) / 1000;
  const auditing = await openAuditors(stack);
  try {
    const collapses = [...stack.victims.apps, stack.victims.fleet, stack.victims.postgres].flatMap(
      (member) => member.collapses,
    );
    const evidence = {
      history,
      databaseUrl,
      auditors: auditing.auditors,
      faults: injector.total,
      collapses,
      hooks: { accountId: rich.accountId, receiver },
      notices: notices.made,
      spend: { made: spending.made, mailServer: victims.mailServer },
      erasures,
      canary,
      folder,
      modelClient,
    };
    const verdicts = [
      ...(await settled(() => judge(evidence))),
      await deploymentWorkers.verdict(),
      ...(await modelWorkers.verdicts()),
    ];
    const faults = Object.fromEntries(injector.counts) as Record<FaultKind, number>;
    return { faults, outcomes: outcomesOf(history), statuses: await statuses(stack), drainSeconds, verdicts };
  } finally {
    await auditing.close();
    await receiver.close();
  }
}

/** Keys grow old while faults go on, so that their notices are made among them. */
async function keepAging(stack: FaultyStack, { made }: NoticeClient, until: AbortSignal): Promise<void> {
  for (;;) {
    // While PostgreSQL is away they do not.
    await query(stack.databaseUrl, (client) => ageKeys(client, made)).catch(() => undefined);
    if (until.aborted) return;
    await pause(1_000);
  }
}

/**
 * The lanes are emptied by workers a moment after the last job has ended. One that was killed with a message has it for up to 20 s: its lock
 * runs out, and two rounds look for it. A gateway keeps one for 10 s more for a worker that has gone.
 */
const LANES_EMPTY_MS = 45_000;

async function settled(look: () => Promise<Verdict[]>): Promise<Verdict[]> {
  const until = Date.now() + LANES_EMPTY_MS;
  for (;;) {
    const verdicts = await look();
    const lanes = verdicts.find(({ invariant }) => invariant === 'audit of lanes');
    if ((lanes?.breaches.length ?? 0) === 0 || Date.now() > until) return verdicts;
    await pause(500);
  }
}

function outcomesOf({ counts, submissions, batches }: History): Record<string, number> {
  const tries = submissions.flatMap((submission) => submission.tries);
  return {
    'calls answered': counts.ok,
    'calls refused': counts.refused,
    'calls unknown': counts.unknown,
    'batches acknowledged': batches.filter(({ ids }) => ids.size > 0).length,
    'jobs acknowledged': tries.filter(({ jobId }) => jobId !== null).length,
    'submissions unknown': tries.filter(({ outcome }) => outcome === 'unknown').length,
  };
}

async function statuses({ databaseUrl }: FaultyStack): Promise<Record<string, number>> {
  return counts(
    databaseUrl,
    `SELECT status || coalesce(' ' || (error ->> 'code'), '') AS name, count(*)::int FROM jobs GROUP BY 1 ORDER BY 1`,
  );
}

/** Wait until every process serves and no job is alive. */
async function drain(stack: FaultyStack): Promise<void> {
  const { apps, fleet, postgres, redis } = stack.victims;
  const members: Member[] = [postgres, redis, fleet, ...apps];
  await Promise.all(members.map((member) => member.untilReady(DRAIN_LIMIT_MS)));
  const until = Date.now() + DRAIN_LIMIT_MS;
  while (Date.now() < until) {
    const { alive } = await counts(
      stack.databaseUrl,
      `SELECT 'alive' AS name, count(*)::int FROM jobs WHERE delivery <> 'done'`,
    );
    if (alive === 0) return;
    await pause(250);
  }
}

/** The auditors of `millrace admin audit`, and those of lanes and of bytes, on the servers themselves. */
async function openAuditors(stack: FaultyStack): Promise<{ auditors: Auditor[]; close: () => Promise<void> }> {
  const settings = readSettings({ ...assetSettings, ...jobSettings, ...billingSettings }, stack.env);
  const logger = createLogger('audit', 'fatal');
  const database = new Database(
    { databaseUrl: stack.databaseUrl, databasePoolSize: 4, databaseTimeoutMs: 60_000 },
    'millrace-audit',
  );
  const redis = new RedisConnections(stack.victims.redisUrl, logger);
  const store = await openBlobStore(settings);
  const assets = composeAssets({ database, store, settings });
  const metrics = new Metrics('audit');
  const audits = composeAudits({ database, redis });
  const billing = composeBilling({ database, logger, metrics, settings });
  const storage = new StorageAuditor(assets.audit, true);
  return {
    auditors: [
      audits.jobs,
      audits.lanes,
      billing.audit,
      composeAuditChainAuditor(database, null),
      storage,
      assets.countAuditor,
      composeErasureAudit(database, store.notes),
    ],
    close: async () => {
      await audits.close();
      await redis.close();
      store.close();
      await database.close();
    },
  };
}
