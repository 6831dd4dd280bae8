import type { Server } from 'node:http';
import { Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express, { type Express } from 'express';
import { NestLogger, type BodiesInFlight, type Connections, type Logger, type Metrics } from '@millrace/platform';
import { EnvelopeFilter } from './envelope.filter';
import { observeRequests } from './observe-requests';
import { PublicAdapter, answerUnreadable } from './public-server';
import { contextMiddleware } from './request-context';
import { RouteTable } from './route-table';
import type { SurfaceRules } from './surface';

@Module({})
class PublicRoot {}

/** What the public application is made of. */
export interface PublicParts {
  modules: NonNullable<DynamicModule['imports']>;
  rules: SurfaceRules;
  logger: Logger;
  metrics: Metrics;
  /** Proxies in front of this listener whose X-Forwarded-For is trusted. */
  trustedProxies: number;
  bodies: BodiesInFlight;
  connections: Connections;
}

/** Make the public application: bare Express under Nest, with nothing on the path of a request that it does not need. */
export async function createPublicApp(parts: PublicParts): Promise<{ app: INestApplication; routes: RouteTable }> {
  const server = express();
  configureExpress(server, parts.trustedProxies);
  // A path with a slash at its end is another one: who reads the record of an empty id must not get the list of all records.
  server.enable('strict routing');
  server.use(observeRequests(parts.metrics));
  server.use(contextMiddleware(parts.rules, parts.bodies));
  const root: DynamicModule = { module: PublicRoot, imports: parts.modules };
  const app = await NestFactory.create(root, new PublicAdapter(server, parts.connections), {
    logger: new NestLogger(parts.logger),
    bodyParser: false,
    abortOnError: false,
  });
  const routes = new RouteTable(server);
  app.useGlobalFilters(new EnvelopeFilter(parts.logger, routes));
  return { app, routes };
}

/** Give the ops application the same request ids and the same errors as the public one. */
export function configureOpsApp(
  app: INestApplication,
  { logger, rules, trustedProxies, bodies }: Pick<PublicParts, 'logger' | 'rules' | 'trustedProxies' | 'bodies'>,
): RouteTable {
  const server = app.getHttpAdapter().getInstance() as Express;
  configureExpress(server, trustedProxies);
  app.use(contextMiddleware(rules, bodies));
  const routes = new RouteTable(server);
  app.useGlobalFilters(new EnvelopeFilter(logger, routes));
  answerUnreadable(app.getHttpServer() as Server);
  return routes;
}

/** No header that names the framework, no work for each answer that nobody uses. */
function configureExpress(server: Express, trustedProxies: number): void {
  server.disable('x-powered-by');
  server.set('etag', false);
  server.set('query parser', 'simple');
  server.set('trust proxy', trustedProxies);
}
