import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Version of this build, from the nearest package.json above: built code lies two folders deeper than source. */
export const VERSION: string = readVersion(__dirname);

function readVersion(folder: string): string {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  return dirname(folder) === folder ? 'unknown' : readVersion(dirname(folder));
}
