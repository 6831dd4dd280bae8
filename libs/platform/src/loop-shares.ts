interface Share {
  /** Of this turn of the event loop. */
  taken: number;
  waiting: { cost: number; begin: () => void }[];
}

/**
 * Bounds what each owner has done in one turn of the event loop, in which nobody else is served. Work that is short but comes many times at once
 * is spread over as many turns as it needs: what others wait for then passes through the loop between two pieces of it.
 */
export class LoopShares {
  private readonly shares = new Map<string, Share>();
  private isDue = false;

  /** @param most cost of one owner's work in a turn; a single piece may cost more. */
  constructor(private readonly most: number) {}

  /** @returns undefined where the work may begin at once; else resolves when it may. Work of one owner begins in the order in which it came. */
  take(owner: string, cost: number): Promise<void> | undefined {
    const share = this.shares.get(owner) ?? { taken: 0, waiting: [] };
    this.shares.set(owner, share);
    this.renewSoon();
    if (share.waiting.length === 0 && this.fits(share, cost)) {
      share.taken += cost;
      return undefined;
    }
    return new Promise((begin) => share.waiting.push({ cost, begin }));
  }

  private fits({ taken }: Share, cost: number): boolean {
    return taken === 0 || taken + cost <= this.most;
  }

  /** Behind what this turn of the event loop has read from its sockets. */
  private renewSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      this.renew();
    });
  }

  private renew(): void {
    for (const [owner, share] of this.shares) {
      share.taken = 0;
      if (share.waiting.length === 0) this.shares.delete(owner);
      else this.beginWaiting(share);
    }
    if (this.shares.size > 0) this.renewSoon();
  }

  private beginWaiting(share: Share): void {
    for (let [next] = share.waiting; next !== undefined && this.fits(share, next.cost); [next] = share.waiting) {
      share.waiting.shift();
      share.taken += next.cost;
      next.begin();
    }
  }
}
