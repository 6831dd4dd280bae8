import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { History } from './history';
import { LoadCalls, type LoadTarget } from './load-calls';
import type { Random } from '../random';
import { verdictOf, type Verdict } from '../verdict-of';
import { makeGraph } from './workload';

/** Carried by all jobs that nobody has erased. */
const KEPT = 'kept-for-good';
const JOBS_OF_ONE = 3;
/** A lease that has longer was taken just now, by a process that lives. */
const FRESH_LEASE_SECONDS = 55;

/** Whether an erasure is under way: a process has a step of it, or is about to take the next. False while PostgreSQL is away. */
export async function isErasing(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query(
      `SELECT FROM erasures WHERE state = 'running'
         AND (lease_token IS NULL OR lease_expires_at > now() + make_interval(secs => $1)) LIMIT 1`,
      [FRESH_LEASE_SECONDS],
    );
    return (rowCount ?? 0) > 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Submits jobs of users of its account, and has each user erased with what they have by then, one after the other. It remembers only what it
 * was answered, and has an account of its own: what it erases would be missing to the checks of the others.
 */
export class ErasureClient {
  /** Labels whose erasure was answered with 202, by the id of the erasure. */
  readonly erased = new Map<string, string>();
  /** Jobs of the user who stays. */
  private readonly kept = new Set<string>();
  private readonly calls: LoadCalls;

  constructor(
    private readonly name: string,
    private readonly target: LoadTarget,
    history: History,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {
    this.calls = new LoadCalls(target, history, random);
  }

  /** Go on until the signal aborts. */
  async run(): Promise<void> {
    for (let nth = 1; !this.until.aborted; nth += 1) {
      const kept = await this.submit(KEPT);
      if (kept !== null) this.kept.add(kept);
      await this.eraseOne(`${this.name}-user-${nth}-of-many`);
      await pause(this.random.whole(500, 1_500));
    }
  }

  /** Only who has no submission of which nobody knows what became: such a one may arrive after the erasure is over. */
  private async eraseOne(user: string): Promise<void> {
    for (let nth = 0; nth < JOBS_OF_ONE; nth += 1) {
      if ((await this.submit(user)) === null) return;
    }
    await pause(this.random.whole(0, 2_000));
    const text = JSON.stringify({ subject: 'label', label: 'user', value: user });
    while (!this.until.aborted) {
      const answer = await this.calls.call<{ id: string }>('POST', '/platform/v1/erasures', { text });
      if (answer?.status === 202) {
        this.erased.set(answer.body.id, user);
        return;
      }
      await pause(200);
    }
  }

  private async submit(user: string): Promise<string | null> {
    const text = JSON.stringify({ workflow: makeGraph(this.random, null).graph, metadata: { user } });
    const answer = await this.calls.call<{ id: string }>('POST', '/api/v2/jobs', { text });
    return answer?.status === 201 ? answer.body.id : null;
  }

  /** Wait until all erasures are done. What a process that died had in its hands is given up at once. */
  async drain(client: pg.Client, limitMs: number): Promise<void> {
    await client.query(`UPDATE erasures SET lease_expires_at = now() WHERE lease_token IS NOT NULL`);
    const until = Date.now() + limitMs;
    while (Date.now() < until) {
      const { rowCount } = await client.query(`UPDATE erasures SET due_at = now() WHERE state <> 'done'`);
      if (rowCount === 0) return;
      await pause(1_000);
    }
  }

  /** Nothing of who was erased is in any table, all of who was not is there, and the account paid what its ledger says. */
  async verdicts(client: pg.Client): Promise<Verdict[]> {
    const { rows: open } = await client.query<{ id: string; state: string; step: string }>(
      `SELECT id, state, step FROM erasures WHERE account_id = $1 AND state <> 'done'`,
      [this.target.accountId],
    );
    const { rows: kept } = await client.query<{ id: string }>(
      `SELECT id FROM jobs WHERE account_id = $1 AND metadata ->> 'user' = $2`,
      [this.target.accountId, KEPT],
    );
    const there = new Set(kept.map(({ id }) => id));
    return [
      verdictOf(
        'an erasure that was asked for is carried out',
        this.erased.size,
        open.map(({ id, state, step }) => ({ subject: id, detail: `is ${state}, at the step ${step}` })),
      ),
      verdictOf('nothing of who was erased is in any table', this.erased.size, await this.remains(client)),
      verdictOf(
        'who was not erased has all their jobs',
        this.kept.size,
        [...this.kept].filter((id) => !there.has(id)).map((subject) => ({ subject, detail: 'is not there' })),
      ),
      verdictOf('what was erased stays in the books', this.erased.size, await this.books(client)),
    ];
  }

  private async remains(client: pg.Client): Promise<{ subject: string; detail: string }[]> {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    );
    const found: { subject: string; detail: string }[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(
        `SELECT left(t::text, 200) AS text FROM ${name} t WHERE t::text LIKE ANY ($1) LIMIT 1`,
        [[...this.erased.values()].map((user) => `%${user}%`)],
      );
      found.push(...rows.map(({ text }) => ({ subject: name, detail: text })));
    }
    return found;
  }

  /** The usage of the account, pseudonyms included, comes to what its ledger has charged. */
  private async books(client: pg.Client): Promise<{ subject: string; detail: string }[]> {
    const { rows } = await client.query<{ used: string; charged: string }>(
      `SELECT (SELECT coalesce(sum(charged_micros), 0) FROM usage_records WHERE account_id = $1)::text AS used,
         (SELECT coalesce(sum(e.amount_micros), 0) FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
          WHERE t.account_id = $1 AND t.kind = 'settle' AND e.from_book = 'held' AND e.to_book = 'revenue')::text AS charged`,
      [this.target.accountId],
    );
    return rows
      .filter(({ used, charged }) => used !== charged)
      .map(({ used, charged }) => ({
        subject: this.target.accountId,
        detail: `used ${used} and was charged ${charged}`,
      }));
  }
}
