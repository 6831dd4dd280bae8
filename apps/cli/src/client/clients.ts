import type { Settings } from '../login';
import { type Host, VERSION } from '../process';
import { ApiClient } from './api.client';
import { AssetsClient } from './assets.client';
import { Downloader } from './download';
import { JobsClient } from './jobs.client';
import { ModelsClient } from './models.client';

/** The clients of one service. */
export interface Clients {
  api: ApiClient;
  jobs: JobsClient;
  assets: AssetsClient;
  downloads: Downloader;
  models: ModelsClient;
}

export function clientsFor(settings: Settings, host: Host): Clients {
  const api = new ApiClient(settings, host, `millrace-cli/${VERSION}`);
  const assets = new AssetsClient(api, host);
  const models = new ModelsClient(api, host);
  return { api, assets, models, jobs: new JobsClient(api), downloads: new Downloader(api, assets) };
}
