import type { Agent, Dispatcher } from 'undici';
import type { AddressGuard } from './address-guard';
import type { ResolveHost } from './resolve-host';

/** The head of an answer, and its body, which the caller reads or destroys. */
export type GuardedAnswer = Dispatcher.ResponseData;

/** What is sent. Headers, path and method as HTTP has them; the body is in memory. */
export interface GuardedRequest {
  method?: Dispatcher.HttpMethod;
  headers?: Record<string, string>;
  body?: Buffer | string | null;
  /** Aborting it ends the request with its reason. */
  signal?: AbortSignal | null;
}

/** Where to, where the path is to be sent as it stands; a URL may be written in more than one way. */
export interface GuardedTarget {
  origin: string;
  path: string;
}

/**
 * Sends requests to hosts that somebody else names (`guarded-agent.ts`). The library is loaded with the first of them: most processes
 * send none (5 MB).
 */
export class GuardedClient {
  private agent: Promise<Agent> | null = null;
  private isClosed = false;

  /** @param silentMs how long the head of an answer, and then each piece of it, may take. */
  constructor(
    private readonly guard: AddressGuard,
    private readonly silentMs: number,
    private readonly resolve?: ResolveHost,
  ) {}

  /** @throws AddressRefused; what breaks the connection; the reason of the signal; an error after `close`. */
  async request(target: string | GuardedTarget, request: GuardedRequest): Promise<GuardedAnswer> {
    if (this.isClosed) throw new Error('The client is closed.');
    const agent = await this.opened();
    return agent.request({ ...targetOf(target), ...request, method: request.method ?? 'GET' });
  }

  /** Cut what is under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    const agent = await this.agent?.catch(() => null);
    await agent?.destroy();
  }

  /** Where it fails, as at a limit of open files, the next request tries again. */
  private opened(): Promise<Agent> {
    this.agent ??= this.openAgent().catch((error: unknown) => {
      this.agent = null;
      throw error;
    });
    return this.agent;
  }

  private async openAgent(): Promise<Agent> {
    const { guardedAgent } = await import('./guarded-agent');
    return guardedAgent(this.guard, this.silentMs, this.resolve);
  }
}

function targetOf(target: string | GuardedTarget): GuardedTarget {
  if (typeof target !== 'string') return target;
  const { origin, pathname, search } = new URL(target);
  return { origin, path: pathname + search };
}
