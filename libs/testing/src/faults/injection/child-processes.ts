import { readFileSync, readdirSync } from 'node:fs';

/** Processes that this one has started and that still run, as Linux lists them; none when it is gone. */
export function childProcesses(pid: number): number[] {
  try {
    const tasks = `/proc/${pid}/task`;
    const lists = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/children`, 'utf8'));
    return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  } catch {
    return [];
  }
}
