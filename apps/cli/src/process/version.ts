import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of the package that this file belongs to, wherever it was built to. */
export const VERSION = versionAbove(__dirname);

function versionAbove(folder: string): string {
  const manifest = join(folder, 'package.json');
  if (existsSync(manifest)) {
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version?: string };
    return version ?? '0.0.0';
  }
  return dirname(folder) === folder ? '0.0.0' : versionAbove(dirname(folder));
}
