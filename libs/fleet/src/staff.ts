import type { EngineClass } from '@millrace/deployments';
import type { FleetMember } from './fleet';
import type { ReportedWorker } from './served-pool.store';

/** A member with the worker that runs in it, as far as that has registered. */
export interface StaffMember {
  member: FleetMember;
  worker: ReportedWorker | null;
}

/** The members of a pool by what is to be done with them. */
export interface Staff {
  /** Those that serve, or will. */
  staying: StaffMember[];
  /** Of these, the ones that are ready. */
  ready: StaffMember[];
  /** Of those that stay, the ones of the revision that the class has now. */
  fitting: StaffMember[];
  /** Of those that stay, the ones of another revision, which are replaced. */
  outdated: StaffMember[];
  /** Those of another revision that were never ready, and are idle: they do not stay, and hold room that is needed. */
  superseded: FleetMember[];
  /** Those that are draining, and not yet asked to stop. */
  draining: StaffMember[];
  /** Those that did not come up, or ended. */
  failed: { member: FleetMember; reason: string }[];
  /** Those whose machine gave them up. */
  lost: FleetMember[];
  /** Of the failed, the ones that still run and are idle: for longer than their class takes to start they can run nothing. */
  overdue: FleetMember[];
}

/** Sort the members of a pool. @param busy ids of the workers that run jobs. */
export function staffOf(
  members: readonly FleetMember[],
  workers: readonly ReportedWorker[],
  engineClass: EngineClass | null,
  busy: ReadonlySet<string>,
  now: Date,
): Staff {
  const staff: Staff = {
    ...{ staying: [], ready: [], fitting: [], outdated: [], superseded: [] },
    ...{ draining: [], failed: [], lost: [], overdue: [] },
  };
  for (const member of members) {
    const worker = workers.find((one) => isWorkerOf(member, one)) ?? null;
    if (member.phase === 'stopping') continue;
    if (member.phase === 'lost') staff.lost.push(member);
    else if (member.phase === 'failed') staff.failed.push({ member, reason: member.reason ?? 'its worker ended' });
    else if (isOverdue(member, worker, engineClass, busy, now)) {
      staff.overdue.push(member);
      const what = worker?.problem ?? member.reason;
      const late = `not ready ${worker?.wasReady === true ? 'for' : 'within'} ${engineClass?.startSeconds} s`;
      staff.failed.push({ member, reason: what === null ? late : `${late}: ${what}` });
    } else if (worker?.draining === true) staff.draining.push({ member, worker });
    else if (isSuperseded(member, worker, engineClass, busy)) staff.superseded.push(member);
    else {
      const one = { member, worker };
      staff.staying.push(one);
      (engineClass === null || member.revision === engineClass.revision ? staff.fitting : staff.outdated).push(one);
      if (worker?.ready === true) staff.ready.push(one);
    }
  }
  return staff;
}

/** So long a worker may be silent whose class starts sooner: a failover of PostgreSQL keeps all of them silent meanwhile. */
const LEAST_SILENT_SECONDS = 60;

/** A worker belongs to the member from whose host and process it registered. */
export function isWorkerOf(
  member: Pick<FleetMember, 'host' | 'pid'>,
  { host, pid }: Pick<ReportedWorker, 'host' | 'pid'>,
): boolean {
  return host === member.host && (member.pid ?? pid) === pid;
}

/**
 * It has served nobody, and what comes in its place is of the class as it is now: a wrong image, say, that its operator has corrected. Of a
 * class that is gone none comes.
 */
function isSuperseded(
  member: FleetMember,
  worker: ReportedWorker | null,
  engineClass: EngineClass | null,
  busy: ReadonlySet<string>,
): boolean {
  if (engineClass === null || engineClass.retiredAt !== null || member.revision === engineClass.revision) return false;
  return worker === null || (!worker.wasReady && !busy.has(worker.id));
}

/**
 * It has not come up in time, or could run nothing for as long since: another one would be there by now. Who is as old as that is
 * asked of the member too, because the worker may be one that had its host and process before it.
 */
function isOverdue(
  member: FleetMember,
  worker: ReportedWorker | null,
  engineClass: EngineClass | null,
  busy: ReadonlySet<string>,
  now: Date,
): boolean {
  if (engineClass === null) return false;
  const { startSeconds } = engineClass;
  if (now.getTime() - member.startedAt.getTime() <= startSeconds * 1_000) return false;
  if (worker === null || !worker.wasReady) return true;
  const isSick = (worker.unfitSeconds ?? 0) > startSeconds;
  const isSilent = (worker.silentSeconds ?? 0) > Math.max(startSeconds, LEAST_SILENT_SECONDS);
  return (isSick || isSilent) && !busy.has(worker.id);
}
