import type { Settings } from '../login';
import { type Host, VERSION } from '../process';
import { ApiClient, type Writes } from './api.client';
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

/** @param writes what Ctrl-C does during writes. */
export function clientsFor(settings: Settings, host: Host, writes: Writes): Clients {
  const api = new ApiClient(settings, host, writes, `millrace-cli/${VERSION}`);
  const assets = new AssetsClient(api, host);
  const models = new ModelsClient(api, host);
  return { api, assets, models, jobs: new JobsClient(api), downloads: new Downloader(api, assets) };
}
