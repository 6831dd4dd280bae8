import type { ServerResponse } from 'node:http';
import { Refusal } from '@millrace/contracts';
import { whenClosed } from '@millrace/platform';

/** A worker waits for a message with each of its engines, of which it has 64 at most, and for cancels. As many requests may be short ones. */
const REQUESTS_PER_WORKER = 130;
/** Of the connections of a gateway, as the divisor: what is left is for the workers of other tokens. */
const SHARE = 4;
/** A gateway with few connections serves a worker all the same. */
const LEAST = 8;
const RETRY_SECONDS = 1;

/**
 * The requests of each token that are under way in this process: so many that its workers can work, and so few that connections are
 * left for the workers of other tokens. Half of them may wait for something to happen, so that its heartbeats pass.
 */
export class RequestsUnderWay {
  private readonly all = new Map<string, number>();
  private readonly waiting = new Map<string, number>();
  private readonly most: number;

  constructor({ workersPerToken, maxConnections }: { workersPerToken: number; maxConnections: number }) {
    this.most = Math.max(LEAST, Math.min(workersPerToken * REQUESTS_PER_WORKER, Math.floor(maxConnections / SHARE)));
  }

  /** Count a request of a token until its answer is out, or its connection has ended. @throws Refusal `rate_limited`. */
  enter(tokenId: string, response: ServerResponse): void {
    if (response.closed) return;
    take(this.all, tokenId, this.most, 'requests');
    whenClosed(response, () => leave(this.all, tokenId));
  }

  /** Wait for something in a request of a token. @throws Refusal `rate_limited` when too many wait; what `work` throws. */
  async wait<T>(tokenId: string, work: () => Promise<T>): Promise<T> {
    take(this.waiting, tokenId, this.most / 2, 'requests that wait for work or for cancels');
    try {
      return await work();
    } finally {
      leave(this.waiting, tokenId);
    }
  }
}

function take(counts: Map<string, number>, tokenId: string, most: number, what: string): void {
  const count = counts.get(tokenId) ?? 0;
  if (count >= most) {
    const message = `${count} ${what} of the workers of this token are under way here, which is the limit; send this again later.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
  }
  counts.set(tokenId, count + 1);
}

function leave(counts: Map<string, number>, tokenId: string): void {
  const left = (counts.get(tokenId) ?? 1) - 1;
  if (left > 0) counts.set(tokenId, left);
  else counts.delete(tokenId);
}
