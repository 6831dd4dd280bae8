/**
 * Lets callers that ask for the same thing at about the same time share one reading. A caller never gets one that had begun
 * before it asked: what it was told of must be in it.
 */
export class SharedReading<T> {
  private readonly current = new Map<string, Promise<T>>();
  private readonly next = new Map<string, Promise<T>>();

  /** @param key callers with the same key get the same result; `read` of the first of them makes it. */
  ask(key: string, read: () => Promise<T>): Promise<T> {
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
