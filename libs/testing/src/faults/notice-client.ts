import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { LoadCalls, type LoadTarget } from './load-calls';
import type { History } from './history';
import type { Random } from './random';

const DAY_MS = 86_400_000;
/** Days that can be written: each of them a delivery of its own. */
const DAYS = 60;
/** In millionths of a credit: above what the account has, and below. */
const ABOVE = 1_000_000_000_000;
const BELOW = 1;

/** What the client was answered: each must have its event, or its files. */
export interface NoticeHistory {
  /** Keys that expire soon, by their ids. */
  keys: Set<string>;
  /** Deployments whose stop was answered. */
  deployments: Set<string>;
  /** Days whose delivery was answered with 201. */
  days: Set<string>;
}

/** An operator of the service, past the faults of the public way in. */
export type AdminCall = (path: string, body: object) => Promise<Record<string, string> | null>;

/**
 * Does what makes events of an account and deliveries of its exports: sets the limit of its credits above and below what it has, makes keys
 * that are about to expire, makes and stops deployments, asks for days. It remembers only what it was answered.
 */
export class NoticeClient {
  readonly made: NoticeHistory = { keys: new Set(), deployments: new Set(), days: new Set() };
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
    const acts = [() => this.setAlert(), () => this.makeKey(), () => this.stopDeployment(), () => this.askForDay()];
    await this.setDestination();
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

  private async setAlert(): Promise<void> {
    const text = JSON.stringify({ below_micros: this.random.chance(0.5) ? ABOVE : BELOW });
    await this.calls.call('PUT', '/platform/v1/credits/alert', { text });
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
