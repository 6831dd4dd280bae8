import { z } from 'zod';
import { setting } from '@millrace/platform';

/** Where the status page has its figures from. */
export const statusSettings = {
  prometheusUrl: setting(
    'PROMETHEUS_URL',
    "Where the Prometheus is that keeps the chart's rules, e.g. http://prometheus.monitoring:9090. Unset: the status page has no figures.",
    z
      .url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
      // As the chart's schema has it, for its value metrics.status.prometheusUrl.
      .regex(/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/, 'must have no user, no query and no fragment')
      .optional(),
  ),
  prometheusNamespace: setting(
    'PROMETHEUS_NAMESPACE',
    'Label `namespace` of this installation in MILLRACE_PROMETHEUS_URL. Unset: that Prometheus knows one installation.',
    z
      .string()
      .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'must be the name of a namespace of Kubernetes')
      .optional(),
  ),
};
