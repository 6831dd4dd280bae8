import { Global, Module } from '@nestjs/common';
import { OpenStreams, StreamChores, Streams } from '../streams';
import { Callers, DemoCallers, SessionCallers } from './callers';
import { RequestLimits } from './request-limits';

const PROVIDERS = [Callers, DemoCallers, SessionCallers, RequestLimits, OpenStreams, Streams, StreamChores];

/** What the endpoints of the public listener stand on: who calls, how much a caller may ask for, and event streams. */
@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class EndpointsModule {}
