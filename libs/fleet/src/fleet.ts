import type { EngineClass, PlacedStart } from '@millrace/deployments';

/**
 * What a fleet knows of a member by itself. Whether its worker is ready, the worker reports. `lost`: its machine gave it up, as a spot
 * instance that is taken back does, or is gone; another one is due at once, because nothing of it failed.
 */
export const MEMBER_PHASES = ['starting', 'running', 'stopping', 'failed', 'lost'] as const;
export type MemberPhase = (typeof MEMBER_PHASES)[number];

/** What a member needs of a machine. */
export interface MachineSpace {
  /** The same text for members of which each fits where the other one was. */
  needs: string;
  /** Since when every machine that could run it is full; null where that is not so. */
  lackedSince: Date | null;
}

/** One worker that a fleet runs, is starting, or could not start. */
export interface FleetMember {
  /** Never given to another member. */
  id: string;
  phase: MemberPhase;
  /** Why it is not running, for people to read: `no node has this GPU`, `the image cannot be pulled`. Null where all is well. */
  reason: string | null;
  /** Of the class that it was started with. */
  revision: string;
  startedAt: Date;
  /** What came before its process; absent where the fleet does not say. */
  placed?: PlacedStart;
  /** Its place on a machine; absent where the fleet does not choose one. */
  room?: MachineSpace;
  /** Where its worker registers from, as in the row of the worker. */
  host: string;
  /** Its process there; null where each host has one worker. */
  pid: number | null;
}

/** The members that serve one pool. */
export interface Group {
  poolId: string;
  members: FleetMember[];
}

/** What a group is to be. */
export interface GroupOrder {
  poolId: string;
  engineClass: EngineClass;
  /** Members when the order is done, those in `leaving` not counted. */
  size: number;
  /** Ids of members to stop. They have drained, or never were ready. */
  leaving: readonly string[];
}

/**
 * What runs the workers of deployments: processes of this machine, or a cluster. Orders are level-triggered: they say what is to
 * be, may be repeated and may be lost. Every method returns when the order is placed, and does not wait for workers.
 *
 * What `fleet.conformance.ts` checks holds for every implementation.
 */
export interface Fleet {
  /** Its name in settings and logs. */
  readonly name: string;

  /** All groups that run, also those that nobody has ordered. A group without members may be left out. */
  observe(): Promise<Group[]>;

  /**
   * Make a group be as ordered. Stops those in `leaving` in order: a worker gets its drain time. Of the others it stops none, unless
   * its class has another revision and the fleet replaces members by itself. Starts as many as are missing; where it starts one in
   * place of a member that failed, the failed one is observed no longer.
   */
  apply(order: GroupOrder): Promise<void>;

  /** Stop all members of a group, each in order, and forget it. A group that is not there is dissolved already. */
  dissolve(poolId: string): Promise<void>;

  /** This process leads no longer, or ends. What runs only with this process stops in order; a cluster goes on as it is. */
  resign(): Promise<void>;
}
