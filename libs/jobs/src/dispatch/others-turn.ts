import { setTimeout as pause } from 'node:timers/promises';

/** Another process that dispatches for a pool is waited for so long in PostgreSQL: several times what its turns last. */
const WAIT_MS = 150;
/** Further pools ask again after so long: about what the turns of one statement last. */
const PAUSE_MS = 20;

/**
 * How turns of a pool are asked for while another process gives them. One pool of this process waits in PostgreSQL, and has its turn as soon as the
 * other's end; that takes one connection, and no more, however many pools are contended. The others ask again after a pause.
 */
export class OthersTurn {
  private isWaiting = false;

  /**
   * @param take takes turns, and waits for the other process so many milliseconds; 0: not at all.
   * @throws what `take` does.
   */
  async follow<T>(take: (poolWaitMs: number) => Promise<T>): Promise<T> {
    if (this.isWaiting) {
      await pause(PAUSE_MS);
      return take(0);
    }
    this.isWaiting = true;
    try {
      return await take(WAIT_MS);
    } finally {
      this.isWaiting = false;
    }
  }
}
