import type { Express, Request } from 'express';
import { Refusal } from '@millrace/contracts';

interface Layer {
  route?: { path: string; methods: Record<string, boolean> };
  match(path: string): boolean;
}

/** The routes that exist, to distinguish an unknown path from a known one with the wrong method. */
export class RouteTable {
  constructor(private readonly express: Express) {}

  /** Every registered route: method in capitals, and path pattern. */
  list(): { method: string; path: string }[] {
    return this.layers().flatMap(({ route }) =>
      Object.keys(route?.methods ?? {})
        .filter((method) => method !== '_all')
        .map((method) => ({ method: method.toUpperCase(), path: route?.path ?? '' })),
    );
  }

  /** Why no handler took this request: 405 with the methods that exist, or 404. */
  refusalOf(request: Request): Refusal {
    const methods = new Set<string>();
    for (const layer of this.layers()) {
      if (!layer.match(request.path)) continue;
      for (const method of Object.keys(layer.route?.methods ?? {})) methods.add(method.toUpperCase());
    }
    if (methods.has('GET')) methods.add('HEAD');
    if (methods.size === 0) return new Refusal('not_found', `There is nothing at ${request.path.slice(0, 200)}.`);
    const allow = [...methods].sort().join(', ');
    return new Refusal('method_not_allowed', `${request.method} is not supported here; use ${allow}.`, {
      headers: { Allow: allow },
    });
  }

  private layers(): Layer[] {
    const { stack } = this.express.router as unknown as { stack: Layer[] };
    return stack.filter((layer) => layer.route !== undefined);
  }
}
