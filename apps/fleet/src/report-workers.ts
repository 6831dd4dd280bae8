import type { Fleet } from '@millrace/fleet';

let reported = '';

/**
 * Send the process ids of workers to the process that started this one, where there is one and they have changed: `npm start`
 * lists all processes of the stack.
 */
export async function reportWorkers(fleet: Pick<Fleet, 'observe'>): Promise<void> {
  if (process.send === undefined || !process.connected) return;
  const groups = await fleet.observe();
  const workers = groups
    .flatMap(({ members }) => members)
    .flatMap(({ pid, phase }) => (pid === null || phase === 'failed' ? [] : [pid]));
  if (workers.join() === reported) return;
  reported = workers.join();
  // A parent that has gone is noticed by the end of the channel.
  process.send({ workers }, undefined, undefined, () => undefined);
}
