import type { IncomingMessage, ServerResponse } from 'node:http';

/** What happens to one request. `reset_after`: the server does what was asked, and the answer is lost. */
export type HttpFault = 'reset_before' | 'reset_after' | { status: number };

/** Faults for requests to come, by method and path; each serves once. */
export class HttpFaults {
  private readonly faults: { request: string; fault: HttpFault }[] = [];
  private gate: { closed: Promise<void>; open: () => void } | null = null;

  /** @param request e.g. `POST /prompt` */
  next(request: string, fault: HttpFault): void {
    this.faults.push({ request, fault });
  }

  /** Requests wait until the returned function is called, as when a node holds the interpreter's lock. */
  freeze(): () => void {
    let open: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (open = resolve));
    this.gate = { closed, open };
    return () => {
      this.gate = null;
      open();
    };
  }

  async whenOpen(): Promise<void> {
    await this.gate?.closed;
  }

  take(request: IncomingMessage): HttpFault | null {
    const name = `${request.method} ${(request.url ?? '').split('?')[0]}`;
    const at = this.faults.findIndex((entry) => entry.request === name);
    return at < 0 ? null : (this.faults.splice(at, 1)[0]?.fault ?? null);
  }
}

/** Cuts a connection without an answer. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
