import { z } from 'zod';
import { databaseSettings } from '@millrace/database';
import { integer, processSettings, setting } from '@millrace/platform';

export const fleetSettings = {
  ...processSettings,
  ...databaseSettings,
  fleet: setting(
    'FLEET',
    'What runs the workers of deployments: processes (of this machine), or none (an operator runs them).',
    z.enum(['processes', 'none']).default('none'),
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
  drainSeconds: setting(
    'DRAIN_SECONDS',
    'How long a stopping worker lets its attempts run before it hands them back, in seconds.',
    integer({ min: 0, max: 86_400 }).default(20),
  ),
};
