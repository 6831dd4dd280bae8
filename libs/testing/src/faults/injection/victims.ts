import type { SmtpSink } from '../../smtp-sink';
import type { History, HookReceiver } from '../load';
import type { Random } from '../random';
import type { DeploymentWorkers } from './deployment-workers';
import type { FaultKind } from './fault-kinds';
import type { FaultProxy } from './fault-proxy';
import type { Member } from './member';
import type { ModelWorkers } from './model-workers';

/** What faults are done to. */
export interface Victims {
  apps: Member[];
  /** The controller that runs the workers of a deployment. */
  fleet: Member;
  deploymentWorkers: DeploymentWorkers;
  postgres: Member;
  redis: Member;
  /** Of the server itself, past its proxy. */
  redisUrl: string;
  /** As well past its proxy. */
  databaseUrl: string;
  /** Of webhooks. */
  receiver: Pick<HookReceiver, 'behave'>;
  /** Past its proxy. */
  mailServer: Pick<SmtpSink, 'refuses' | 'mails'>;
  /** `models`: of the store, for the workers that fetch models. `link`: of the gateway, for workers outside. */
  proxies: Record<'postgres' | 'redis' | 's3' | 'models' | 'link' | 'mail', FaultProxy>;
  modelWorkers: ModelWorkers;
  leaseMs: number;
}

/** What every family of faults works with. */
export interface Harm {
  victims: Victims;
  history: History;
  random: Random;
  /** Faults end when it aborts. */
  until: AbortSignal;
  count: (kind: FaultKind) => void;
  /** Resolves after `ms`, or when faults end. */
  pause: (ms: number) => Promise<void>;
}
