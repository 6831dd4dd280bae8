import { z } from 'zod';
import { setting, sharedSetting, type SettingsOf } from '../settings';

/** Tracing is off unless a collector is named. */
export const tracingSettings = {
  otlpEndpoint: sharedSetting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Origin of an OpenTelemetry collector (OTLP over HTTP), e.g. http://collector:4318. Unset: no traces.',
    z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  ),
  traceSampleRatio: setting(
    'TRACE_SAMPLE_RATIO',
    'Share of requests that are traced, 0 to 1. A job is traced when its submission is.',
    z.coerce
      .number({ error: 'must be a number from 0 to 1' })
      .min(0, 'must be at least 0')
      .max(1, 'must be at most 1')
      .default(0.1),
  ),
};
export type TracingSettings = SettingsOf<typeof tracingSettings>;
