import { z } from 'zod';
import { OPERATOR_ROLES, type OperatorRole } from '@millrace/contracts';
import { SettingsError, secretSetting, setting } from '@millrace/platform';

const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/;
const OVER_TLS = 'must be an https:// URL; http:// is for loopback alone';
const safeUrl = z.url({ protocol: /^https?$/, error: OVER_TLS }).refine((url) => {
  return url.startsWith('https://') || LOOPBACK.test(url);
}, OVER_TLS);

/** Groups of the identity provider, and the role of their members. */
export type GroupRoles = readonly { group: string; role: OperatorRole }[];

/** How operators sign in by an OpenID Connect provider. All of the first four, or none. */
export const operatorsSettings = {
  operatorsIssuer: setting(
    'OPERATORS_ISSUER',
    'Issuer of the OpenID Connect provider by which operators sign in to their console, e.g. https://login.example.com. Unset: they sign in with tokens.',
    safeUrl.optional(),
  ),
  operatorsClientId: setting(
    'OPERATORS_CLIENT_ID',
    'Id of the client that this service is at MILLRACE_OPERATORS_ISSUER.',
    z.string().min(1).optional(),
  ),
  operatorsClientSecret: secretSetting(
    'OPERATORS_CLIENT_SECRET',
    'Secret of that client.',
    z.string().min(8, 'must be at least 8 characters').optional(),
  ),
  operatorsUrl: setting(
    'OPERATORS_URL',
    'Origin at which operators reach the ops listener, e.g. https://ops.example.com. The provider sends them back to /admin/v1/sign-in/callback there.',
    safeUrl
      .refine((url) => new URL(url).pathname === '/', 'must have no path')
      .transform((url) => new URL(url).origin)
      .optional(),
  ),
  operatorsGroupsClaim: setting(
    'OPERATORS_GROUPS_CLAIM',
    'Claim of the ID token that lists the groups of who signs in.',
    z.string().min(1).default('groups'),
  ),
  operatorsRoles: setting(
    'OPERATORS_ROLES',
    'Which group has which role, e.g. admin=platform,operator=support,finance=billing,viewer=staff. A role may have several groups.',
    z.string().default('').transform(rolesOf),
  ),
};

type OperatorsSettings = {
  [Name in 'operatorsIssuer' | 'operatorsClientId' | 'operatorsClientSecret' | 'operatorsUrl']?: string | undefined;
} & { operatorsRoles: GroupRoles; adminToken?: string | undefined };

/** What a sign-in by a provider needs. */
export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  origin: string;
}

/**
 * The provider that the settings name; null where they name none.
 *
 * @throws SettingsError when they name half of one, give nobody a role, or leave the shared admin token beside it.
 */
export function providerOf(settings: OperatorsSettings): ProviderSettings | null {
  const { operatorsIssuer: issuer, operatorsClientId: clientId, operatorsClientSecret: clientSecret } = settings;
  const { adminToken, operatorsRoles, operatorsUrl: origin } = settings;
  if (issuer === undefined && clientId === undefined && clientSecret === undefined && origin === undefined) return null;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined || origin === undefined) {
    const names = ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET', 'URL']
      .map((name) => `MILLRACE_OPERATORS_${name}`)
      .join(', ');
    throw new SettingsError([`Of ${names} some are set and some are not; set all or none.`]);
  }
  if (operatorsRoles.length === 0) {
    const cure = 'set it, e.g. admin=platform,viewer=staff';
    throw new SettingsError([`MILLRACE_OPERATORS_ROLES gives no group a role, so that nobody could sign in; ${cure}.`]);
  }
  if (adminToken !== undefined) {
    const cure = 'unset MILLRACE_ADMIN_TOKEN: machines have operator tokens, which an admin who is signed in makes';
    throw new SettingsError([
      `MILLRACE_ADMIN_TOKEN is shared by all, and MILLRACE_OPERATORS_ISSUER names each; ${cure}.`,
    ]);
  }
  return { issuer, clientId, clientSecret, origin };
}

/** `admin=platform,viewer=staff` as a list. */
function rolesOf(text: string, context: z.RefinementCtx): GroupRoles {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return pairs.flatMap((pair) => {
    const at = pair.indexOf('=');
    const role = OPERATOR_ROLES.find((known) => known === pair.slice(0, Math.max(at, 0)).trim());
    const group = pair.slice(at + 1).trim();
    if (role !== undefined && group !== '') return [{ role, group }];
    const message = `must be role=group, separated by commas, with a role of ${OPERATOR_ROLES.join(', ')}`;
    context.addIssue({ code: 'custom', message });
    return [];
  });
}

/** The strongest first: who has several has the first. `finance` and `operator` do not cover each other. */
const STRONGEST_FIRST: readonly OperatorRole[] = ['admin', 'operator', 'finance', 'viewer'];

/** The role of someone of these groups; null: none. */
export function roleOf(groups: readonly string[], roles: GroupRoles): OperatorRole | null {
  const held = new Set(roles.filter(({ group }) => groups.includes(group)).map(({ role }) => role));
  return STRONGEST_FIRST.find((role) => held.has(role)) ?? null;
}
