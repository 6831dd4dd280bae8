import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KUBERNETES_RIGHTS } from '@millrace/fleet';
import {
  ApiClient,
  KubernetesStandIn,
  STAND_IN_NAMESPACE,
  STAND_IN_TOKEN,
  TestStack,
  createTestFolder,
  eventually,
  type TestAccount,
  type TestFolder,
  type TestProcess,
} from '@millrace/testing';

const IMAGE = 'millrace-worker:missing';
const FLEET = 'millrace-fleet';

let stack: TestStack;
let folder: TestFolder;
let account: TestAccount;
let cluster: KubernetesStandIn;
beforeAll(async () => {
  folder = await createTestFolder();
  const lives = [process.execPath, '-e', 'setInterval(() => undefined, 1000)'];
  cluster = await KubernetesStandIn.start({ commandLine: lives, rights: KUBERNETES_RIGHTS, missingImages: [IMAGE] });
  cluster.add(FLEET);
  stack = await TestStack.start({ workers: 0 });
  account = await stack.createAccount(100_000_000, { deployment_limit: 20, deployment_worker_limit: 20 });
});
afterAll(async () => {
  await stack.stop();
  await cluster.close();
  await folder.drop();
});

function startFleet(): Promise<TestProcess> {
  const write = (name: string, text: string): string => {
    const file = join(folder.path, name);
    writeFileSync(file, text);
    return file;
  };
  const template = { spec: { containers: [{ name: 'worker', image: IMAGE }] } };
  const deployment = JSON.stringify({ kind: 'Deployment', metadata: { name: 'worker' }, spec: { template } });
  write('cpu.json', deployment);
  write('comfyui.json', deployment);
  write('token', STAND_IN_TOKEN);
  write('namespace', STAND_IN_NAMESPACE);
  return stack.spawn('fleet', {
    MILLRACE_FLEET: 'kubernetes',
    MILLRACE_ENGINE_CLASSES_FILE: write('classes.json', '{"classes":[{"name":"cpu","engine":"cpu"}]}'),
    MILLRACE_FLEET_TEMPLATE_DIR: folder.path,
    MILLRACE_FLEET_DEPLOYMENT: FLEET,
    MILLRACE_KUBERNETES_URL: cluster.url,
    MILLRACE_KUBERNETES_ACCOUNT_DIR: folder.path,
  });
}

interface Deployment {
  id: string;
  path: string;
  state_reason: string | null;
}

const made = (): string[] => [...cluster.deployments.keys()].filter((name) => name !== FLEET);

it('a deployment has its Deployment, and says why its workers do not come; a controller that dies leaves it as it is', async () => {
  let fleet = await startFleet();
  const platform = new ApiClient(stack.publicUrl, account.apiKey);
  const json = { name: 'a test', engine_class: 'cpu', min_workers: 1 };
  const { status, body: deployment } = await platform.call<Deployment>('POST', '/platform/v1/deployments', { json });
  expect(status).toBe(201);
  const why = `starting 1 of 1 workers: image cannot be pulled: Back-off pulling image "${IMAGE}": not found`;
  await eventually('the reason to be shown', async () => {
    const { body } = await platform.call<Deployment>('GET', `/platform/v1/deployments/${deployment.id}`);
    return body.state_reason === why;
  });
  const refused = await new ApiClient(stack.publicUrl + deployment.path, account.apiKey).call('POST', '/api/v2/jobs', {
    json: { workflow: { '1': { class_type: 'EmptyImage', inputs: {} } } },
  });
  expect([refused.status, refused.body.error.message]).toEqual([429, expect.stringContaining(why)]);
  const [before, pods] = [made(), [...cluster.pods.all.keys()]];
  await fleet.end('SIGKILL');
  expect(made()).toEqual(before);
  fleet = await startFleet();
  expect((await platform.call('DELETE', `/platform/v1/deployments/${deployment.id}`)).status).toBe(204);
  await eventually('its Deployment to be gone', () => made().length === 0 && cluster.pods.all.size === 0);
  expect(pods).toHaveLength(1);
  await fleet.end('SIGTERM');
});
