import { cpSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestFolder, type TestFolder } from '@millrace/testing';
import { CHART, ciFile, helm } from './support/helm';

let folder: TestFolder;
/** Helm shows notes of what it installs alone: in a copy of the chart they are what a template renders. */
beforeAll(async () => {
  folder = await createTestFolder();
  const chart = join(folder.path, 'chart');
  cpSync(CHART, chart, { recursive: true });
  renameSync(join(chart, 'templates', 'NOTES.txt'), join(chart, 'files', 'notes.txt'));
  writeFileSync(
    join(chart, 'templates', 'notes.yaml'),
    '{ notes: {{ tpl (.Files.Get "files/notes.txt") . | toJson }} }',
  );
});
afterAll(() => folder.drop());

async function notesOf(values: object): Promise<string> {
  const args = [
    'template',
    'rel',
    join(folder.path, 'chart'),
    '--kube-version',
    '1.29.0',
    '--show-only',
    'templates/notes.yaml',
  ];
  const { code, stdout, stderr } = await helm([...args, '--values', ciFile('minimal'), '--values', '-'], values);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

describe('what is said after an installation', () => {
  const status = { prometheusUrl: 'http://prometheus.monitoring:9090', peers: [{ podSelector: {} }] };
  const WARNING = 'The status page asks http://prometheus.monitoring:9090';

  it('warns of a status page without the rules that it has its figures from', async () => {
    expect(await notesOf({ metrics: { status } })).toContain(WARNING);
    expect(await notesOf({ metrics: { status, rules: { enabled: true } } })).not.toContain(WARNING);
    expect(await notesOf({})).not.toContain('status page');
  });

  it('says whether migrations have run, and whose workers an upgrade ends before they have', async () => {
    const GPUS = { default: { engine: 'comfyui', comfyui: { image: 'registry.example.com/comfyui:1' } } };
    const own = {
      postgres: { bundled: { enabled: false }, external: { existingSecret: 'a', peers: [{ podSelector: {} }] } },
    };
    const bundled = await notesOf({ workers: GPUS });
    expect(bundled).toContain('The new processes wait for the migrations');
    expect(bundled).toContain('ends workers of pools with ComfyUI before');
    expect(await notesOf({})).not.toContain('ends workers');
    const hooked = await notesOf({ workers: GPUS, ...own });
    expect(hooked).toContain('The migrations have run');
    expect(hooked).not.toContain('ends workers');
  });

  it('names the token by which the first account is made: the shared one, or one of an operator who signs in', async () => {
    const shared = await notesOf({});
    expect(shared).toContain('admin-token');
    expect(shared).not.toContain('Millrace-Reason');
    const operators = { existingSecret: 'provider' };
    const settings = {
      MILLRACE_OPERATORS_ISSUER: 'https://login.example.com',
      MILLRACE_OPERATORS_CLIENT_ID: 'millrace',
      MILLRACE_OPERATORS_URL: 'https://ops.example.com',
      MILLRACE_OPERATORS_ROLES: 'admin=platform',
    };
    const signedIn = await notesOf({ operators, settings, tests: { job: false } });
    expect(signedIn).not.toContain('admin-token');
    expect(signedIn).toContain('make a token on its screen Operators');
    expect(signedIn).toContain('Millrace-Reason: the%20first%20account');
  });

  it('says how many connections the processes open, and how many while those of a rollout before still drain', async () => {
    const notes = await notesOf({ workers: { default: { replicas: 4, rollout: { maxSurge: 3 } } } });
    expect(notes).toContain('may open 148 connections');
    expect(notes).toContain('182 in all');
    expect(notes).not.toContain('that the fleet makes');
  });

  it('names the commands of a restore where the release is stopped, and nothing that needs a process', async () => {
    const stopped = await notesOf({ stopped: true });
    expect(stopped).toContain('exec deployment/rel-millrace-restore --container setup -- node scripts/migrate.mjs');
    for (const process of ['admin-token', 'The new processes', 'helm --namespace'])
      expect(stopped).not.toContain(process);
    expect(await notesOf({})).not.toContain('-restore');
  });

  it('says that the network policy opens one port to a pooler and to PostgreSQL itself', async () => {
    const notesWith = (more: object): Promise<string> => {
      const external = {
        existingSecret: 'database',
        directKey: 'direct',
        port: 6432,
        peers: [{ podSelector: {} }],
        ...more,
      };
      return notesOf({ postgres: { bundled: { enabled: false }, external } });
    };
    const note =
      'The network policy opens port 6432 to the pooler and to PostgreSQL itself: set postgres.external.directPort';
    expect(await notesWith({})).toContain(note);
    for (const more of [{ directPort: 5432 }, { directKey: '' }]) expect(await notesWith(more)).not.toContain(note);
  });
});
