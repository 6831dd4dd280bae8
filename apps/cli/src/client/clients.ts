import type { Settings } from '../login';
import { type Host, VERSION } from '../process';
import { ApiClient } from './api.client';
import { AssetsClient } from './assets.client';
import { Downloader } from './download';
import { JobsClient } from './jobs.client';

/** The clients of one service. */
export interface Clients {
  api: ApiClient;
  jobs: JobsClient;
  assets: AssetsClient;
  downloads: Downloader;
}

export function clientsFor(settings: Settings, host: Host): Clients {
  const api = new ApiClient(settings, host, `millrace-cli/${VERSION}`);
  const assets = new AssetsClient(api, host);
  return { api, assets, jobs: new JobsClient(api), downloads: new Downloader(api, assets) };
}
