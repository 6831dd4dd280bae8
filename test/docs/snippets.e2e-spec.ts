import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transformSync } from '@swc/core';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { TestStack, testS3, type TestAccount } from '@millrace/testing';
import { ROOT } from './support/repository-files';

/** The pages that a caller follows with the hands on the keyboard: all that is shown there works. */
const GUIDE = [
  'api-guide',
  'batches',
  'clients',
  'cli',
  'webhooks',
  'mcp',
  'retries',
  'reuse',
  'partners',
  'exports',
  'models',
  'erasure',
  'spend',
  'members',
];
/** The examples take a minute each; the snippets are what is tested here. */
const FEW_STEPS = 20;
/** Of one page. */
const LIMIT_MS = 240_000;

interface Snippet {
  language: string;
  line: number;
  code: string;
}

let stack: TestStack;
let account: TestAccount;
let folder: string;
let mail: string;
beforeAll(async () => {
  mail = mkdtempSync(join(tmpdir(), 'millrace-mail-'));
  const settings = { MILLRACE_EXPORT_ALLOWED_NETWORKS: '127.0.0.0/8', MILLRACE_MAIL_FOLDER: mail };
  stack = await TestStack.start({ workers: 1, settings });
  account = await stack.createAccount();
  await makeBucket();
  // A checkout in which the snippets may write.
  folder = mkdtempSync(join(tmpdir(), 'millrace-snippets-'));
  for (const name of ['dist', 'node_modules']) symlinkSync(join(ROOT, name), join(folder, name));
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  for (const name of readdirSync(join(folder, 'examples')).filter((file) => file.endsWith('.json'))) {
    const file = join(folder, 'examples', name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"steps": \d+/g, `"steps": ${FEW_STEPS}`));
  }
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
  rmSync(mail, { recursive: true });
});

/** The bucket that the page on exports writes to, on the S3 server of the test run. */
const BUCKET = `millrace-${randomUUID()}`;

async function makeBucket(): Promise<void> {
  const { endpoint, region, ...credentials } = testS3();
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  client.destroy();
}

function snippetsOf(page: string): Snippet[] {
  const text = readFileSync(join(ROOT, `docs/${page}.md`), 'utf8');
  return [...text.matchAll(/^```(\S*)\n([^]*?)^```$/gm)].map(({ 1: language = '', 2: code = '', index }) => ({
    language,
    code,
    line: text.slice(0, index).split('\n').length,
  }));
}

/** What the page has its reader fill in. */
function filledIn(code: string): string {
  return code
    .replaceAll('http://127.0.0.1:8080', stack.publicUrl)
    .replaceAll('mr_live_...', account.apiKey)
    .replaceAll('https://s3.example.com', testS3().endpoint)
    .replaceAll('acme-finance', BUCKET);
}

/** Run a program in the folder. @throws with what it wrote to its standard error. */
async function run(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...env }, timeout: LIMIT_MS, maxBuffer: 10_000_000 };
  return (await promisify(execFile)(program, args, options)).stdout;
}

const ofCallers = (): Record<string, string> => ({
  MILLRACE_URL: stack.publicUrl,
  MILLRACE_API_KEY: account.apiKey,
  EXPORT_ACCESS_KEY_ID: testS3().accessKeyId,
  EXPORT_SECRET_ACCESS_KEY: testS3().secretAccessKey,
});
const ofClients = (): Record<string, string> => ({
  COMFY_BASE_URL: stack.publicUrl,
  MILLRACE_API_KEY: account.apiKey,
});

it.each(GUIDE)('each block of the page %s is run, or marked as output', (page) => {
  const unknown = snippetsOf(page).filter(({ language }) => !['sh', 'ts', 'python', 'output'].includes(language));
  expect(unknown.map(({ line, language }) => `docs/${page}.md:${line}: "${language}"`)).toEqual([]);
});

it.each(GUIDE)('the commands of the page %s work, one after the other', async (page) => {
  const blocks = snippetsOf(page).filter(({ language }) => language === 'sh');
  // Of a command that fails the line of its block is said; a login that this machine has is not read.
  const steps = blocks.map(({ code, line }) => `LINE=${line}\n${filledIn(code)}`);
  const script = `set -euo pipefail\nshopt -s expand_aliases\ntrap 'echo "failed: the block at line $LINE" >&2' ERR\n${steps.join('\n')}`;
  const before = [...readdirSync(folder), 'out'];
  await run('bash', ['-c', script], { XDG_CONFIG_HOME: folder, ...ofCallers() });
  expect(readdirSync(folder).filter((name) => !before.includes(name))).toEqual([]);
});

/** Write the TypeScript of a page as modules. @returns their paths. */
function modulesOf(page: string): string[] {
  const blocks = snippetsOf(page).filter(({ language }) => language === 'ts');
  return blocks.map(({ code, line }) => {
    const script = transformSync(code, { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' } }).code;
    const file = join(folder, `${page}-${line}.mjs`);
    writeFileSync(file, script);
    return file;
  });
}

it('the TypeScript of the guide runs, with the official client', async () => {
  const modules = modulesOf('clients');
  expect(modules.length).toBeGreaterThan(1);
  for (const file of modules) await run(process.execPath, [file], ofClients());
  const written = readdirSync(join(folder, 'out'));
  expect(written).toEqual(expect.arrayContaining(['coral.png', expect.stringMatching(/^inverted.*\.png$/)]));
});

it('the TypeScript of the page on webhooks verifies what was signed, and nothing else', async () => {
  const [file = ''] = modulesOf('webhooks');
  const check = `
    import { Webhook } from 'standardwebhooks';
    import { readMessage } from '${file}';
    const secret = 'whsec_' + Buffer.alloc(24, 7).toString('base64');
    const [id, at, body] = ['m1', new Date(), '{"type":"job.succeeded"}'];
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    };
    console.log(readMessage(secret, headers, body).type);
    try { readMessage(secret, headers, body + ' '); } catch { console.log('refused'); }`;
  writeFileSync(join(folder, 'check-webhooks.mjs'), check);
  expect(await run(process.execPath, ['check-webhooks.mjs'])).toBe('job.succeeded\nrefused\n');
});

it('the TypeScript of the page on the MCP server runs, with the official client of the protocol', async () => {
  const [file = ''] = modulesOf('mcp');
  expect(await run(process.execPath, [file], ofCallers())).toMatch(/^Job \S+ is recorded.*succeeded\.\n$/s);
});

/** Where the official client for Python is installed its snippets are run; else only their syntax is checked. */
const PYTHON = ['python3', 'python'].find((name) => spawnSync(name, ['--version']).status === 0) ?? '';
const hasClient = PYTHON !== '' && spawnSync(PYTHON, ['-c', 'import comfy_sdk']).status === 0;

it(
  hasClient ? 'the Python of the guide runs, with the official client' : 'the Python of the guide has a valid syntax',
  async () => {
    if (PYTHON === '') throw new Error('No Python was found, which checks the Python of the guide: install python3.');
    const blocks = snippetsOf('clients').filter(({ language }) => language === 'python');
    expect(blocks.length).toBeGreaterThan(0);
    for (const { code } of blocks) {
      rmSync(join(folder, 'out', 'coral.png'), { force: true });
      await run(
        PYTHON,
        hasClient ? ['-c', code] : ['-c', 'import ast, sys; ast.parse(sys.argv[1])', code],
        ofClients(),
      );
      expect(existsSync(join(folder, 'out', 'coral.png'))).toBe(hasClient);
    }
  },
);
