import { readFileSync, readdirSync } from 'node:fs';
import pg from 'pg';
import { childProcesses } from './child-processes';
import type { Member } from './member';
import type { Verdict } from '../verdict-of';

const REST_MS = 60_000;
const POLL_MS = 250;

/** A process of a pool, as Linux lists it. */
interface PoolProcess {
  pid: number;
  parent: number;
}

/** The workers that the fleet process runs for one deployment, as processes of this machine. */
export class DeploymentWorkers {
  constructor(
    readonly poolId: string,
    private readonly fleet: Member,
    private readonly databaseUrl: string,
  ) {}

  /** End all of them at once with what they have started, as when their node is gone. @returns how many workers there were. */
  disappear(): number {
    const workers = this.processes();
    for (const pid of workers.flatMap((worker) => [worker.pid, ...childProcesses(worker.pid)])) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
    return workers.length;
  }

  /** After the faults: exactly the workers run that are wanted beside those that joined from outside, each a child of the controller that runs now. */
  async verdict(): Promise<Verdict> {
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    try {
      const until = Date.now() + REST_MS;
      for (;;) {
        const { workers, problem } = await this.look(client);
        const breaches =
          problem === null ? [] : [{ check: 'the wanted workers run', subject: this.poolId, detail: problem }];
        if (problem === null || Date.now() > until) {
          return { invariant: 'the wanted workers run, and no others', checked: workers, breaches };
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } finally {
      await client.end();
    }
  }

  /** Starts that failed among the faults are tried again at once: their pauses grow to minutes. */
  private async look(client: pg.Client): Promise<{ workers: number; problem: string | null }> {
    await client.query(`UPDATE fleet_groups SET next_try_at = now() WHERE pool_id = $1 AND next_try_at > now()`, [
      this.poolId,
    ]);
    const { rows } = await client.query<{ wanted: number; least: number; ready: number[] }>(
      `WITH serving AS (
         SELECT pid, token_id IS NOT NULL AS joined FROM workers
         WHERE pool_id = $1 AND state = 'ready' AND last_seen_at > now() - interval '5 seconds'
       )
       SELECT g.wanted, greatest(0, d.min_workers - (SELECT count(*) FROM serving WHERE joined))::int AS least,
         (SELECT coalesce(array_agg(pid), '{}') FROM serving WHERE NOT joined) AS ready
       FROM deployments d JOIN fleet_groups g USING (pool_id) WHERE d.pool_id = $1`,
      [this.poolId],
    );
    const [{ wanted, least, ready } = { wanted: -1, least: 0, ready: [] }] = rows;
    const found = this.processes();
    const strays = found.filter(({ parent }) => parent !== this.fleet.pid);
    const pids = found.map(({ pid }) => pid).sort();
    const sound =
      wanted === least && strays.length === 0 && pids.join() === ready.sort().join() && pids.length === least;
    const problem = `wanted ${wanted} of ${least}, processes ${pids.join()}, ready ${ready.join()}, orphans ${strays.map(({ pid }) => pid).join()}`;
    return { workers: pids.length, problem: sound ? null : problem };
  }

  /** Its workers, also those that nobody has as a child any more. Engines inherit nothing by which they would be taken for one. */
  private processes(): PoolProcess[] {
    const mark = `MILLRACE_POOL=${this.poolId}\0`;
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const own = all.flatMap((name): PoolProcess[] => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, 'latin1').includes(mark)) return [];
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent) }];
      } catch {
        return [];
      }
    });
    const pids = new Set(own.map(({ pid }) => pid));
    return own.filter(({ parent }) => !pids.has(parent));
  }
}
