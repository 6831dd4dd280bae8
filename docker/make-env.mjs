// Writes a .env with fresh secrets beside docker-compose.yml. Secrets that the file already has are kept: a second
// password would lock the stack out of its own database.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** Each secret of the stack, and how one is made. Letters and digits only where they become parts of URLs. */
const SECRETS = {
  POSTGRES_PASSWORD: () => randomBytes(24).toString('hex'),
  REDIS_PASSWORD: () => randomBytes(24).toString('hex'),
  S3_ACCESS_KEY_ID: () => randomBytes(10).toString('hex'),
  S3_SECRET_ACCESS_KEY: () => randomBytes(24).toString('hex'),
  MILLRACE_SECRET_KEY: () => randomBytes(32).toString('base64'),
  MILLRACE_ADMIN_TOKEN: () => randomBytes(24).toString('hex'),
  GRAFANA_PASSWORD: () => randomBytes(12).toString('hex'),
};

/** Those that may be empty: an operator has taken them away. */
const MAY_BE_EMPTY = ['MILLRACE_ADMIN_TOKEN'];

const file = process.argv[2] ?? join(dirname(dirname(fileURLToPath(import.meta.url))), '.env');
const present = existsSync(file) ? readFileSync(file, 'utf8') : '';
const missing = Object.entries(SECRETS).filter(
  ([name]) => !new RegExp(`^${name}=${MAY_BE_EMPTY.includes(name) ? '' : '.'}`, 'm').test(present),
);
const lines = missing.map(([name, make]) => `${name}=${make()}\n`).join('');
const joint = present === '' || present.endsWith('\n') ? '' : '\n';
if (lines !== '') writeFileSync(file, `${present}${joint}${lines}`, { mode: 0o600 });
process.stdout.write(
  lines === '' ? `${file} has every secret.\n` : `${file} now has ${missing.map(([name]) => name).join(', ')}.\n`,
);
