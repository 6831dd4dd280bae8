import { GatewayUnreachable } from './gateway.client';

/**
 * Until when a gateway takes no events, for all attempts of a worker: what it refuses is too much of their token. Events that are sent all the same
 * would leave no room for requests that matter.
 */
export class EventPause {
  private untilMs = Number.NEGATIVE_INFINITY;

  get isOn(): boolean {
    return performance.now() < this.untilMs;
  }

  /** An event failed: pause for as long as the gateway says, if it does. */
  follow(error: unknown): void {
    const afterMs = error instanceof GatewayUnreachable ? error.retryAfterMs : 0;
    this.untilMs = Math.max(this.untilMs, performance.now() + afterMs);
  }
}
