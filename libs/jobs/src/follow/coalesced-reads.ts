/**
 * Lets callers that ask for the same thing at about the same time share one read. No caller gets a read that began before it
 * asked: the event that made it ask must be in it.
 */
export class CoalescedReads<T> {
  private readonly current = new Map<string, Promise<T>>();
  private readonly next = new Map<string, Promise<T>>();

  /** @param key callers with the same key get the same result; `read` of the first of them makes it. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    const waiting = this.next.get(key);
    if (waiting !== undefined) return waiting;
    const current = this.current.get(key);
    if (current === undefined) return this.begin(key, read);
    const goOn = (): Promise<T> => {
      this.next.delete(key);
      return this.begin(key, read);
    };
    const next = current.then(goOn, goOn);
    this.next.set(key, next);
    return next;
  }

  private begin(key: string, read: () => Promise<T>): Promise<T> {
    const reading = read();
    this.current.set(key, reading);
    const end = (): void => {
      if (this.current.get(key) === reading) this.current.delete(key);
    };
    reading.then(end, end);
    return reading;
  }
}
