import { inCurrentTrace } from '@millrace/platform';

/** Statements under way at once. */
const GROUPS_UNDER_WAY = 2;
/** How long what is asked for waits for the statement under way: several times what one takes. */
const GROUP_WAIT_MS = 5;
/** Readings of a group: beyond this, another one costs as much as it would in the next group. */
const GROUP_READS = 32;

/** Someone who waits for a reading. */
interface Member<Ask, Found> {
  ask: Ask;
  /** Runs work in the trace of the request. */
  inTrace: (work: () => void) => void;
  resolve: (found: Found | null) => void;
  reject: (error: unknown) => void;
}

/**
 * Reads together, in one statement, what is asked for in one turn of the event loop or while another statement is under way: a process that
 * is busy finds many requests in each turn, and a statement costs it several times what a reading within one does. A statement
 * that takes long lets the next one go, so that no connection which hangs holds up everyone. A reading never begins before it was asked for.
 */
export class GroupedReads<Ask, Found> {
  private readonly waiting: Member<Ask, Found>[] = [];
  private underWay = 0;
  /** The group that others wait for. */
  private awaited: readonly Member<Ask, Found>[] | null = null;
  private isDue = false;

  /**
   * @param readEach one statement: what was found, in the order of what was asked; null where there is nothing.
   * @param isInTurn false where no group waits for another, and any number may be under way.
   */
  constructor(
    private readonly readEach: (asks: readonly Ask[]) => Promise<(Found | null)[]>,
    private readonly isInTurn = true,
  ) {}

  /** @throws what `readEach` throws for the group that this reading is in. */
  get(ask: Ask): Promise<Found | null> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ask, inTrace: inCurrentTrace(), resolve, reject });
      this.startSoon();
    });
  }

  /** Behind what this turn of the event loop has read from its sockets. */
  private startSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      this.startNext();
    });
  }

  private startNext(): void {
    while (!this.isInTurn || (this.awaited === null && this.underWay < GROUPS_UNDER_WAY)) {
      const group = this.waiting.splice(0, GROUP_READS);
      const [first] = group;
      if (first === undefined) return;
      first.inTrace(() => this.start(group));
    }
  }

  private start(group: readonly Member<Ask, Found>[]): void {
    this.underWay += 1;
    const letNextGo = (): void => {
      if (this.awaited === group) this.awaited = null;
      this.startSoon();
    };
    this.awaited = group;
    const timer = this.isInTurn ? setTimeout(letNextGo, GROUP_WAIT_MS) : undefined;
    void this.settle(group).then(() => {
      clearTimeout(timer);
      this.underWay -= 1;
      letNextGo();
    });
  }

  /** Never rejects: every member gets its own outcome. */
  private async settle(group: readonly Member<Ask, Found>[]): Promise<void> {
    try {
      const found = await this.readEach(group.map(({ ask }) => ask));
      group.forEach(({ resolve }, index) => resolve(found[index] ?? null));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
