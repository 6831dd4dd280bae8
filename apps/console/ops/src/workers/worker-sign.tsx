import type { ReactNode } from 'react';
import type { IconName } from '../../../src/ui/controls/icon';
import { Sign } from '../../../src/ui/display/status';
import { capital } from '../../../src/ui/format';
import type { Worker, WorkerState } from '../api/workers';

type Shown = WorkerState | 'busy';
const SIGNS: Record<Shown, { tone: 'good' | 'bad' | 'warn' | 'busy' | 'rest'; icon: IconName }> = {
  starting: { tone: 'busy', icon: 'clock' },
  ready: { tone: 'good', icon: 'check' },
  busy: { tone: 'busy', icon: 'again' },
  draining: { tone: 'warn', icon: 'down' },
  stopped: { tone: 'rest', icon: 'stop' },
  lost: { tone: 'bad', icon: 'warning' },
};

/** A worker that is ready and has a job is busy. */
export function shownState({ state, running_jobs }: Pick<Worker, 'state' | 'running_jobs'>): Shown {
  return state === 'ready' && running_jobs.length > 0 ? 'busy' : state;
}

/** A worker's state. */
export function WorkerSign({ worker }: { worker: Worker }): ReactNode {
  const shown = shownState(worker);
  const { tone, icon } = SIGNS[shown];
  return (
    <Sign tone={tone} icon={icon}>
      {capital(shown)}
    </Sign>
  );
}
