import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Callers } from './callers';
import { endpointOf } from './served-endpoints';
import { RequestLimits } from './request-limits';
import { admit } from './visitor';

/** Identifies the caller by the rules of the surface, counts the request against its limit, and checks the scope. */
@Injectable()
export class VisitorGuard implements CanActivate {
  constructor(
    private readonly callers: Callers,
    private readonly limits: RequestLimits,
  ) {}

  /** @throws Refusal `unauthorized`, `forbidden`, `not_found`, `rate_limited`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { access, countedAs = 'requests', quota } = endpointOf(context.getHandler());
    if (access.by === 'session') {
      admit(request, { visitor: await this.callers.identifySignedIn(request) });
      return true;
    }
    if (access.by !== 'surface' && access.by !== 'api_key') throw new Error(`nobody visits by ${access.by}`);
    const visitor = { ...(await this.callers.identify(request, access, countedAs)) };
    if (quota !== undefined) this.limits.takeQuota(request, visitor, quota);
    admit(request, { visitor }, async () => {
      visitor.caller = await this.callers.confirm(request, visitor, access);
    });
    return true;
  }
}
