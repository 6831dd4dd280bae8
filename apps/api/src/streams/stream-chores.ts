import { Injectable } from '@nestjs/common';
import { ApiKeysService, SessionsService } from '@millrace/accounts';
import { DeploymentsService } from '@millrace/deployments';
import { RENEW_SLOTS_EVERY_MS } from '@millrace/messaging';
import { OpenStreams } from './open-streams';

/** A stream ends within 5 s of the end of its access (docs/security.md). */
const CHECK_ACCESS_EVERY_MS = 2_000;

/** What is done for all open streams of this process at a time, so that none needs a timer of its own. */
@Injectable()
export class StreamChores {
  private timers: NodeJS.Timeout[] = [];
  private checking: Promise<void> | null = null;

  constructor(
    private readonly streams: OpenStreams,
    private readonly keys: ApiKeysService,
    private readonly sessions: SessionsService,
    private readonly deployments: DeploymentsService,
  ) {}

  /** @param onError is called with what a chore threw; the next run does what it left. */
  start(onError: (error: unknown) => void): void {
    this.timers = [
      setInterval(() => void this.endWithoutAccess().catch(onError), CHECK_ACCESS_EVERY_MS).unref(),
      // While Redis is away, which its connection has logged, each process limits alone.
      setInterval(() => void this.streams.renewPlaces().catch(() => undefined), RENEW_SLOTS_EVERY_MS).unref(),
    ];
  }

  stop(): void {
    for (const timer of this.timers) clearInterval(timer);
  }

  /**
   * End the streams whose key was revoked or expired or may no longer read what they show, whose session has ended, or whose account was
   * suspended: of a demo, the account that it belongs to. One statement for all keys, one for all sessions. Concurrent calls are one.
   */
  async endWithoutAccess(): Promise<void> {
    this.checking ??= this.check().finally(() => (this.checking = null));
    return this.checking;
  }

  private async check(): Promise<void> {
    const open = this.streams.all();
    const rights = await this.keys.rightsOf(distinct(open.map(({ apiKeyId }) => apiKeyId)));
    const signedOut = await this.sessions.findEnded(distinct(open.map(({ sessionId }) => sessionId ?? null)));
    const closed = await this.suspendedDemos(
      distinct(open.map(({ apiKeyId, deploymentId }) => (apiKeyId === null ? deploymentId : null))),
    );
    for (const { apiKeyId, sessionId = '', deploymentId, scope, ending } of open) {
      const isEnded = apiKeyId === null ? closed.has(deploymentId ?? '') : rights.get(apiKeyId)?.has(scope) !== true;
      if (isEnded || signedOut.has(sessionId)) ending.abort();
    }
  }

  private async suspendedDemos(ids: string[]): Promise<Set<string>> {
    const found = await Promise.all(ids.map((id) => this.deployments.findForReads(id)));
    return new Set(found.filter((deployment) => deployment?.ownerSuspended).map((deployment) => deployment?.id ?? ''));
  }
}

function distinct(ids: (string | null)[]): string[] {
  return [...new Set(ids)].filter((id) => id !== null);
}
