import { Global, Module } from '@nestjs/common';
import { Streams } from '../http';
import { Callers } from './callers';
import { RequestLimits } from './request-limits';

/** What the endpoints of the public listener stand on: who calls, how much a caller may ask for, and event streams. */
@Global()
@Module({ providers: [Callers, RequestLimits, Streams], exports: [Callers, RequestLimits, Streams] })
export class EndpointsModule {}
