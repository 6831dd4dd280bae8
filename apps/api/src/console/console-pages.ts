import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { ContentService } from '@millrace/assets';
import { Refusal } from '@millrace/contracts';
import type { RequestLimits } from '../endpoints';
import { contextOf } from '../http';
import type { ConsoleFile, ConsoleFiles } from './console-files';
import { consoleHeaders } from './console-headers';

/** Where the console of accounts is, on the public listener. */
export const CONSOLE_PATH = '/console';
/** Where the operators' console is, on the ops listener. On the public one it is no page of the other console. */
export const OPS_CONSOLE_PATH = `${CONSOLE_PATH}/ops`;
const RESERVED = OPS_CONSOLE_PATH.slice(CONSOLE_PATH.length);
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * Serves a console's files to anyone, within the rate of an address. They are middleware and not endpoints: a page has any path
 * below the console's. Where nothing was built, and on the host of a deployment, there is nothing.
 */
export class ConsolePages {
  private headers: Promise<Record<string, string>> | undefined;

  constructor(
    private readonly files: ConsoleFiles,
    private readonly limits: RequestLimits,
    private readonly content: Pick<ContentService, 'linkOrigin'>,
    private readonly path: typeof CONSOLE_PATH | typeof OPS_CONSOLE_PATH = CONSOLE_PATH,
  ) {}

  /** For its path. Passes on what is not there, and errors. */
  readonly handle: RequestHandler = (request, response, next) => {
    this.answer(request, response, next).catch(next);
  };

  private async answer(request: Request, response: Response, next: NextFunction): Promise<void> {
    const file = contextOf(request).surface.deploymentId === null ? this.find(pathOf(request)) : null;
    if (file === null) return next();
    // Names the route in the metrics.
    request.route = { path: this.path };
    if (request.method !== 'GET' && request.method !== 'HEAD') throw notSupported(request);
    this.limits.takeFile(request);
    if (isFolderItself(request)) {
      response.writeHead(308, { Location: `${this.path}/`, 'Content-Length': '0' }).end();
      return;
    }
    response.set(await this.policy());
    if (!(await this.send(request, response, file))) next();
  }

  private find(path: string): ConsoleFile | null {
    const isReserved = this.path === CONSOLE_PATH && (path === RESERVED || path.startsWith(`${RESERVED}/`));
    return isReserved ? null : this.files.find(path);
  }

  private async send(request: Request, response: Response, file: ConsoleFile): Promise<boolean> {
    const encoding = file.encodings.find((known) => request.acceptsEncodings(known) === known) ?? null;
    const bytes = await this.files.read(file, encoding);
    if (bytes === null) return false;
    response.set({
      'Content-Type': file.type,
      'Content-Length': String(bytes.length),
      'Cache-Control': file.immutable ? FOR_EVER : 'no-cache',
      Vary: 'Accept-Encoding',
      ...(encoding === null ? {} : { 'Content-Encoding': encoding }),
    });
    response.end(request.method === 'HEAD' ? undefined : bytes);
    return true;
  }

  /** The store is asked once; where that fails, the next request asks again. */
  private policy(): Promise<Record<string, string>> {
    this.headers ??= this.content.linkOrigin().then(consoleHeaders);
    this.headers.catch(() => (this.headers = undefined));
    return this.headers;
  }
}

/** Below the console, decoded. A path that cannot be decoded is of no file. */
function pathOf({ path }: Request): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Asked without the slash at its end, from which the page's own addresses start. */
function isFolderItself({ baseUrl, originalUrl }: Request): boolean {
  return originalUrl.split('?')[0] === baseUrl;
}

function notSupported({ method }: Request): Refusal {
  const headers = { Allow: 'GET, HEAD' };
  return new Refusal('method_not_allowed', `${method} is not supported here; use GET.`, { headers });
}
