import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { TerminusModule } from '@nestjs/terminus';
import express from 'express';
import { HealthController, READINESS_CHECKS, type ReadinessCheck } from './health';
import type { Logger } from './logger';
import { Metrics } from './metrics/metrics';
import { NestLogger } from './nest-logger';
import { Shutdown } from './shutdown';
import { BootError } from './boot';
import { createSequentialServer } from './pipelining';

@Module({})
class OpsModule {}

class OpsAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    this.httpServer = createSequentialServer({}, this.getInstance<RequestListener>());
  }
}

export interface OpsListener {
  port: number;
  /** Address of this machine on which it opens. */
  host: string;
  logger: Logger;
  metrics: Metrics;
  shutdown: Shutdown;
  readiness: ReadinessCheck[];
  /** Further routes of this process for operators. */
  modules?: DynamicModule['imports'];
  /** Called before the listener opens. */
  configure?(app: INestApplication): unknown;
}

/** An open listener. */
export interface OpenListener {
  port: number;
  close(): Promise<void>;
}

/**
 * Open a process's ops listener: health, metrics, and the routes of its `modules`. Customers never reach it.
 *
 * @throws BootError when the port is taken.
 */
export async function openOpsListener(parts: OpsListener): Promise<OpenListener> {
  const module: DynamicModule = {
    module: OpsModule,
    imports: [TerminusModule.forRoot({ logger: false }), ...(parts.modules ?? [])],
    controllers: [HealthController],
    providers: [
      { provide: READINESS_CHECKS, useValue: parts.readiness },
      { provide: Metrics, useValue: parts.metrics },
      { provide: Shutdown, useValue: parts.shutdown },
    ],
  };
  const server = express();
  // Express names itself in every answer, and hashes each for an ETag that no client of this listener uses.
  server.disable('x-powered-by');
  server.disable('etag');
  // A path with a slash at its end is another one: who reads the record of an empty id must not get the list of all records. The router
  // reads this once, when the first handler is added.
  server.enable('strict routing');
  const app = await NestFactory.create(module, new OpsAdapter(server), {
    logger: new NestLogger(parts.logger),
    abortOnError: false,
    bodyParser: false,
  });
  app.use((_request: unknown, response: ServerResponse, next: () => void) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    next();
  });
  parts.configure?.(app);
  return { port: await listen(app, parts, 'MILLRACE_OPS_PORT'), close: () => app.close() };
}

/**
 * Open a port, 0 for any free one, on an address of this machine.
 *
 * @returns the port that was opened.
 * @throws BootError naming the setting when the port is taken, or the address is not one of this machine.
 */
export async function listen(
  app: INestApplication,
  { host, port }: { host: string; port: number },
  settingName: 'MILLRACE_PORT' | 'MILLRACE_OPS_PORT' | 'MILLRACE_GATEWAY_PORT',
): Promise<number> {
  try {
    await app.listen(port, host);
    return ((app.getHttpServer() as Server).address() as AddressInfo).port;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new BootError(`Port ${port} is in use; set ${settingName} to a free one.`);
    if (code === 'EACCES') throw new BootError(`Port ${port} may not be opened; set ${settingName} to one above 1023.`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAFNOSUPPORT') {
      throw new BootError(
        `This machine has no address ${host}; set ${settingName.replace('PORT', 'HOST')} to one that it has.`,
      );
    }
    throw error;
  }
}
