import { z } from 'zod';
import { auditArchiveSettings } from '@millrace/accounts';
import { assetSettings } from '@millrace/assets';
import { billingSettings, exportSettings, paymentSettings } from '@millrace/billing';
import { databaseSettings } from '@millrace/database';
import { jobSettings } from '@millrace/jobs';
import { mailSettings } from '@millrace/mail';
import { messagingSettings, secretKeySetting } from '@millrace/messaging';
import { deploymentSettings, poolName } from '@millrace/deployments';
import { modelSettings } from '@millrace/models';
import { SettingsError, integer, processSettings, secretSetting, setting, type SettingsOf } from '@millrace/platform';
import { webhookSettings } from '@millrace/webhooks';
import { demoSettings } from './demo.config';
import { mcpSettings } from './mcp.config';
import { operatorsSettings } from './operators.config';
import { statusSettings } from './status.config';

export const apiSettings = {
  ...processSettings,
  ...databaseSettings,
  ...messagingSettings,
  ...secretKeySetting,
  ...auditArchiveSettings,
  ...assetSettings,
  ...billingSettings,
  ...exportSettings,
  ...paymentSettings,
  ...jobSettings,
  ...mailSettings,
  ...deploymentSettings,
  ...modelSettings,
  ...webhookSettings,
  ...demoSettings,
  ...mcpSettings,
  ...operatorsSettings,
  ...statusSettings,
  surface: setting(
    'SURFACE',
    'What the public listener serves, besides deployments: cloud (API keys, credits) or self_hosted (open, or one token).',
    z.enum(['cloud', 'self_hosted']).default('cloud'),
  ),
  pool: setting('POOL', 'Pool that runs the jobs of the cloud and self-hosted surfaces.', poolName),
  host: setting(
    'HOST',
    'Address on which the public listener opens. 0.0.0.0 or :: for all networks.',
    z.string().default('127.0.0.1'),
  ),
  port: setting('PORT', 'Port of the public listener.', integer({ min: 0, max: 65_535 }).default(8_080)),
  publicUrl: setting(
    'PUBLIC_URL',
    'Outer origin under which customers reach this service, e.g. https://api.example.com. Needed with MILLRACE_MAIL_SMTP_URL. Unset: the Host they sent, if it is a loopback name, an IP address or a host of a deployment, or comes from a trusted proxy in X-Forwarded-Host; else the address at which the request arrived.',
    z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      .refine((url) => new URL(url).pathname === '/', 'must have no path')
      .transform((url) => new URL(url).origin)
      .optional(),
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'Proxies in front of the listeners that each append the address of their client to X-Forwarded-For, but for the ops listener. 0: the header is ignored.',
    integer({ min: 0, max: 16 }).default(0),
  ),
  opsTrustedProxies: setting(
    'OPS_TRUSTED_PROXIES',
    'Proxies in front of the ops listener, as MILLRACE_TRUSTED_PROXIES. Above 0, nobody but them must reach it: who does chooses the address that the audit log names.',
    integer({ min: 0, max: 16 }).default(0),
  ),
  deploymentDomain: setting(
    'DEPLOYMENT_DOMAIN',
    'Domain under which each deployment has a host of its own, <id>.<domain>. Other names below it are answered 404, but for the host of MILLRACE_PUBLIC_URL. Unset: deployments by prefix only.',
    z
      .string()
      .regex(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'must be a host name in lower case, such as apps.example.com')
      .optional(),
  ),
  token: secretSetting(
    'TOKEN',
    'The one bearer token of the self-hosted surface. Unset: anyone who reaches it may use it.',
    z.string().min(8, 'must be at least 8 characters').optional(),
  ),
  adminToken: secretSetting(
    'ADMIN_TOKEN',
    'Bearer token of the admin API on the ops listener, shared by all who have it. Unset: operators have tokens of their own, or sign in by MILLRACE_OPERATORS_ISSUER.',
    z.string().min(16, 'must be at least 16 characters').optional(),
  ),
  keyEnvironment: setting(
    'KEY_ENVIRONMENT',
    'Environment named in the API keys created here, e.g. live or test: mr_<environment>_...',
    z
      .string()
      .regex(/^[a-z]{1,10}$/, 'must be 1 to 10 lower-case letters')
      .default('live'),
  ),
  rateLimitPerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    'Requests that one account may send in a minute with all its keys, where it has no limit of its own; of polls ten times as many. On the self-hosted surface: of one address.',
    integer({ min: 1, max: 2_000_000_000 }).default(12_000),
  ),
  anonymousRateLimitPerMinute: setting(
    'ANONYMOUS_RATE_LIMIT_PER_MINUTE',
    'Requests that one address may send in a minute to what needs no credential: the API documents, and events of the payment provider; of signed links ten times as many, of files of the consoles twenty times.',
    integer({ min: 1, max: 2_000_000_000 }).default(1_200),
  ),
  estimatesPerMinute: setting(
    'ESTIMATES_PER_MINUTE',
    'Estimates that one account may ask for in a minute, those of the MCP server included; on the self-hosted surface and on demo deployments one address.',
    integer({ min: 1, max: 2_000_000_000 }).default(1_200),
  ),
  sendsPerMinute: setting(
    'SENDS_PER_MINUTE',
    'Tests and replays of webhooks, and tests and repeats of deliveries of exports, that one account may ask for in a minute.',
    integer({ min: 1, max: 2_000_000_000 }).default(60),
  ),
  invitationsPerDay: setting(
    'INVITATIONS_PER_DAY',
    'Invitations that one account may have mailed in 24 hours; to one address at most ten of them, five minutes apart.',
    integer({ min: 1, max: 100_000 }).default(200),
  ),
  failedAuthPerMinute: setting(
    'FAILED_AUTH_PER_MINUTE',
    'Credentials that are not valid that one address may send in a minute, IPv6 by its first 56 bits; more are answered with 429.',
    integer({ min: 1, max: 1_000_000 }).default(30),
  ),
  consoleSessionSeconds: setting(
    'CONSOLE_SESSION_SECONDS',
    'How long someone stays signed in to the console, in seconds; not longer than the API key works that was signed in with.',
    integer({ min: 60, max: 2_592_000 }).default(43_200),
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    'Connections that the public listener of one process keeps open; more are closed at once.',
    integer({ min: 1, max: 1_000_000 }).default(20_000),
  ),
  maxConnectionsPerAddress: setting(
    'MAX_CONNECTIONS_PER_ADDRESS',
    'Of these, connections of one address. Only without MILLRACE_TRUSTED_PROXIES: behind proxies all come from them.',
    integer({ min: 1, max: 1_000_000 }).default(2_000),
  ),
  stalledClientSeconds: setting(
    'STALLED_CLIENT_SECONDS',
    'A client whose connection takes nothing more of its answer for so long is cut off, in seconds. The kernel takes up to 4 MB ahead of a client, and more only when about a third of that has arrived: clients should read at least 1.4 MB in this time.',
    integer({ min: 1, max: 3_600 }).default(120),
  ),
  bodyBytesInFlight: setting(
    'BODY_BYTES_IN_FLIGHT',
    'Bytes of request bodies and large answers that one process keeps in memory at once, the ops listener apart; above it 429. Bodies up to 64 KiB may take an eighth more. Files do not count.',
    integer({ min: 1_048_576 }).default(67_108_864),
  ),
  bodyBytesInFlightPerAccount: setting(
    'BODY_BYTES_IN_FLIGHT_PER_ACCOUNT',
    'Of these, bytes of one account, and of all callers without an account together. Who has some in memory gets more only while as much stays free for others.',
    integer({ min: 65_536 }).default(25_165_824),
  ),
  drainSeconds: setting(
    'DRAIN_SECONDS',
    'How long a stopping process keeps event streams open, in seconds; less than MILLRACE_STOP_SECONDS.',
    integer({ min: 0, max: 86_400 }).default(10),
  ),
  maxStreamsPerAccount: setting(
    'MAX_STREAMS_PER_ACCOUNT',
    'Event streams that one account may have open, over all API processes; on each of them while Redis is away.',
    integer({ min: 1 }).default(100),
  ),
};
export type ApiSettings = SettingsOf<typeof apiSettings>;

/** Token of the settings in Nest's container. */
export const API_SETTINGS = Symbol('API_SETTINGS');

/**
 * Where links lead that go out by mail. Never what a request names as its host: who asks for a mail to somebody else would choose where
 * its link leads.
 */
export function mailOriginOf({ publicUrl, port }: Pick<ApiSettings, 'publicUrl' | 'port'>): string {
  return publicUrl ?? `http://127.0.0.1:${port}`;
}

/**
 * Refuse settings with which mail would reach people, and its links would lead to the machine on which this process runs.
 *
 * @throws SettingsError
 */
export function assertMailLinksLead({ mailSmtpUrl, publicUrl }: Pick<ApiSettings, 'mailSmtpUrl' | 'publicUrl'>): void {
  if (mailSmtpUrl === undefined || publicUrl !== undefined) return;
  const why = 'the links in mail lead to it, and nobody could follow them';
  throw new SettingsError([
    `MILLRACE_MAIL_SMTP_URL is set without MILLRACE_PUBLIC_URL: ${why}. Set MILLRACE_PUBLIC_URL to the outer origin of this service, e.g. https://api.example.com, or unset MILLRACE_MAIL_SMTP_URL.`,
  ]);
}

/**
 * Refuse a drain that the process would not live to the end of: it exits as it is once its stop takes too long, drain and all.
 *
 * @throws SettingsError
 */
export function assertDrainEnds({
  drainSeconds,
  stopSeconds,
}: Pick<ApiSettings, 'drainSeconds' | 'stopSeconds'>): void {
  if (drainSeconds < stopSeconds) return;
  const why = 'a process that stops would exit while it keeps event streams open';
  throw new SettingsError([
    `MILLRACE_DRAIN_SECONDS (${drainSeconds}) is not less than MILLRACE_STOP_SECONDS (${stopSeconds}): ${why}. Lower MILLRACE_DRAIN_SECONDS, or raise MILLRACE_STOP_SECONDS above it.`,
  ]);
}
