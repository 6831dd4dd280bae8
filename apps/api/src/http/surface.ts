import { Refusal, isUuid, type SurfaceKind } from '@millrace/contracts';

/** The face of the service that a request came to, found from its host and path before anything else looks at it. */
export interface Surface {
  readonly kind: SurfaceKind;
  /** Set exactly for deployments; in lower case. */
  readonly deploymentId: string | null;
  /** Path under which the surface is mounted; part of every host-relative link. Empty where it has the host to itself. */
  readonly prefix: string;
  /** Origin as the client sees it, for absolute links. */
  readonly origin: string;
}

export interface SurfaceRules {
  shared: 'cloud' | 'self_hosted';
  /** The shared surface asks for no credential. */
  open: boolean;
  publicUrl: string | undefined;
  /** In lower case, without a dot at its end. */
  deploymentDomain: string | undefined;
}

/** What a request was sent to. */
export interface RequestTarget {
  scheme: 'http' | 'https';
  /** Name and, where it is not the scheme's own, port. */
  host: string;
  /** Path and query. */
  url: string;
}

/** Of a host in a message. */
const SHOWN_CHARACTERS = 200;

/**
 * What of the service is mounted under the prefix of a deployment, besides the API: an estimate, why a job waits and the MCP server are
 * about one surface. Only what is spelled like this: routes below may take other spellings, a mount point has one.
 */
const MOUNTED = /^\/deployment\/([^/?]+)(\/(?:api\/.*|(?:mcp|platform\/v1\/(?:estimates|jobs\/[^/?]+))(?:\?.*)?))$/;

/**
 * Find the surface of a request, and the path that is left when its mount prefix is taken off (contract, section 1). The host
 * of a deployment is its own alone: nothing is mounted there.
 */
export function resolveSurface(
  rules: SurfaceRules,
  { scheme, host, url }: RequestTarget,
): { surface: Surface; url: string } {
  const origin = rules.publicUrl ?? `${scheme}://${host}`;
  const ofHost = deploymentOfHost(rules, host);
  if (ofHost !== null) {
    const outer = rules.publicUrl === undefined ? `${scheme}:` : new URL(rules.publicUrl).protocol;
    return { surface: deploymentSurface(ofHost, '', `${outer}//${host}`), url };
  }
  const [, segment = '', rest = ''] = MOUNTED.exec(url) ?? [];
  const mounted = idOf(segment);
  if (mounted !== null) return { surface: deploymentSurface(mounted, `/deployment/${mounted}`, origin), url: rest };
  return { surface: { kind: rules.shared, deploymentId: null, prefix: '', origin }, url };
}

function deploymentSurface(deploymentId: string, prefix: string, origin: string): Surface {
  return { kind: 'deployment', deploymentId, prefix, origin };
}

/**
 * Refuse what was sent to a host below the domain of deployments that is the host of none, as a mistyped one is: on the shared
 * surface a job would run, and be charged, where nobody meant it to. The service's own host may be below that domain.
 *
 * @returns null for every other host.
 */
export function strayHost({ publicUrl, deploymentDomain: domain }: SurfaceRules, host: string): Refusal | null {
  const label = labelOf(domain, host);
  if (label === null || idOf(label) !== null) return null;
  const own = publicUrl === undefined ? null : new URL(publicUrl);
  if (own?.hostname === nameOf(host)) return null;
  const message =
    `There is no deployment at ${host.slice(0, SHOWN_CHARACTERS)}. The host of a deployment is <id>.${domain}, its id being a UUID` +
    `${own === null ? '' : `; the service itself is at ${own.origin}`}.`;
  return new Refusal('not_found', message);
}

function deploymentOfHost({ deploymentDomain }: SurfaceRules, host: string): string | null {
  return idOf(labelOf(deploymentDomain, host) ?? '');
}

/** What a host has before the domain of deployments; null where it is not below that. */
function labelOf(domain: string | undefined, host: string): string | null {
  const name = nameOf(host);
  return domain !== undefined && name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : null;
}

/** Names are compared without case, without a port, and without the dot that ends a fully qualified one (RFC 4343, 1034). */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

/** The id that a path segment or a label spells, in any case and any percent-encoding (RFC 3986, 6.2.2). */
function idOf(segment: string): string | null {
  let text = segment;
  try {
    text = decodeURIComponent(segment);
  } catch {
    return null;
  }
  return isUuid(text) ? text.toLowerCase() : null;
}
