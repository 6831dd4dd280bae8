import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../../..');
export const SOURCES = ['apps', 'bench', 'docker', 'docs', 'examples', 'helm', 'libs', 'prisma', 'scripts', 'test'];
/** The client's own pages: their text is the client's. */
export const CLIENTS = ['docs/contract.md', 'docs/wire-supplement.md'];

/** The files of the root and all below the source folders, as paths from the root. */
export function repositoryFiles(): string[] {
  const isFile = (path: string): boolean => statSync(join(ROOT, path)).isFile();
  const inSources = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((path) => `${folder}/${String(path)}`),
  );
  return [...readdirSync(ROOT), ...inSources].filter(isFile);
}
