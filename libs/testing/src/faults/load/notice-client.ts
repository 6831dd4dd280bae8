import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { LoadCalls, type LoadTarget } from './load-calls';
import type { History } from './history';
import type { Random } from '../random';

const DAY_MS = 86_400_000;
/** Days that can be written: each of them a delivery of its own. */
const DAYS = 60;
/** In millionths of a credit: above what the account has, and below. */
const ABOVE = 1_000_000_000_000;
const BELOW = 1;
const TAKEN_BACK = 1_000;
/** After it, what was sent and not answered has come to its end: longer than a call and a statement last. */
const SETTLED_MS = 15_000;

/** What the client was answered: each must have its event, or its files. */
export interface NoticeHistory {
  /** Keys that expire soon, by their ids. */
  keys: Set<string>;
  /** Deployments whose stop was answered. */
  deployments: Set<string>;
  /** Days whose delivery was answered with 201. */
  days: Set<string>;
  /** Times that the balance was seen to fall below the limit after it had been above. */
  warnings: number;
}

/** An operator of the service, past the faults of the public way in. */
export type AdminCall = (path: string, body: object) => Promise<Record<string, string> | null>;

/**
 * Does what makes events of an account and deliveries of its exports: lets its credits fall below the limit again and again, makes keys
 * that are about to expire, makes and stops deployments, asks for days. It remembers only what it was answered.
 */
export class NoticeClient {
  readonly made: NoticeHistory = { keys: new Set(), deployments: new Set(), days: new Set(), warnings: 0 };
  /** When what became of a change of the limit was last unknown. */
  private unknownAt = -Infinity;
  private readonly calls: LoadCalls;

  constructor(
    private readonly target: LoadTarget,
    history: History,
    private readonly admin: AdminCall,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {
    this.calls = new LoadCalls(target, history, random);
  }

  /** Go on until the signal aborts. */
  async run(): Promise<void> {
    const acts = [
      () => this.fallBelowAlert(),
      () => this.makeKey(),
      () => this.stopDeployment(),
      () => this.askForDay(),
    ];
    await this.setDestination();
    await this.fallBelowAlert();
    while (!this.until.aborted) {
      await this.random.pick(acts)();
      await pause(this.random.whole(100, 700));
    }
  }

  /** The bucket of the service, which is behind a proxy. */
  private async setDestination(): Promise<void> {
    const text = JSON.stringify({ bucket: null, prefix: 'books/' });
    while (!this.until.aborted) {
      const answer = await this.calls.call('PUT', '/platform/v1/export-destination', { text });
      if (answer?.status === 200) return;
      await pause(200);
    }
  }

  /** The limit goes below the balance, then above it, and the balance falls: one warning is due, by this fall or by that of a job. */
  private async fallBelowAlert(): Promise<void> {
    const isSettled = performance.now() - this.unknownAt > SETTLED_MS;
    const isSet = (await this.setAlert(BELOW)) && (await this.setAlert(ABOVE));
    const less = { amount_micros: -TAKEN_BACK, reason: 'so that the balance falls' };
    const hasFallen = (await this.admin(`accounts/${this.target.accountId}/credits`, less)) !== null;
    if (isSettled && isSet && hasFallen) this.made.warnings += 1;
  }

  private async setAlert(below: number): Promise<boolean> {
    const text = JSON.stringify({ below_micros: below });
    const answer = await this.calls.call('PUT', '/platform/v1/credits/alert', { text });
    if (answer?.status === 200) return true;
    this.unknownAt = performance.now();
    return false;
  }

  private async makeKey(): Promise<void> {
    const text = JSON.stringify({ name: 'about to expire', expires_at: new Date(Date.now() + 3 * DAY_MS) });
    const answer = await this.calls.call<{ id: string }>('POST', '/platform/v1/api-keys', { text });
    if (answer?.status === 201) this.made.keys.add(answer.body.id);
  }

  private async stopDeployment(): Promise<void> {
    const limits = { min_workers: 0, max_workers: 1 };
    const draft = { account_id: this.target.accountId, name: 'to be stopped', engine: 'cpu', ...limits };
    const deployment = await this.admin('deployments', draft);
    if (deployment?.id === undefined) return;
    // A stop of which nobody knows what became is asked for again: it is one stop.
    for (let tries = 0; tries < 5; tries += 1) {
      if ((await this.admin(`deployments/${deployment.id}/stop`, {})) === null) continue;
      this.made.deployments.add(deployment.id);
      return;
    }
  }

  private async askForDay(): Promise<void> {
    const at = new Date(Date.now() - (2 + this.random.whole(0, DAYS - 1)) * DAY_MS);
    const day = at.toISOString().slice(0, 10);
    const answer = await this.calls.call('POST', `/platform/v1/exports/${day}/deliver`, {});
    if (answer?.status === 201) this.made.days.add(day);
  }
}

/**
 * Let the keys that were made be old enough for a notice, which keys have that were there before its time.
 *
 * @param client past the proxies.
 */
export async function ageKeys(client: pg.Client, { keys }: NoticeHistory): Promise<void> {
  await client.query(`UPDATE api_keys SET created_at = now() - interval '30 days' WHERE id = ANY ($1::uuid[])`, [
    [...keys],
  ]);
}
