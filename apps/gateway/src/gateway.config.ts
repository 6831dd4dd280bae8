import { assetSettings } from '@millrace/assets';
import { billingSettings } from '@millrace/billing';
import { databaseSettings } from '@millrace/database';
import { jobSettings } from '@millrace/jobs';
import { messagingSettings, secretKeySetting } from '@millrace/messaging';
import { integer, processSettings, setting, type SettingsOf } from '@millrace/platform';
import { z } from 'zod';

export const gatewaySettings = {
  ...processSettings,
  ...databaseSettings,
  ...messagingSettings,
  ...secretKeySetting,
  ...assetSettings,
  ...billingSettings,
  ...jobSettings,
  host: setting(
    'GATEWAY_HOST',
    'Address on which the gateway listens for workers outside the cluster. 0.0.0.0 or :: for all networks; put an ingress that speaks TLS in front of it.',
    z.string().default('127.0.0.1'),
  ),
  port: setting(
    'GATEWAY_PORT',
    'Port on which the gateway listens for workers outside the cluster.',
    integer({ min: 0, max: 65_535 }).default(8_090),
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'Proxies in front of the listeners that each append the address of their client to X-Forwarded-For, but for the ops listener. 0: the header is ignored.',
    integer({ min: 0, max: 16 }).default(0),
  ),
  workersPerToken: setting(
    'GATEWAY_WORKERS_PER_TOKEN',
    'Workers that one worker token may have at once.',
    integer({ min: 1, max: 10_000 }).default(16),
  ),
  requestsPerMinute: setting(
    'GATEWAY_REQUESTS_PER_MINUTE',
    'Requests that the workers of one token may send per minute, beyond which the gateway answers 429. A worker sends about 40 and, for each job that it runs, up to 400, most of them events, which are refused from three quarters on. Heartbeats, reports and ends may be as many apart.',
    integer({ min: 60, max: 10_000_000 }).default(12_000),
  ),
  maxConnections: setting(
    'GATEWAY_MAX_CONNECTIONS',
    'Connections that a gateway keeps open at once; further ones are closed. A worker uses a few. Requests of one token take a fourth of them at most.',
    integer({ min: 10, max: 1_000_000 }).default(2_000),
  ),
  bodyBytesInFlight: setting(
    'GATEWAY_BODY_BYTES_IN_FLIGHT',
    'Bytes of request bodies and large answers that a gateway keeps in memory at once, apart from bodies up to 32 KiB; above it 429.',
    integer({ min: 1_048_576 }).default(67_108_864),
  ),
  bodyBytesInFlightPerToken: setting(
    'GATEWAY_BODY_BYTES_IN_FLIGHT_PER_TOKEN',
    'Of these, bytes of the workers of one worker token.',
    integer({ min: 65_536 }).default(25_165_824),
  ),
};
export type GatewaySettings = SettingsOf<typeof gatewaySettings>;
