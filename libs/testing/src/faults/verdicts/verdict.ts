import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Auditor, Finding } from '@millrace/platform';
import type { SmtpSink } from '../../smtp-sink';
import type { ErasureClient, History, HookReceiver, ModelClient, NoticeHistory, SpendHistory } from '../load';
import { batchVerdicts, drainWebhooks, webhookVerdicts } from './batch-verdict';
import { drainNotices, exportVerdict, noticeVerdicts } from './notice-verdict';
import { clientVerdicts } from './client-verdict';
import { drainMails, spendVerdicts } from './spend-verdict';
import { reuseVerdict } from './reuse-verdict';
import { verdictOf, type Verdict } from '../verdict-of';

/** What the checks need to know of the run. */
export interface Evidence {
  history: History;
  databaseUrl: string;
  auditors: Auditor[];
  faults: number;
  /** Ends of processes that nobody caused. */
  collapses: string[];
  /** Of the account that has its events sent, and where. */
  hooks: { accountId: string; receiver: HookReceiver };
  /** What the same account was answered of its keys, deployments and exports. */
  notices: NoticeHistory;
  /** What accounts with caps were answered, and where their mail goes. */
  spend: { made: SpendHistory; mailServer: Pick<SmtpSink, 'mails'> };
  erasures: Pick<ErasureClient, 'drain' | 'verdicts'>;
  /** Must be in none of the files below `folder`. */
  canary: string;
  folder: string;
  modelClient: Pick<ModelClient, 'verdict'>;
}

/** What waits for its next attempt is sent in this time, in attempts of a few seconds. */
const WEBHOOKS_LIMIT_MS = 60_000;
/** Keys are looked at every minute, by a process that has just come up. */
const NOTICES_LIMIT_MS = 90_000;
const MAILS_LIMIT_MS = 90_000;
const ERASURES_LIMIT_MS = 60_000;

interface JobRow {
  id: string;
  account_id: string;
  label: string;
  status: string;
  attempt: number;
  retries: number;
  retry_max: number;
}

/** Check everything that must hold after a run. */
export async function judge(evidence: Evidence): Promise<Verdict[]> {
  const client = new pg.Client({ connectionString: evidence.databaseUrl });
  await client.connect();
  try {
    await drainNotices(client, evidence.notices, NOTICES_LIMIT_MS);
    await drainWebhooks(client, WEBHOOKS_LIMIT_MS);
    await drainMails(client, MAILS_LIMIT_MS);
    await evidence.erasures.drain(client, ERASURES_LIMIT_MS);
    const { rows } = await client.query<JobRow>(
      `SELECT id, account_id, metadata ->> 'label' AS label, status, attempt, retries, retry_max FROM jobs`,
    );
    const { history } = evidence;
    return [
      acknowledged(history, rows),
      refused(history, rows),
      keys(history, rows),
      sightings(history, rows),
      attempts(rows, evidence.faults),
      retries(rows),
      drained(rows),
      await uploads(client, history),
      await reuseVerdict(client),
      await evidence.modelClient.verdict(client),
      ...(await batchVerdicts(client, history)),
      ...(await webhookVerdicts(client, evidence.hooks.accountId, evidence.hooks.receiver)),
      ...(await noticeVerdicts(client, evidence.hooks.accountId, evidence.notices)),
      await exportVerdict(client, evidence.hooks.accountId, evidence.notices, evidence.folder),
      ...(await spendVerdicts(client, evidence.spend.made, evidence.spend.mailServer)),
      ...(await evidence.erasures.verdicts(client)),
      ...clientVerdicts(history),
      { invariant: 'processes-survive', checked: null, breaches: evidence.collapses.map(collapse) },
      await secrets(evidence),
      ...(await audits(evidence.auditors)),
    ];
  } finally {
    await client.end();
  }
}

function acknowledged(history: History, rows: JobRow[]): Verdict {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const answered = history.submissions.flatMap((submission) =>
    submission.tries.flatMap(({ jobId }) => (jobId === null ? [] : [{ submission, jobId }])),
  );
  const broken = answered.filter(({ submission, jobId }) => {
    const row = byId.get(jobId);
    return row === undefined || row.label !== submission.label || row.account_id !== submission.accountId;
  });
  return verdictOf(
    'one row per acknowledged 201',
    answered.length,
    broken.map(({ jobId, submission }) => ({ subject: jobId, detail: `${submission.label} was answered 201` })),
  );
}

/** A submission of which every try was refused, by its key at first or for any other reason, made nothing. */
function refused(history: History, rows: JobRow[]): Verdict {
  const made = new Set(rows.map((row) => row.label));
  const all = history.submissions.filter(
    ({ tries }) => tries.length > 0 && tries.every(({ outcome }) => outcome === 'refused'),
  );
  const broken = all.filter(({ label }) => made.has(label));
  return verdictOf(
    'a 4xx created nothing',
    all.length,
    broken.map(({ label, tries }) => ({
      subject: label,
      detail: `refused with ${tries[0]?.code}, and there is a job`,
    })),
  );
}

/** One job per key at most; and a key that is refused as used belongs to a job that is there. */
function keys(history: History, rows: JobRow[]): Verdict {
  const counts = new Map<string, number>();
  for (const { label } of rows) counts.set(label, (counts.get(label) ?? 0) + 1);
  const broken: { subject: string; detail: string }[] = [];
  for (const { label, key, tries } of history.submissions) {
    const count = counts.get(label) ?? 0;
    const most = key === null ? tries.filter(({ outcome }) => outcome !== 'refused').length : 1;
    if (count > most) broken.push({ subject: label, detail: `has ${count} jobs` });
    const reused = tries.some(({ code }) => code === 'idempotency_key_reuse');
    if (reused && count === 0)
      broken.push({ subject: label, detail: 'was refused because its key is used, and has no job' });
  }
  return verdictOf('one job per key', history.submissions.length, broken);
}

function sightings(history: History, rows: JobRow[]): Verdict {
  const byId = new Map(rows.map((row) => [row.id, row.status]));
  const terminal = new Set(['succeeded', 'canceled', 'failed', 'expired']);
  const last = [...history.lastSeen()];
  const broken = last.filter(([id, status]) => terminal.has(status) && byId.get(id) !== status);
  return verdictOf(
    'a terminal status that was seen stands',
    last.length,
    broken.map(([id, status]) => ({ subject: id, detail: `was seen ${status} and is ${byId.get(id)}` })),
  );
}

function attempts(rows: JobRow[], faults: number): Verdict {
  const broken = rows.filter((row) => row.attempt - row.retries - 1 > faults);
  return verdictOf(
    'attempts - retries - 1 <= faults',
    rows.length,
    broken.map((row) => ({ subject: row.id, detail: `has ${row.attempt} attempts after ${faults} faults` })),
  );
}

/**
 * A job may be canceled, or reach its deadline, before the attempt that a retry waits for. What each was charged is for the audit of
 * jobs to say.
 */
function retries(rows: JobRow[]): Verdict {
  const retried = rows.filter((row) => row.retries > 0);
  const attemptsDue = ({ retries: done, status }: JobRow): number =>
    status === 'canceled' || status === 'expired' ? done : done + 1;
  const broken = retried.filter((row) => row.retries > row.retry_max || row.attempt < attemptsDue(row));
  return verdictOf(
    'retries <= the policy of the job',
    retried.length,
    broken.map((row) => ({
      subject: row.id,
      detail: `was tried again ${row.retries} times of ${row.retry_max}, and has ${row.attempt} attempts`,
    })),
  );
}

function drained(rows: JobRow[]): Verdict {
  const broken = rows.filter((row) => ['queued', 'running', 'canceling'].includes(row.status));
  return verdictOf(
    'everything ends',
    rows.length,
    broken.map((row) => ({ subject: row.id, detail: `is still ${row.status} at attempt ${row.attempt}` })),
  );
}

async function uploads(client: pg.Client, history: History): Promise<Verdict> {
  const broken: { subject: string; detail: string }[] = [];
  for (const [id, { accountId, hash }] of history.uploads) {
    const { rows } = await client.query<{ account_id: string; hash: string }>(
      'SELECT account_id, hash FROM assets WHERE id = $1',
      [id],
    );
    const [row] = rows;
    const sound = row?.account_id === accountId && row.hash === hash;
    if (!sound) broken.push({ subject: id, detail: `was answered with ${hash}, and is ${row?.hash}` });
  }
  return verdictOf('an upload that was answered is there', history.uploads.size, broken);
}

function collapse(detail: string): Finding {
  return { check: 'processes-survive', subject: detail.split(' ')[0] ?? '', detail };
}

/** The canary in any file of the stack: data of PostgreSQL with its log, dumps of Redis, blobs, logs. */
async function secrets({ folder, canary, history }: Evidence): Promise<Verdict> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const broken: { subject: string; detail: string }[] = [];
  for (const file of files) {
    if (await contains(file, canary)) broken.push({ subject: file, detail: 'a forwarded credential is in this file' });
  }
  return verdictOf('no secret on any disk', files.length === 0 ? 0 : history.canaries, broken);
}

async function contains(file: string, text: string): Promise<boolean> {
  let tail = '';
  try {
    for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: 1_048_576 })) {
      const part = tail + String(chunk);
      if (part.includes(text)) return true;
      tail = part.slice(-text.length);
    }
  } catch {
    // It went between the listing and the reading.
  }
  return false;
}

async function audits(auditors: Auditor[]): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const auditor of auditors) {
    const breaches: Finding[] = [];
    for await (const finding of auditor.findings()) breaches.push(finding);
    verdicts.push({ invariant: `audit of ${auditor.name}`, checked: null, breaches });
  }
  return verdicts;
}
