export { PrometheusClient } from './prometheus.client';
export { StatusModule } from './status.module';
export { StatusService } from './status.service';
