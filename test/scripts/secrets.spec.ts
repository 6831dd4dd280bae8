import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSecrets } from '../../scripts/lib/servers/secrets.mjs';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-secrets-'));
  path = join(folder, 'secrets.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the secrets of a data folder', () => {
  it('are made once, for their user alone, and then only read', () => {
    const first = readSecrets(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    utimesSync(path, 1, 1);
    expect(readSecrets(path)).toEqual(first);
    expect([statSync(path).mtimeMs, readdirSync(folder)]).toEqual([1_000, ['secrets.json']]);
  });

  it('become those of their user alone again where a copy that was put back can be read by others', () => {
    const first = readSecrets(path);
    chmodSync(path, 0o644);
    expect(readSecrets(path)).toEqual(first);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('get those that are missing, and keep the others', () => {
    const { redisPassword, ...others } = readSecrets(path);
    writeFileSync(path, JSON.stringify({ ...others, apiKey: 'a' }));
    const completed = readSecrets(path);
    expect(completed).toMatchObject({ ...others, apiKey: 'a' });
    expect(completed.redisPassword).not.toBe(redisPassword);
    expect(readSecrets(path)).toEqual(completed);
  });

  it.each([
    ['empty', ''],
    ['cut off', '{"postgresPassword": "ab'],
    ['a list', '[]'],
  ])('are refused where their file is %s, and the file stays as it is', (_what, text) => {
    writeFileSync(path, text);
    expect(() => readSecrets(path)).toThrow(`${path} holds no secrets: put it back from a copy.`);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('are refused where their file cannot be read', () => {
    mkdirSync(path);
    expect(() => readSecrets(path)).toThrow(`${path} cannot be read (EISDIR): give it to the user who runs this`);
    expect(statSync(path).isDirectory()).toBe(true);
  });
});
