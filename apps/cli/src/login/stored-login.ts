import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, type Host, makeFolder, savePlace, UsageFailure } from '../process';

/** What `millrace login` stores. A key is sent only to the service that it was checked against. */
export interface StoredLogin {
  url: string;
  apiKey: string | null;
}

/** `$XDG_CONFIG_HOME/millrace/config.json`, by default below `~/.config` (XDG Base Directory Specification). */
function loginPath(host: Host): string {
  return join(host.env.XDG_CONFIG_HOME || join(host.homeDir, '.config'), 'millrace', 'config.json');
}

/** @throws {UsageFailure} when the file exists and is not what `login` writes. */
export async function readLogin(host: Host): Promise<StoredLogin | null> {
  const path = loginPath(host);
  const text = await readFile(path, 'utf8').catch(absent);
  if (text === null) return null;
  const stored = parsed(text);
  if (stored) return stored;
  throw new UsageFailure(`${path} holds no login.`, 'Run: millrace login');
}

/** Written whole or not at all, readable by its owner alone; a link to the file stays. */
export async function writeLogin(host: Host, login: StoredLogin): Promise<string> {
  const path = loginPath(host);
  await makeFolder(dirname(path), 0o700);
  const place = await savePlace(path);
  const draft = `${place.path}.${process.pid}.new`;
  await writeFile(draft, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, place.path);
  return path;
}

/** @returns false when there was none. */
export async function removeLogin(host: Host): Promise<boolean> {
  return rm(loginPath(host)).then(
    () => true,
    (error: unknown) => absent(error) !== null,
  );
}

function absent(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

function parsed(text: string): StoredLogin | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('url' in value) || typeof value.url !== 'string') return null;
    const apiKey = 'apiKey' in value && typeof value.apiKey === 'string' ? value.apiKey : null;
    return { url: value.url, apiKey };
  } catch {
    return null;
  }
}
