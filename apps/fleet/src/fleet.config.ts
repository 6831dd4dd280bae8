import { z } from 'zod';
import { databaseSettings } from '@millrace/database';
import { integer, processSettings, setting } from '@millrace/platform';

export const fleetSettings = {
  ...processSettings,
  ...databaseSettings,
  fleet: setting(
    'FLEET',
    'What runs the workers of deployments: processes (of this machine), kubernetes (pods of the cluster in which this process runs), or none (an operator runs them).',
    z.enum(['processes', 'kubernetes', 'none']).default('none'),
  ),
  engineClassesFile: setting(
    'ENGINE_CLASSES_FILE',
    'JSON document of the engine classes that deployments may run on. It is read at the start; classes that are not in it any more are retired. Unset: the classes stay as they are.',
    z.string().optional(),
  ),
  fleetDir: setting(
    'FLEET_DIR',
    'Folder for the logs and the working files of workers that are processes. Unset: in the temporary folder.',
    z.string().optional(),
  ),
  fleetTemplateDir: setting(
    'FLEET_TEMPLATE_DIR',
    'Folder with the Deployments from which those of pools are made, as JSON: cpu.json and comfyui.json. Needed with MILLRACE_FLEET=kubernetes; the chart renders them.',
    z.string().optional(),
  ),
  fleetDeployment: setting(
    'FLEET_DEPLOYMENT',
    'Name of the Deployment of the fleet process itself, which owns those of pools. Needed with MILLRACE_FLEET=kubernetes.',
    z.string().optional(),
  ),
  fleetGpuResource: setting(
    'FLEET_GPU_RESOURCE',
    'Name of the Kubernetes resource of which an engine class names how many: its GPUs.',
    z.string().default('nvidia.com/gpu'),
  ),
  kubernetesUrl: setting(
    'KUBERNETES_URL',
    'URL of the Kubernetes API server. Unset: that of the cluster in which this process runs.',
    z.url().optional(),
  ),
  kubernetesAccountDir: setting(
    'KUBERNETES_ACCOUNT_DIR',
    'Folder of the service account with which the API server is asked: token, namespace, and ca.crt where the server has an authority of its own.',
    z.string().default('/var/run/secrets/kubernetes.io/serviceaccount'),
  ),
  drainSeconds: setting(
    'DRAIN_SECONDS',
    'How long a stopping worker lets its attempts run before it hands them back, in seconds.',
    integer({ min: 0, max: 86_400 }).default(20),
  ),
};
