import { setTimeout as pause } from 'node:timers/promises';
import type { ErrorEnvelope } from '@millrace/contracts';
import type { History } from './history';
import type { Random } from '../random';

const CALL_MS = 10_000;
const UNKNOWN_PAUSE_MS = 200;

/** Where clients find the service, and as whom. */
export interface LoadTarget {
  /** Origins of the API processes; each call goes to any of them. */
  origins: string[];
  accountId: string;
  apiKey: string;
  /** Sent as a credential with some jobs: must be found nowhere afterwards. */
  canary: string;
}

export interface Answer<T> {
  status: number;
  body: T;
}

/** Calls of one client, which records how each came out. */
export class LoadCalls {
  constructor(
    private readonly target: LoadTarget,
    private readonly history: History,
    private readonly random: Random,
  ) {}

  /** @returns null when there was no answer: the outcome is unknown. */
  async call<T>(
    method: string,
    path: string,
    { text, form, headers = {} }: { text?: string; form?: FormData; headers?: Record<string, string> } = {},
  ): Promise<Answer<T> | null> {
    const json: Record<string, string> = text === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const response = await this.send(path, {
        method,
        headers: { authorization: `Bearer ${this.target.apiKey}`, ...json, ...headers },
        body: text ?? form ?? null,
        signal: AbortSignal.timeout(CALL_MS),
      });
      const answer = { status: response.status, body: (await response.json()) as T };
      this.note(method, path, answer);
      return answer;
    } catch (error) {
      this.history.counts.unknown += 1;
      // Most often a process is on its way back; asking it without pause would only slow it down.
      await pause(UNKNOWN_PAUSE_MS);
      if (error instanceof SyntaxError) this.history.look('answers-are-json', path, `${method}: ${error.message}`);
      return null;
    }
  }

  /** To any of the processes; to the next where one refuses the connection, as a load balancer does. */
  async send(path: string, init: RequestInit): Promise<Response> {
    const first = this.random.whole(0, this.target.origins.length - 1);
    const origins = [...this.target.origins.slice(first), ...this.target.origins.slice(0, first)];
    for (const origin of origins.slice(0, -1)) {
      try {
        return await fetch(origin + path, init);
      } catch (error) {
        if (!isRefused(error)) throw error;
      }
    }
    return fetch(origins.at(-1) + path, init);
  }

  /** What a stream was refused with. @returns null when the answer broke off. */
  async refusal(path: string, response: Response): Promise<number | null> {
    try {
      const answer = { status: response.status, body: JSON.parse(await response.text()) as unknown };
      this.note('GET', path, answer);
      return answer.status;
    } catch (error) {
      if (error instanceof SyntaxError) this.history.look('answers-are-json', path, `GET: ${error.message}`);
      return null;
    }
  }

  private note(method: string, path: string, { status, body }: Answer<unknown>): void {
    this.history.look('answers-are-json', path, null);
    if (status < 400) this.history.counts.ok += 1;
    else if (status < 500) this.history.counts.refused += 1;
    else this.history.counts.unknown += 1;
    if (status < 400) return;
    const code = codeOf(body);
    const sound = code !== null && (status < 500 || code === 'upstream_error');
    this.history.look('errors-are-envelopes', path, sound ? null : `${method} answered ${status} with code ${code}`);
  }
}

function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: string } | undefined) : undefined;
  return cause?.code === 'ECONNREFUSED';
}

/** The code of a refusal; null where the body is no error envelope. */
export function codeOf(body: unknown): string | null {
  const { error } = body as Partial<ErrorEnvelope>;
  return error !== undefined && typeof error.message === 'string' ? error.code : null;
}
