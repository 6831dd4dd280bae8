import { z } from 'zod';
import { integer, networkList, setting, type SettingsOf } from '@millrace/platform';

const HOST = /^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

export const modelSettings = {
  modelsPerAccount: setting(
    'MODELS_PER_ACCOUNT',
    'Models that one account may have in its library. Their bytes count as what it stores.',
    integer({ min: 0, max: 100_000 }).default(200),
  ),
  modelsUnusedDays: setting(
    'MODELS_UNUSED_DAYS',
    'Days after which a model that no job has used is deleted, and its account gets the webhook event model.deleted. Never one that is shared, or that a deployment names. 0: never.',
    integer({ min: 0, max: 3_650 }).default(0),
  ),
  modelPickles: setting(
    'MODEL_PICKLES',
    'true: models may be pickles (.ckpt, .pt, .pth, .bin). A pickle is a program that runs on the worker when it is loaded.',
    z
      .enum(['true', 'false'], 'must be true or false')
      .default('false')
      .transform((text) => text === 'true'),
  ),
  modelImportHosts: setting(
    'MODEL_IMPORT_HOSTS',
    'Hosts from which models are imported, with commas between; *.example.com stands for all hosts below example.com. Name those to which a host redirects, too. Unset: nothing is imported.',
    z
      .string()
      .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
      .refine((hosts) => hosts.every((host) => HOST.test(host)), 'must be host names such as models.example.com')
      .default([]),
  ),
  modelImportNetworks: setting(
    'MODEL_IMPORT_NETWORKS',
    'Networks (CIDR, with commas between) in which these hosts may be though they are private, also over http://. Unset: they are public, with https:// alone.',
    networkList.default([]),
  ),
};
export type ModelSettings = SettingsOf<typeof modelSettings>;
