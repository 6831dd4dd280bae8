import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { endpointsOf, type Endpoint } from '../endpoints';

/** What this application serves. Its documents are made from it, so that they describe exactly that. */
@Injectable()
export class ServedApi {
  constructor(private readonly discovery: DiscoveryService) {}

  endpoints(): Endpoint[] {
    return this.discovery.getControllers().flatMap(({ metatype }) => (metatype ? endpointsOf(metatype as never) : []));
  }
}
