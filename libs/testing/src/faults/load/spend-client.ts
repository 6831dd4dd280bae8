import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Job } from '@millrace/contracts';
import type { History } from './history';
import { LoadCalls, codeOf, type LoadTarget } from './load-calls';
import type { Random } from '../random';
import { makeGraph } from './workload';

/** Of both: when it is reached, what waits or runs is canceled. In micro-credits; a hold is 60,000. */
const ACCOUNT_CAP = 300_000;
const LABEL_CAP = 120_000;
const USERS = 3;
/** What operators give the account whose credits run short, now and then. */
const GIFT_MICROS = 60_000;

/** An account whose jobs may cost only so much in a day. */
export interface Spender extends LoadTarget {
  /** Of a member who answers for the money. */
  email: string;
}

/** What the client was answered. */
export interface SpendHistory {
  spenders: readonly Spender[];
  /** Submissions that were refused for a cap. */
  refusals: number;
  /** Addresses whose invitation was answered with 201. */
  invited: Set<string>;
}

/** An operator of the service, past the faults of the public way in. */
type Give = (accountId: string, micros: number) => Promise<unknown>;

/**
 * Uses up caps of accounts and labels with several jobs at once, and has people invited, so that warnings and mails are made among the
 * faults. It has accounts of its own: what a cap refuses or cancels would be missing to the checks of the others.
 */
export class SpendClient {
  readonly made: SpendHistory;
  private count = 0;

  constructor(
    private readonly name: string,
    spenders: readonly Spender[],
    private readonly poor: LoadTarget,
    private readonly give: Give,
    private readonly history: History,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {
    this.made = { spenders, refusals: 0, invited: new Set() };
  }

  /** Go on until the signal aborts. */
  async run(): Promise<void> {
    while (!this.until.aborted) {
      const spender = this.random.pick(this.made.spenders);
      if (this.random.chance(0.2)) await this.invite(spender);
      if (this.random.chance(0.2)) await this.give(this.poor.accountId, GIFT_MICROS);
      await Promise.all(Array.from({ length: this.random.whole(1, 4) }, () => this.submit(spender)));
      await pause(this.random.whole(200, 1_500));
    }
  }

  private async submit(spender: Spender): Promise<void> {
    this.count += 1;
    const label = `${this.name}-${this.count}`;
    const submission = this.history.submission(label, spender.accountId, `key-${label}`);
    const metadata = { label, user: `user-${this.random.whole(1, USERS)}` };
    const text = JSON.stringify({ workflow: makeGraph(this.random, null).graph, metadata });
    const answer = await this.calls(spender).call<Job>('POST', '/api/v2/jobs', {
      text,
      headers: { 'Idempotency-Key': `key-${label}` },
    });
    const jobId = answer?.status === 201 ? answer.body.id : null;
    const refused = answer !== null && answer.status >= 400 && answer.status < 500;
    const code = refused ? codeOf(answer.body) : null;
    submission.tries.push({ outcome: jobId !== null ? 'ok' : refused ? 'refused' : 'unknown', code, jobId });
    if (code === 'spend_cap') this.made.refusals += 1;
  }

  private async invite(spender: Spender): Promise<void> {
    const email = `guest-${randomUUID()}@example.com`;
    const text = JSON.stringify({ email, role: 'viewer' });
    const answer = await this.calls(spender).call('POST', '/platform/v1/invitations', { text });
    if (answer?.status === 201) this.made.invited.add(email);
  }

  private calls(spender: Spender): LoadCalls {
    return new LoadCalls(spender, this.history, this.random);
  }
}

/**
 * Set the caps of an account, have its warnings sent, and let somebody answer for its money: before anything is harmed.
 *
 * @param receiver where its webhooks go
 */
export async function makeSpender(client: pg.Client, target: LoadTarget, receiver: { url: string }): Promise<Spender> {
  const put = (method: string, path: string, body: object): Promise<void> => call(target, method, path, body);
  await put('PUT', 'spend/caps', { scope: 'account', daily_micros: ACCOUNT_CAP, daily_at_cap: 'stop' });
  await put('PUT', 'label-rules', { label: 'user', daily_micros: LABEL_CAP, daily_at_cap: 'stop' });
  await put('POST', 'webhook-endpoints', { url: receiver.url, events: ['spend.warning'] });
  const email = `books-${target.accountId}@example.com`;
  await client.query(`INSERT INTO members (id, account_id, email, role) VALUES ($1, $2, $3, 'finance')`, [
    randomUUID(),
    target.accountId,
    email,
  ]);
  return { ...target, email };
}

async function call({ origins, apiKey }: LoadTarget, method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const response = await fetch(`${origins[0]}/platform/v1/${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}
