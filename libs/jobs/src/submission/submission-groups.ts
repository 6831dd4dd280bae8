import { isTransient, isUndone, repeatUndone, type Statements } from '@millrace/database';
import { BoundedMap, inCurrentTrace } from '@millrace/platform';
import type { Dispatcher } from '../dispatch';
import type { GroupStore } from './group.store';
import type { JobDraft } from './submission';
import type { RecordedJob, SubmissionStore } from './submission.store';

/**
 * How long the next group waits for the one under way: two to three times what a full one takes. Two at once are smaller ones, and a job of a
 * small one costs more.
 */
export const GROUP_WAIT_MS = 20;

/** Groups under way at once, where one takes that long. */
const GROUPS_UNDER_WAY = 2;

/** Jobs of a group: beyond this, another one costs as much as it would in the next group. */
export const GROUP_JOBS = 32;

/** A larger graph goes alone: it would make others wait for its transfer. */
export const GROUP_GRAPH_BYTES = 65_536;

/** Graphs of a group together. */
export const GROUP_BYTES = 262_144;

/** How long a group waits for a locked row; well below PostgreSQL's `deadlock_timeout`. */
export const LOCK_WAIT_MS = 250;

/** How long an account goes alone after an error of its submission's own, such as a refusal, which would have failed a group. */
const REFUSED_APART_MS = 10_000;

/** How long an account goes alone after a submission of it took so long that it probably waits for a locked row. */
const LATE_APART_MS = 1_000;

/** Accounts that are remembered as going alone. */
const APART_LIMIT = 10_000;

/** A submission that waits for its group, or is in one. */
interface Member {
  draft: JobDraft;
  graphBytes: number;
  /** Runs work in the trace of the request. */
  inTrace: (work: () => void) => void;
  resolve: (recorded: RecordedJob) => void;
  reject: (error: unknown) => void;
}

/**
 * Records submissions, those together in one statement and one commit that arrive while others are under way. One that finds
 * nothing under way is recorded at once and alone. A statement that takes long lets the next one go.
 *
 * An account is in one group at a time: so its jobs get their ids in the order of their arrival, and no group waits for
 * another.
 *
 * A group is recorded whole or not at all. When it is not, its members are recorded alone in the order of their arrival, so
 * that `SubmissionStore.record` decides what each is answered.
 */
export class SubmissionGroups {
  private waiting: Member[] = [];
  private underWay = 0;
  /** The group that the next one waits for. */
  private awaited: readonly Member[] | null = null;
  /** Accounts of the groups under way. */
  private readonly busy = new Set<string>();
  /** Accounts that go alone, each until its time is over. */
  private readonly apart = new BoundedMap<true>(APART_LIMIT);

  constructor(
    private readonly database: Statements,
    private readonly store: Pick<SubmissionStore, 'record'>,
    private readonly groups: Pick<GroupStore, 'record'>,
    private readonly dispatcher: Pick<Dispatcher, 'dispatchWith' | 'requestDispatch'>,
    private readonly lockWaitMs = LOCK_WAIT_MS,
  ) {}

  /**
   * Record a submission, and have it dispatched soon.
   *
   * @throws what `SubmissionStore.record` does. After any other error than its refusals the outcome is not known here.
   */
  async record(draft: JobDraft): Promise<RecordedJob> {
    const graphBytes = Buffer.byteLength(draft.workflow);
    if (graphBytes > GROUP_GRAPH_BYTES || this.apart.has(draft.accountId)) return this.recordAlone(draft);
    return new Promise((resolve, reject) => {
      this.waiting.push({ draft, graphBytes, inTrace: inCurrentTrace(), resolve, reject });
      this.startNext();
    });
  }

  private startNext(): void {
    while (this.awaited === null && this.underWay < GROUPS_UNDER_WAY) {
      const group = this.takeGroup();
      const [first] = group;
      if (first === undefined) return;
      first.inTrace(() => this.start(group));
    }
  }

  /**
   * Those that arrived first and fit. One stays whose account is in a group already, or whose key is in this one: it has to
   * find the key claimed. The later ones of its account stay with it.
   */
  private takeGroup(): Member[] {
    const group: Member[] = [];
    const staying: Member[] = [];
    const held = new Set(this.busy);
    const keys = new Set<string>();
    let bytes = 0;
    for (const member of this.waiting) {
      const { accountId, idempotencyKey } = member.draft;
      const key = idempotencyKey === null ? null : `${accountId} ${idempotencyKey}`;
      const isFull = group.length === GROUP_JOBS || bytes + member.graphBytes > GROUP_BYTES;
      if (isFull || held.has(accountId) || (key !== null && keys.has(key))) {
        staying.push(member);
        held.add(accountId);
        continue;
      }
      group.push(member);
      bytes += member.graphBytes;
      if (key !== null) keys.add(key);
    }
    this.waiting = staying;
    return group;
  }

  /** One that takes long lets the next group go, and does not count at all when it takes longer than it may wait for a row. */
  private start(group: Member[]): void {
    const accounts = new Set(group.map(({ draft }) => draft.accountId));
    this.underWay += 1;
    this.awaited = group;
    for (const id of accounts) this.busy.add(id);
    const letNextGo = (): void => {
      if (this.awaited === group) this.awaited = null;
      this.startNext();
    };
    let isCounted = true;
    const leave = (): void => {
      if (!isCounted) return;
      isCounted = false;
      this.underWay -= 1;
      for (const id of accounts) this.busy.delete(id);
      letNextGo();
    };
    void within(GROUP_WAIT_MS, within(this.lockWaitMs, this.settle(group), leave), letNextGo).then(leave);
  }

  /** Never rejects: every member gets its own outcome. */
  private async settle(group: Member[]): Promise<void> {
    try {
      if (group.length === 1) return await this.settleInTurn(group);
      const drafts = group.map(({ draft }) => draft);
      const recorded = await this.groups.record(this.database, drafts, this.lockWaitMs);
      for (const poolId of new Set(drafts.map((draft) => draft.poolId))) this.dispatcher.requestDispatch(poolId);
      group.forEach(({ resolve }, index) => resolve(recorded[index] as RecordedJob));
    } catch (error) {
      if (isUndone(error)) return this.settleApart(group);
      // It may have been committed: to record it again could make the jobs twice.
      for (const { reject } of group) reject(error);
    }
  }

  /** Accounts beside each other, the jobs of each in their order. */
  private async settleApart(group: Member[]): Promise<void> {
    const accounts = new Set(group.map(({ draft }) => draft.accountId));
    const ofAccount = (id: string): Member[] => group.filter(({ draft }) => draft.accountId === id);
    await Promise.all(Array.from(accounts, (id) => this.settleInTurn(ofAccount(id))));
  }

  /** One after the other, but none behind one that waits for a locked row: all of them would time out in turn. */
  private async settleInTurn(members: Member[]): Promise<void> {
    const settled: Promise<void>[] = [];
    for (const { draft, resolve, reject } of members) {
      await new Promise<void>((goOn) => {
        settled.push(this.recordAlone(draft, goOn).then(resolve, reject).then(goOn));
      });
    }
    await Promise.all(settled);
  }

  /** @param late called when it takes so long that it probably waits for a locked row. */
  private async recordAlone(draft: JobDraft, late: () => void = () => undefined): Promise<RecordedJob> {
    const { accountId, poolId } = draft;
    const setApart = (ms: number): unknown => this.apart.set(accountId, true, { ttl: ms });
    const recorded = repeatUndone(() =>
      this.dispatcher.dispatchWith(poolId, (offer) => this.store.record(this.database, draft, offer)),
    );
    try {
      return await within(this.lockWaitMs, recorded, () => {
        setApart(LATE_APART_MS);
        late();
      });
    } catch (error) {
      if (isUndone(error) && !isTransient(error)) setApart(REFUSED_APART_MS);
      throw error;
    }
  }
}

/** Calls `late` when the work goes on for longer. */
async function within<T>(ms: number, work: Promise<T>, late: () => void): Promise<T> {
  const timer = setTimeout(late, ms);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
