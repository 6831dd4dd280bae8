import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Controller, Get, Header, Inject } from '@nestjs/common';
import { HealthCheck, HealthCheckService, HealthIndicatorService, type HealthCheckResult } from '@nestjs/terminus';
import { Metrics } from './metrics/metrics';
import { Shutdown } from './shutdown';

/** A condition for taking work; `check` rejects with the reason when it does not hold. */
export interface ReadinessCheck {
  name: string;
  check: () => Promise<void>;
  /** It looks at this process alone, and is made at each probe: who waits for the process learns at once. Others are made every half second. */
  isOwn?: boolean;
}
export const READINESS_CHECKS = Symbol('READINESS_CHECKS');

const CHECK_TIMEOUT_MS = 3_000;
const CHECK_TTL_MS = 500;
/** A process whose event loop is blocked for this long should be replaced. */
const STUCK_LOOP_MS = 20_000;

/** Health and metrics of one process, on its ops listener. */
@Controller()
export class HealthController {
  private readonly loopDelay = monitorEventLoopDelay({ resolution: 50 });

  constructor(
    @Inject(HealthCheckService) private readonly health: HealthCheckService,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
    @Inject(READINESS_CHECKS) private readonly checks: ReadinessCheck[],
    @Inject(Shutdown) private readonly shutdown: Shutdown,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {
    this.loopDelay.enable();
  }

  /** Alive: the event loop runs. The answer has the pid, so that a supervisor knows which process answered. */
  @Get('health/live')
  @HealthCheck()
  async live(): Promise<HealthCheckResult & { pid: number }> {
    const worstMs = this.loopDelay.max / 1e6;
    this.loopDelay.reset();
    const session = this.indicators.check('event_loop');
    const result = await this.health.check([
      () => (worstMs > STUCK_LOOP_MS ? session.down({ worstMs }) : session.up({ worstMs })),
    ]);
    return { ...result, pid: process.pid };
  }

  /** Started: the process listens only after it has checked the schema. */
  @Get('health/startup')
  @HealthCheck()
  startup(): Promise<HealthCheckResult> {
    return this.health.check([() => this.indicators.check('schema').up()]);
  }

  /** Ready: PostgreSQL answers and the process is not stopping. Redis and the blob store are not checked. */
  @Get('health/ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    const stopping = this.indicators.check('stopping');
    return this.health.check([
      () => (this.shutdown.begun ? stopping.down('the process is stopping') : stopping.up()),
      ...this.checks.map(({ name, check, isOwn = false }) => () => {
        const attempt = this.indicators.check(name).attempt(check).withTimeout(CHECK_TIMEOUT_MS);
        return isOwn ? attempt : attempt.cacheFor(CHECK_TTL_MS);
      }),
    ]);
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  scrape(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
