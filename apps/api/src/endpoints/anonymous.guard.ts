import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { countAsStranger } from '../http';
import { RequestLimits } from './request-limits';
import { endpointOf } from './served-endpoints';

/**
 * Lets in anyone, within the rate of an address. What proves more (the signature of a link or of a body) is checked by the
 * handler. Health and unknown paths have no guard, so probes of load balancers are never refused.
 */
@Injectable()
export class AnonymousGuard implements CanActivate {
  constructor(private readonly limits: RequestLimits) {}

  /** @throws Refusal `rate_limited`. */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    this.limits.takeAnonymous(request, endpointOf(context.getHandler()).access);
    countAsStranger(request);
    return true;
  }
}
