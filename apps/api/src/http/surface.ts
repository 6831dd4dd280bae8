import type { SurfaceKind } from '@millrace/contracts';

/** The face of the service that a request came to, found from its host and path before anything else looks at it. */
export interface Surface {
  kind: SurfaceKind;
  /** Set exactly for deployments. */
  deploymentId: string | null;
  /** Path under which the surface is mounted; part of every host-relative link. Empty where it has the host to itself. */
  prefix: string;
  /** Origin as the client sees it, for absolute links. */
  origin: string;
}

export interface SurfaceRules {
  shared: 'cloud' | 'self_hosted';
  publicUrl: string | undefined;
  deploymentDomain: string | undefined;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const MOUNTED = new RegExp(`^/deployment/(${UUID})(/api/.*)$`, 'i');

/**
 * Tell the surface of a request, and the path that is left when its mount prefix is taken off (contract, section 1).
 *
 * @param host value of the Host header.
 * @param url request target: path and query.
 */
export function resolveSurface(rules: SurfaceRules, host: string, url: string): { surface: Surface; url: string } {
  const origin = rules.publicUrl ?? `http://${host}`;
  const mounted = MOUNTED.exec(url);
  if (mounted?.[1] !== undefined && mounted[2] !== undefined) {
    const deploymentId = mounted[1].toLowerCase();
    const prefix = `/deployment/${mounted[1]}`;
    return { surface: { kind: 'deployment', deploymentId, prefix, origin }, url: mounted[2] };
  }
  const deploymentId = deploymentOfHost(rules.deploymentDomain, host);
  if (deploymentId !== null) {
    const scheme = new URL(origin).protocol;
    return { surface: { kind: 'deployment', deploymentId, prefix: '', origin: `${scheme}//${host}` }, url };
  }
  return { surface: { kind: rules.shared, deploymentId: null, prefix: '', origin }, url };
}

function deploymentOfHost(domain: string | undefined, host: string): string | null {
  if (domain === undefined) return null;
  const name = host.toLowerCase().replace(/:\d+$/, '');
  const label = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : '';
  return new RegExp(`^${UUID}$`).test(label) ? label : null;
}
