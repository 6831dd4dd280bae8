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
    const { path } = request;
    const methods = this.methodsOf((layer) => layer.match(path));
    if (methods.size > 0) return methodNotAllowed(request, methods);
    const isSlashed = path.endsWith('/') && this.methodsOf((layer) => layer.match(path.slice(0, -1))).size > 0;
    const cure = isSlashed ? ': put the id behind the slash, or leave the slash out' : '';
    return new Refusal('not_found', `There is nothing at ${path.slice(0, 200)}${cure}.`);
  }

  /**
   * 405 for a path that has operations of its own, none of them with this method, and that was taken for the id of a record:
   * GET of `/assets/from-hash`. Null for every other request.
   */
  refusalOfId(request: Request): Refusal | null {
    const methods = this.methodsOf(({ route }) => route?.path === request.path);
    return methods.size === 0 || methods.has(request.method) ? null : methodNotAllowed(request, methods);
  }

  private methodsOf(fits: (layer: Layer) => boolean): Set<string> {
    const fitting = this.layers().filter(fits);
    const methods = new Set(fitting.flatMap(({ route }) => Object.keys(route?.methods ?? {})).map(upperCase));
    if (methods.has('GET')) methods.add('HEAD');
    return methods;
  }

  private layers(): Layer[] {
    const { stack } = this.express.router as unknown as { stack: Layer[] };
    return stack.filter((layer) => layer.route !== undefined);
  }
}

function methodNotAllowed({ method }: Request, methods: ReadonlySet<string>): Refusal {
  const allow = [...methods].sort().join(', ');
  const message = `${method} is not supported here; use ${allow}.`;
  return new Refusal('method_not_allowed', message, { headers: { Allow: allow } });
}

function upperCase(method: string): string {
  return method.toUpperCase();
}
