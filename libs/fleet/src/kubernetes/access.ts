import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterAccess } from './api';
import { poolTemplate, type PoolTemplate, type PoolTemplates } from './pool-deployment';

/**
 * The API server, and the service account with which it is asked, as Kubernetes mounts it into a pod: `token`, `namespace`, `ca.crt`.
 *
 * @param url null: that of the cluster in which this process runs.
 * @throws Error where there is no cluster or no such account.
 */
export function serviceAccount(
  folder: string,
  url: string | null,
  env: NodeJS.ProcessEnv,
): { access: ClusterAccess; namespace: string } {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = env;
  if (url === null && host === undefined) throw new Error('this process runs in no cluster (KUBERNETES_SERVICE_HOST)');
  const caFile = join(folder, 'ca.crt');
  const access = {
    url: url ?? `https://${host?.includes(':') === true ? `[${host}]` : host}:${port}`,
    tokenFile: join(folder, 'token'),
    caFile: existsSync(caFile) ? caFile : null,
  };
  if (!existsSync(access.tokenFile)) throw new Error(`there is no service account in ${folder}`);
  return { access, namespace: readFileSync(join(folder, 'namespace'), 'utf8').trim() };
}

/**
 * The templates that the chart has rendered into a folder, `<engine>.json` for each engine.
 *
 * @throws Error naming the file that is missing or no template.
 */
export function readTemplates(folder: string): PoolTemplates {
  const read = (engine: string): PoolTemplate => {
    const file = join(folder, `${engine}.json`);
    try {
      return poolTemplate(JSON.parse(readFileSync(file, 'utf8')));
    } catch (error) {
      throw new Error(`${file}: ${(error as Error).message}`);
    }
  };
  return { cpu: read('cpu'), comfyui: read('comfyui') };
}
