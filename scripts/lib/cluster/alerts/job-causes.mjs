import { until } from '../client.mjs';
import { CLASSES } from '../helm.mjs';
import { ENDLESS_GRAPH, LONG_GRAPH, SMALL_GRAPH } from '../service.mjs';

/** @typedef {import('./tools.mjs').AlertTools} AlertTools */

const STARTS_BURN = ['MillraceStartsBurnFast', 'MillraceStartsBurn', 'MillraceStartsBurnSlowly'];
export const SUCCESS_BURN = ['MillraceSuccessBurnFast', 'MillraceSuccessBurn', 'MillraceSuccessBurnSlowly'];
/** More than die at once: there is always one that takes a job. */
const MORTAL_WORKERS = 4;

/**
 * Send jobs while the only worker hangs, change those that wait, and let it go on.
 *
 * @param {AlertTools} tools
 * @param {string} change of the columns of `jobs`
 * @param {string} end of the jobs
 */
function changeWaiting(tools, change, end) {
  const pid = tools.workerPid();
  return tools.repeat(async () => {
    tools.signal(pid, 'SIGSTOP');
    const sent = await Promise.all(Array.from({ length: 6 }, () => tools.service.submit(SMALL_GRAPH))).finally(
      async () => {
        await tools.sql(`UPDATE jobs SET ${change}
          WHERE status = 'queued' AND created_at > now() - interval '2 minutes'`);
        tools.signal(pid, 'SIGCONT');
      },
    );
    for (const { id } of sent) await tools.service.reaches(id, end);
  });
}

/**
 * Of the alerts on jobs and their workers.
 *
 * @type {import('./causes.mjs').Cause[]}
 */
export const JOB_CAUSES = [
  {
    what: 'jobs wait, and no worker is there',
    raises: ['MillracePoolWithoutProgress'],
    bring: async (tools) => {
      const undo = await tools.scale('worker', 0);
      const { id } = await tools.service.submit(SMALL_GRAPH);
      return async () => {
        await undo();
        await tools.service.reaches(id, 'succeeded');
      };
    },
  },
  {
    what: 'a job waits for 20 minutes behind another one',
    raises: ['MillraceJobsWaitLong'],
    bring: async (tools) => {
      const { id: running } = await tools.service.submit(ENDLESS_GRAPH);
      await tools.service.reaches(running, 'running');
      const { id } = await tools.service.submit(SMALL_GRAPH);
      await tools.sql(`UPDATE jobs SET created_at = created_at - interval '20 minutes' WHERE id = $1`, [id]);
      return async () => {
        await tools.service.cancel(running);
        await tools.service.reaches(id, 'succeeded');
      };
    },
  },
  {
    what: 'jobs start seven minutes after they were sent',
    raises: STARTS_BURN,
    bring: async (tools) => changeWaiting(tools, `created_at = created_at - interval '7 minutes'`, 'succeeded'),
  },
  {
    what: 'jobs reach their deadlines before a worker takes them',
    raises: [...SUCCESS_BURN, 'MillraceJobsFail'],
    bring: async (tools) => changeWaiting(tools, `deadline_at = now() - interval '1 second'`, 'expired'),
  },
  {
    what: 'jobs fail',
    raises: ['MillraceJobsFail'],
    bring: async (tools) => {
      const scale = { min_workers: 2, max_workers: 2, attempt_limit_seconds: 1 };
      const { id, path } = await tools.service.deploy({ engine_class: CLASSES.usual, ...scale });
      await tools.service.becomes(id, 'ready', ({ ready_workers }) => ready_workers === 2);
      const stop = tools.repeat(async () => {
        const job = await tools.service.submit(LONG_GRAPH, path);
        await tools.service.reaches(job.id, 'failed', path, 30_000);
      }, 2);
      return async () => {
        await stop();
        await tools.service.undeploy(`${id}?drain=true`);
      };
    },
  },
  {
    what: 'a deployment is wanted whose class has no node',
    raises: ['MillraceDeploymentWithoutWorkers'],
    mayRaise: ['MillraceFleetStartsFail'],
    bring: async (tools) => {
      const { id, path } = await tools.service.deploy({ engine_class: CLASSES.withoutNode });
      const stop = tools.repeat(async () => {
        await tools.service.submit(SMALL_GRAPH, path).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 500));
      });
      return async () => {
        await stop();
        await tools.service.undeploy(`${id}?drain=true`);
      };
    },
  },
  {
    what: 'workers are lost with their jobs, again and again',
    raises: ['MillraceLeaseLosses'],
    // Those that come in their place are killed, too.
    mayRaise: ['MillraceFleetStartsFail'],
    bring: async (tools) => {
      const size = { min_workers: MORTAL_WORKERS, max_workers: MORTAL_WORKERS };
      const { id, path } = await tools.service.deploy({ engine_class: CLASSES.usual, ...size });
      await tools.service.becomes(id, 'ready', ({ ready_workers }) => ready_workers === MORTAL_WORKERS);
      const stop = tools.repeat(async () => {
        const job = await tools.service.submit(ENDLESS_GRAPH, path);
        await tools.service.reaches(job.id, 'running', path, 30_000);
        const read = () =>
          tools.sql(
            `SELECT j.attempt, j.delivery, w.host FROM jobs j LEFT JOIN workers w ON w.id = j.worker_id WHERE j.id = $1`,
            [job.id],
          );
        const [lost] = await read();
        const pods = await tools.pods(`millrace/pool=${id}`);
        await tools.kill(pods.filter(({ metadata }) => metadata.name === lost?.host));
        // Another worker may have it at once: attempts differ by their number.
        await until(tools.scope, 'The job to be taken back', async () => {
          const [now] = await read();
          return now?.attempt !== lost?.attempt || now?.delivery !== 'leased';
        });
        await tools.service.cancel(job.id, path);
      }, 3);
      return async () => {
        await stop();
        await tools.service.undeploy(`${id}?drain=true`);
      };
    },
  },
];
