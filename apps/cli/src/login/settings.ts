import { type Host, UsageFailure } from '../process';
import type { StoredLogin } from './stored-login';

/** Flags that every command understands. */
export interface GlobalFlags {
  url?: string;
  apiKey?: string;
  json?: boolean;
}

/** Which service, and as whom. `apiKey` is null where the service requires none. */
export interface Settings {
  baseUrl: URL;
  apiKey: string | null;
}

/**
 * Flags win over MILLRACE_URL and MILLRACE_API_KEY, those over COMFY_BASE_URL and COMFY_API_KEY, those over the stored
 * login. A stored key is used with the service it was stored for, never with another.
 *
 * @throws {UsageFailure} when no service is named, or a value cannot be right.
 */
export function resolveSettings(flags: GlobalFlags, env: Host['env'], login: StoredLogin | null): Settings {
  const url = firstOf(flags.url, env.MILLRACE_URL, env.COMFY_BASE_URL, login?.url);
  if (!url) throw new UsageFailure('No service is named.', 'Run `millrace login`, set MILLRACE_URL, or add --url.');
  const baseUrl = parseBaseUrl(url);
  const own = login?.apiKey && sameService(login.url, baseUrl) ? login.apiKey : undefined;
  const apiKey = firstOf(flags.apiKey, env.MILLRACE_API_KEY, env.COMFY_API_KEY, own) ?? null;
  return { baseUrl, apiKey: apiKey === null ? null : checkedKey(apiKey) };
}

/** True where flags and environment name both, so that the stored login is not read. */
export function isGiven(flags: GlobalFlags, env: Host['env']): boolean {
  const url = firstOf(flags.url, env.MILLRACE_URL, env.COMFY_BASE_URL);
  return url !== undefined && firstOf(flags.apiKey, env.MILLRACE_API_KEY, env.COMFY_API_KEY) !== undefined;
}

/**
 * The base address of a surface: an origin, or an origin with the prefix of a deployment. A trailing `/api/v2` is removed.
 *
 * @throws {UsageFailure}
 */
export function parseBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password)
    throw new UsageFailure(
      `The service's address ${JSON.stringify(text)} is not valid.`,
      'Give an http or https URL without user, query or fragment, such as https://api.example.com.',
    );
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  return url;
}

/** @throws {UsageFailure} when the key cannot be sent in a header. */
export function checkedKey(text: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageFailure('The API key has a space or another character that no key has.', 'Copy the key again.');
}

function sameService(stored: string, baseUrl: URL): boolean {
  return URL.canParse(stored) && new URL(stored).origin === baseUrl.origin;
}

/** The first that says anything; a blank environment variable counts as unset. */
function firstOf(...values: (string | undefined)[]): string | undefined {
  return values.find((value) => value?.trim())?.trim();
}
