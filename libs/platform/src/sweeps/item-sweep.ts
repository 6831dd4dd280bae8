import { workInHalves } from './halving';
import type { LoopReport } from '../loop';

const REST: RestTimes = { firstMs: 60_000, longestMs: 6 * 3_600_000 };
/** Failed items that are remembered, to bound the memory; others are tried again in each round. */
const REMEMBERED = 10_000;
/** Pages of a run where nothing but failing items was due: what is healthy behind them does not wait for the next run. */
const PAGES_WITHOUT_SUCCESS = 10;

/** How a sweep finds its items. */
interface SweepPages<Item> {
  /** The next items that are due, in a fixed order. @param after turn of the last one; null begins a round. */
  page(after: string | null, limit: number): Promise<Item[]>;
  /** Names an item: in logs, and between rounds. */
  keyOf: (item: Item) => string;
  /** An item's place in the order of pages; its key where that is the order. */
  turnOf?: (item: Item) => string;
  /** Items in a page. */
  limit: number;
  /** How long an item rests after it failed; a minute, and up to six hours, where it is absent. */
  rest?: RestTimes;
}

/** What a sweep does, item by item. */
export interface SweepSteps<Item> extends SweepPages<Item> {
  /** @returns whether it changed anything: an item may be due and have to wait. */
  work(item: Item): Promise<boolean>;
  /** True for a failure that is not about the item, such as a store that is away: it ends the run. None where it is absent. */
  isOutage?(error: unknown): boolean;
  /** Items in work at once; 1 where it is absent. */
  concurrency?: number;
}

/** What a sweep does a page at a time, where one statement does many items. A page that fails is halved (`workInHalves`). */
export interface BatchSweepSteps<Item> extends SweepPages<Item> {
  /** Do all of them or none. @returns how many it changed. */
  workOnAll(items: readonly Item[]): Promise<number>;
  /** True for a failure that is not about the items, such as a database that is away: it ends the run. */
  isOutage(error: unknown): boolean;
  /** True where it took too long: that ends the run as well, and the next page is half as long, down to one item. */
  isTooLong(error: unknown): boolean;
}

/** The rest after the first failure doubles with each further one, up to the longest. */
export interface RestTimes {
  firstMs: number;
  longestMs: number;
}

interface Rest {
  failures: number;
  untilMs: number;
  /** Met in the round under way. */
  met: boolean;
}

interface PageReport {
  tried: number;
  changed: number;
  errors: unknown[];
  isRoundOver: boolean;
}

/**
 * Works through items a page a run, round after round, so that no item keeps another from its turn: each fails alone, and rests
 * before it is tried again, longer each time. What rests is kept in this process's memory only.
 */
export class ItemSweep<Item> {
  private after: string | null = null;
  /** Items in the next page. */
  private limit: number;
  private readonly resting = new Map<string, Rest>();

  constructor(
    private readonly steps: SweepSteps<Item> | BatchSweepSteps<Item>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.limit = steps.limit;
  }

  /**
   * Work through one page, and through further ones as long as every item that was tried failed.
   *
   * @returns how many items changed; at least 1 while the round goes on, so that the next page follows at once.
   * @throws the first error, when every item that was tried failed: then it is rarely the items; an outage.
   */
  async run(report?: LoopReport): Promise<number> {
    let changed = 0;
    let isRoundOver = false;
    let tried = 0;
    const errors: unknown[] = [];
    for (let pages = 0; pages < PAGES_WITHOUT_SUCCESS && !isRoundOver && tried === errors.length; pages += 1) {
      const page = await this.runPage(report);
      ({ changed, isRoundOver } = page);
      tried += page.tried;
      errors.push(...page.errors);
    }
    report?.resting(this.resting.size);
    if (errors.length > 0 && errors.length === tried) throw errors[0];
    return isRoundOver ? changed : Math.max(changed, 1);
  }

  private async runPage(report?: LoopReport): Promise<PageReport> {
    const { limit } = this;
    const items = await this.steps.page(this.after, limit);
    const due = items.filter((item) => !this.rests(this.steps.keyOf(item)));
    const { changed, errors } = await this.workOn(due, report);
    const last = items.at(-1);
    const isRoundOver = items.length < limit || last === undefined;
    this.after = isRoundOver ? null : (this.steps.turnOf ?? this.steps.keyOf)(last);
    if (isRoundOver) this.forgetGone();
    return { tried: due.length, changed, errors, isRoundOver };
  }

  private async workOn(due: readonly Item[], report?: LoopReport): Promise<{ changed: number; errors: unknown[] }> {
    const errors: unknown[] = [];
    const failed = (item: Item, error: unknown): void => {
      const key = this.steps.keyOf(item);
      errors.push(error);
      this.rest(key);
      report?.failed(key, error);
    };
    const { steps } = this;
    const changed = await ('workOnAll' in steps
      ? this.workOnAll(steps, due, failed)
      : this.workOnEach(steps, due, failed));
    return { changed, errors };
  }

  private async workOnAll(
    steps: BatchSweepSteps<Item>,
    due: readonly Item[],
    failed: (item: Item, error: unknown) => void,
  ): Promise<number> {
    try {
      const changed = await workInHalves(due, {
        workOn: (items) => steps.workOnAll(items),
        isOutage: (error) => (steps.isTooLong(error) ? due.length > 1 : steps.isOutage(error)),
        failed,
        done: (items) => items.forEach((item) => this.resting.delete(steps.keyOf(item))),
      });
      this.limit = Math.min(steps.limit, this.limit * 2);
      return changed;
    } catch (error) {
      if (steps.isTooLong(error)) this.limit = Math.ceil(due.length / 2);
      throw error;
    }
  }

  private async workOnEach(
    steps: SweepSteps<Item>,
    due: readonly Item[],
    failed: (item: Item, error: unknown) => void,
  ): Promise<number> {
    const waiting = [...due];
    let changed = 0;
    const workOnSome = async (): Promise<void> => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
        try {
          if (await steps.work(item)) changed += 1;
          this.resting.delete(steps.keyOf(item));
        } catch (error) {
          if (steps.isOutage?.(error) === true) throw error;
          failed(item, error);
        }
      }
    };
    await Promise.all(Array.from({ length: steps.concurrency ?? 1 }, workOnSome));
    return changed;
  }

  private rests(key: string): boolean {
    const rest = this.resting.get(key);
    if (rest === undefined) return false;
    rest.met = true;
    return rest.untilMs > this.nowMs();
  }

  private rest(key: string): void {
    const failures = (this.resting.get(key)?.failures ?? 0) + 1;
    if (failures === 1 && this.resting.size >= REMEMBERED) return;
    const { firstMs, longestMs } = this.steps.rest ?? REST;
    const restMs = Math.min(longestMs, firstMs * 2 ** (failures - 1));
    this.resting.set(key, { failures, untilMs: this.nowMs() + restMs, met: true });
  }

  /** Items that a whole round did not meet are not due any more. */
  private forgetGone(): void {
    for (const [key, rest] of this.resting) {
      if (!rest.met) this.resting.delete(key);
      rest.met = false;
    }
  }
}
