import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readSettings } from '@millrace/platform';
import { apiSettings } from '../../apps/api/src/api.config';
import { operatorsSettings, providerOf } from '../../apps/api/src/operators.config';
import { remoteWorkerSettings } from '../../apps/worker/src/worker.config';
import { listSettings } from '../../scripts/lib/chart/settings-list.mjs';
import { commandOf, lastOf, readStages } from './support/dockerfile';

const ROOT = join(__dirname, '..', '..');
const TEXT = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');

interface Service {
  image: string;
  build?: { target?: string; args?: Record<string, string> };
  command?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: object;
  profiles?: string[];
  stop_grace_period?: string;
  read_only?: boolean;
  ports?: string[];
  volumes?: string[];
}

const { services } = parse(TEXT, { merge: true }) as { services: Record<string, Service> };
const settings = listSettings();
/** Services that run a process of ours, with the process. */
const processes = Object.entries(services).flatMap(([name, service]) => {
  const process = service.build?.target ?? '';
  return ['api', 'worker', 'maintenance', 'fleet', 'gateway'].includes(process) ? [{ name, process, service }] : [];
});
/** Processes whose settings a service has: workers that the fleet starts have those of the fleet. */
const readersOf = (process: string): string[] => (process === 'fleet' ? ['fleet', 'worker'] : [process]);

describe('the compose file', () => {
  it('gives each process settings that it knows, and those that it cannot do without', () => {
    expect(processes.map(({ name }) => name)).toEqual([
      ...['api', 'maintenance', 'worker', 'fleet', 'gateway', 'worker-gpu'],
    ]);
    for (const { name, process, service } of processes) {
      const given = Object.keys(service.environment ?? {});
      const readers = readersOf(process);
      const known = settings
        .filter((listed) => listed.processes.some((reader) => readers.includes(reader)))
        .map(({ setting }) => setting);
      expect([name, given.filter((variable) => !known.some((setting) => setting.name === variable))]).toEqual([
        name,
        [],
      ]);
      const required = known
        .filter(({ schema }) => !schema.safeParse(undefined).success)
        .map((setting) => setting.name)
        // Each worker of the fleet gets its own.
        .filter((variable) => process !== 'fleet' || variable !== 'MILLRACE_POOL');
      expect(given).toEqual(expect.arrayContaining(required));
    }
  });

  it('runs the command of the image of ComfyUI', () => {
    const instructions = readStages(join(ROOT, 'docker', 'comfyui.Dockerfile')).flatMap((stage) => stage.instructions);
    expect(services.comfyui?.command).toEqual(commandOf(lastOf(instructions, 'CMD')));
  });

  it('builds targets that the Dockerfile has', () => {
    const targets = readStages(join(ROOT, 'docker', 'Dockerfile')).map(({ name }) => name);
    const built = Object.values(services).flatMap(({ build }) => (build?.target === undefined ? [] : [build.target]));
    expect(built.length).toBeGreaterThan(4);
    expect(built.filter((target) => !targets.includes(target))).toEqual([]);
  });

  it('has no secret of its own: each is asked for with a sentence', () => {
    const names = ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];
    for (const name of [...names, 'MILLRACE_SECRET_KEY', 'GRAFANA_PASSWORD']) {
      const uses = TEXT.match(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g')) ?? [];
      expect([name, uses.filter((use) => !use.endsWith(':?is not set; run node docker/make-env.mjs}'))]).toEqual([
        name,
        [],
      ]);
      expect(uses).not.toEqual([]);
    }
  });

  it('asks for an admin token, which may be empty: operators who sign in by a provider have none', () => {
    expect(services.api?.environment?.MILLRACE_ADMIN_TOKEN).toBe(
      '${MILLRACE_ADMIN_TOKEN?is not set; run node docker/make-env.mjs}',
    );
    const provider = {
      MILLRACE_OPERATORS_ISSUER: 'https://login.example.com',
      MILLRACE_OPERATORS_CLIENT_ID: 'millrace',
      MILLRACE_OPERATORS_CLIENT_SECRET: 'a secret of it',
      MILLRACE_OPERATORS_URL: 'https://ops.example.com',
      MILLRACE_OPERATORS_ROLES: 'admin=platform',
      MILLRACE_ADMIN_TOKEN: '',
    };
    const { adminToken } = apiSettings;
    expect(providerOf(readSettings({ ...operatorsSettings, adminToken }, provider))).not.toBeNull();
  });

  it('waits for what a process needs: servers by their health, set-up by its end', () => {
    for (const { service } of processes) {
      expect(service.depends_on).toMatchObject({
        migrate: { condition: 'service_completed_successfully' },
        bucket: { condition: 'service_completed_successfully' },
        redis: { condition: 'service_healthy' },
      });
    }
    const awaited = Object.values(services).flatMap(({ depends_on: needs }) => Object.entries(needs ?? {}));
    const byHealth = awaited.filter(([, { condition }]) => condition === 'service_healthy').map(([name]) => name);
    for (const name of byHealth.filter((server) => server !== 'comfyui')) {
      expect([name, services[name]?.healthcheck]).toEqual([name, expect.any(Object)]);
    }
  });

  it('pins every image that others make', () => {
    const others = Object.values(services).filter(({ build }) => build === undefined);
    expect(others.map(({ image }) => image).filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
  });

  it('scrapes every process', () => {
    const text = readFileSync(join(ROOT, 'docker', 'prometheus.yml'), 'utf8');
    const { scrape_configs: configs } = parse(text) as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[] }[] }[];
    };
    const scraped = configs.flatMap(({ dns_sd_configs: found }) => found.flatMap(({ names }) => names));
    expect(scraped.sort()).toEqual(processes.map(({ name }) => name).sort());
  });

  it('gives the fleet classes that deployments can be made of', () => {
    const text = readFileSync(join(ROOT, 'docker', 'engine-classes.json'), 'utf8');
    const { classes } = JSON.parse(text) as { classes: { name: string; engine: string }[] };
    expect(classes.map(({ name, engine }) => [name, engine])).toEqual([['cpu', 'cpu']]);
    expect(services.fleet?.volumes).toContain('./docker/engine-classes.json:/etc/millrace/engine-classes.json:ro');
    expect(services.fleet?.environment?.MILLRACE_ENGINE_CLASSES_FILE).toBe('/etc/millrace/engine-classes.json');
  });

  it('lets every image that others make be replaced, by one with a digest', () => {
    const others = Object.values(services).filter(({ build }) => build === undefined);
    expect(others.map(({ image }) => image).filter((image) => !/^\$\{[A-Z0-9]+_IMAGE:-[^}]+\}$/.test(image))).toEqual(
      [],
    );
    const args = Object.values(services).flatMap(({ build }) => (build === undefined ? [] : [build.args ?? {}]));
    expect(args.filter((given) => !/^\$\{\w+_IMAGE:-/.test(Object.values(given).join()))).toEqual([]);
  });

  it('shows the ops listener to this machine alone', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => port.endsWith(':9090'))).toEqual(['127.0.0.1:${MILLRACE_OPS_PORT:-9090}:9090']);
  });

  it('lets a worker end its drain, on a read-only root', () => {
    for (const { process, service } of processes) {
      expect(service.read_only).toBe(true);
      if (process !== 'worker' && process !== 'fleet') continue;
      const minutes = Number(/^(\d+)m$/.exec(service.stop_grace_period ?? '')?.[1]);
      expect(minutes * 60).toBeGreaterThan(Number(service.environment?.MILLRACE_DRAIN_SECONDS) + 30);
    }
  });
});

it('the documented command for a worker on another machine lets it end its drain and its stop', () => {
  const page = readFileSync(join(ROOT, 'docs', 'remote-workers.md'), 'utf8');
  const given: Record<string, string> = {};
  for (const [, name = '', value = ''] of page.matchAll(/-e (MILLRACE_\w+)=(\S+)/g)) given[name] = value;
  const MILLRACE_GATEWAY_TOKEN = `mrw_${'a'.repeat(43)}`;
  const { drainSeconds, stopSeconds } = readSettings(remoteWorkerSettings, { ...given, MILLRACE_GATEWAY_TOKEN });
  expect(Number(/docker run .*--stop-timeout (\d+)/.exec(page)?.[1])).toBeGreaterThan(drainSeconds + stopSeconds);
});

describe('docker/make-env.mjs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-env-'));
  const file = join(folder, '.env');
  const make = (): string => execFileSync(process.execPath, [join(ROOT, 'docker', 'make-env.mjs'), file]).toString();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('makes every secret that the compose file asks for, readable by nobody else', () => {
    make();
    const made = [...readFileSync(file, 'utf8').matchAll(/^(\w+)=.+$/gm)].map(([, name]) => name);
    const asked = [...TEXT.matchAll(/\$\{(\w+):?\?/g)].map(([, name]) => name);
    expect(made.sort()).toEqual([...new Set(asked)].sort());
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('keeps what is there, and adds what is missing', () => {
    writeFileSync(file, 'POSTGRES_PASSWORD=mine');
    make();
    const first = readFileSync(file, 'utf8');
    expect(first).toMatch(/^POSTGRES_PASSWORD=mine\nREDIS_PASSWORD=/);
    expect(make()).toContain('has every secret');
    expect(readFileSync(file, 'utf8')).toBe(first);
  });

  it('leaves the admin token out that an operator has taken away', () => {
    writeFileSync(file, 'MILLRACE_ADMIN_TOKEN=\nPOSTGRES_PASSWORD=\n');
    make();
    expect(readFileSync(file, 'utf8').match(/^MILLRACE_ADMIN_TOKEN=.*$/gm)).toEqual(['MILLRACE_ADMIN_TOKEN=']);
    expect(readFileSync(file, 'utf8')).toMatch(/^POSTGRES_PASSWORD=.+$/m);
  });
});
