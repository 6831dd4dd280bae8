/** Renewals of one lease under way at a time: the second is there for one whose connection leads nowhere. */
const MOST = 2;

/**
 * The renewals under way in this process. A worker sends another where one is not answered, and what it sent before goes on here: a statement that
 * waits for a lock has its connection to PostgreSQL for as long as it waits, and connections are few, for all tenants.
 */
export class Renewals<T> {
  private readonly underWay = new Map<string, Promise<T>[]>();

  /** Leases that are being renewed. */
  get leases(): number {
    return this.underWay.size;
  }

  /**
   * Renew a lease. Where two of its renewals are under way, their newest answers this one, too: what it says of the lease is done after this was asked, or moments before.
   *
   * @param lease the fence, and who sends it: another who names the same lease is answered apart.
   * @throws what the renewal does.
   */
  renew(lease: string, work: () => Promise<T>): Promise<T> {
    const others = this.underWay.get(lease) ?? [];
    const newest = others.at(-1);
    if (newest !== undefined && others.length >= MOST) return newest;
    const renewal = work().finally(() => this.left(lease, renewal));
    this.underWay.set(lease, [...others, renewal]);
    return renewal;
  }

  private left(lease: string, renewal: Promise<T>): void {
    const others = (this.underWay.get(lease) ?? []).filter((one) => one !== renewal);
    if (others.length > 0) this.underWay.set(lease, others);
    else this.underWay.delete(lease);
  }
}
