import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder, eventually, TestStack, type TestAccount, type TestFolder } from '@millrace/testing';
import { nginxProgram } from '../../scripts/lib/testing/debian-program.mjs';
import { freePort } from '../../scripts/lib/system/ports.mjs';
import { Scope } from '../../scripts/lib/command/scope.mjs';

const LIMIT_MS = 300_000;
const PAGE = readFileSync(join(__dirname, '..', '..', 'docs', 'operations.md'), 'utf8');

let folder: TestFolder;
let stack: TestStack;
let account: TestAccount;
let nginx: ChildProcess;
let outer: string;

/** The location that docs/operations.md gives, in front of `publicUrl`. */
function configOf(dir: string, port: number, publicUrl: string): string {
  const [, location = ''] = /```nginx\n([\s\S]*?)```/.exec(PAGE) ?? [];
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  );
  return [
    'daemon off;',
    `pid ${dir}/pid;`,
    `error_log ${dir}/error.log;`,
    'events {}',
    `http { access_log off; ${places.join(' ')}`,
    `server { listen 127.0.0.1:${port};`,
    location.replace('http://127.0.0.1:8080', publicUrl),
    '} }',
  ].join('\n');
}

beforeAll(async () => {
  folder = await createTestFolder();
  const [program, port] = await Promise.all([nginxProgram(new Scope()), freePort()]);
  stack = await TestStack.start({ settings: { MILLRACE_TRUSTED_PROXIES: '1' } });
  account = await stack.createAccount();
  const dir = join(folder.path, 'nginx');
  mkdirSync(dir);
  // Started by root, nginx works as a user that owns nothing.
  chmodSync(folder.path, 0o755);
  writeFileSync(join(dir, 'nginx.conf'), configOf(dir, port, stack.publicUrl));
  nginx = spawn(program, ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')], {
    stdio: 'inherit',
  });
  outer = `http://127.0.0.1:${port}`;
  await eventually('nginx answers', async () => (await fetch(outer).catch(() => null)) !== null);
});

afterAll(async () => {
  nginx.kill('SIGTERM');
  await once(nginx, 'exit');
  await stack.stop();
  await folder.drop();
});

const call = (path: string, init: RequestInit = {}): Promise<Response> => {
  const headers = { authorization: `Bearer ${account.apiKey}`, ...(init.headers as Record<string, string>) };
  return fetch(new URL(path, outer), { ...init, headers });
};

/** A graph that takes long enough for its events to come well before its end. */
const WORKFLOW = {
  1: {
    class_type: 'MillraceReactionDiffusion',
    inputs: { width: 256, height: 256, steps: 1_000, seed: 1, feed: 0.055, kill: 0.062 },
  },
  2: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'through-nginx' } },
};

describe('behind nginx, as docs/operations.md has it', () => {
  jest.setTimeout(LIMIT_MS);

  it('lets events through as they happen, and outputs after them', async () => {
    const submitted = await call('/api/v2/jobs', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ workflow: WORKFLOW }),
    });
    const job = (await submitted.json()) as { id: string; urls: { self: string; events: string } };
    expect(submitted.status).toBe(201);

    const events = await call(job.urls.events, { headers: { accept: 'text/event-stream' } });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    let statusAtFirst: string | undefined;
    for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) {
      text += chunk.value;
      // Had the proxy kept the events back, the job would be over when the first of them comes.
      statusAtFirst ??= ((await (await call(job.urls.self)).json()) as { status: string }).status;
      if (text.includes('succeeded')) break;
    }
    await reader?.cancel();
    expect(['queued', 'running']).toContain(statusAtFirst);
    expect(text).toContain('succeeded');

    const done = (await (await call(job.urls.self)).json()) as { outputs: { url: string }[] };
    const [output] = done.outputs;
    const content = await call(output?.url ?? '');
    expect(content.status).toBe(200);
    expect(
      Buffer.from(await content.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
  });

  it('lets an upload of the largest size through', async () => {
    const bytes = new Uint8Array(100 * 1024 * 1024).fill(7);
    const form = new FormData();
    form.append('file_path', 'large.bin');
    form.append('content_type', 'application/octet-stream');
    form.append('file', new Blob([bytes], { type: 'application/octet-stream' }), 'large.bin');
    const answer = await call('/api/v2/assets', { method: 'POST', body: form });
    expect(await answer.json()).toMatchObject({ size_bytes: bytes.length });
    expect(answer.status).toBe(201);
  });
});
