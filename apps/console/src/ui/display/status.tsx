import type { ReactNode } from 'react';
import type { DeploymentState, JobStatus } from '@millrace/contracts';
import { capital } from '../format';
import { Icon, type IconName } from '../controls/icon';
import './status.css';

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'rest';

/** A sign for each status: its shape says it, too, to people who see no difference between the colours. */
const JOB_SIGNS: Record<JobStatus, { tone: Tone; icon: IconName }> = {
  queued: { tone: 'rest', icon: 'clock' },
  running: { tone: 'busy', icon: 'again' },
  succeeded: { tone: 'good', icon: 'check' },
  canceling: { tone: 'warn', icon: 'stop' },
  canceled: { tone: 'rest', icon: 'stop' },
  failed: { tone: 'bad', icon: 'warning' },
  expired: { tone: 'warn', icon: 'clock' },
};

/** A job's status. */
export function JobStatusSign({ status }: { status: JobStatus }): ReactNode {
  const { tone, icon } = JOB_SIGNS[status];
  return (
    <Sign tone={tone} icon={icon} turning={status === 'running'}>
      {capital(status)}
    </Sign>
  );
}

/** Draining is no state of the API: it is shown in place of one while a deployment is about to be deleted. */
const DEPLOYMENT_SIGNS: Record<DeploymentState | 'draining', { tone: Tone; icon: IconName }> = {
  provisioning: { tone: 'busy', icon: 'clock' },
  starting: { tone: 'busy', icon: 'again' },
  ready: { tone: 'good', icon: 'check' },
  stopped: { tone: 'rest', icon: 'stop' },
  draining: { tone: 'warn', icon: 'bin' },
};

/** A deployment's state. */
export function DeploymentStateSign({ state }: { state: DeploymentState | 'draining' }): ReactNode {
  const { tone, icon } = DEPLOYMENT_SIGNS[state];
  return (
    <Sign tone={tone} icon={icon} turning={state === 'starting'}>
      {capital(state)}
    </Sign>
  );
}

/** A short coloured text with an icon. */
export function Sign(props: { tone: Tone; icon?: IconName; turning?: boolean; children: ReactNode }): ReactNode {
  const { tone, icon, turning = false, children } = props;
  return (
    <span className={`sign ${tone} ${turning ? 'turning' : ''}`}>
      {icon !== undefined && <Icon name={icon} size={13} />}
      {children}
    </span>
  );
}
