import { join } from 'node:path';
import { html, pageStyle, type Html } from '../pages';
import type { Component, ComponentName, ServiceState } from './service-levels';
import type { ServiceStatus } from './status.service';

const STYLE = pageStyle([join(__dirname, 'status.css')]);

/** What the page may load and do. */
export const STATUS_POLICY = STYLE.policy;

const HEADINGS: Record<ServiceState, string> = {
  operational: 'Everything works',
  unknown: 'How the service does is not known',
  degraded: 'Some things work less well than promised',
  disrupted: 'The service is disrupted',
};
const WORDS: Record<ServiceState, string> = {
  operational: 'Works',
  unknown: 'Not known',
  degraded: 'Less well than promised',
  disrupted: 'Disrupted',
};
const COMPONENT: Record<ComponentName, { title: string; meaning: string }> = {
  requests: { title: 'Requests', meaning: 'requests that were answered, and not with an error of the service' },
  starts: { title: 'Starts', meaning: 'jobs that a worker took in time' },
  jobs: { title: 'Jobs', meaning: 'jobs that did not fail by fault of the service' },
};
/** A day below this was worse than any promise. */
const BAD_DAY = 0.9;
/** A day below this has something to show. */
const GOOD_DAY = 0.999;

/**
 * How the service does, as a page to read: no scripts, nothing from elsewhere, read again every minute.
 *
 * @param isKept whether this installation keeps figures at all
 */
export function statusPage({ state, levels }: ServiceStatus, isKept: boolean): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="refresh" content="60" />
        <title>${HEADINGS[state]}: status</title>
        ${STYLE.element}
      </head>
      <body>
        <main>
          <h1 class="${state}">${HEADINGS[state]}</h1>
          ${levels === null ? withoutFigures(isKept) : html`${levels.components.map(section)}${footer(levels.asOf)}`}
        </main>
      </body>
    </html> `;
  return page.text;
}

function withoutFigures(isKept: boolean): Html {
  if (isKept)
    return html`<p class="lead">The figures cannot be read at the moment. This page answers, so requests do.</p>`;
  return html`<p class="lead">
    This installation keeps no figures: its operator can name a Prometheus with <code>MILLRACE_PROMETHEUS_URL</code>.
  </p>`;
}

function section({ name, state, lastDay, last30Days, days }: Component): Html {
  const { title, meaning } = COMPONENT[name];
  return html`<section>
    <h2>${title} <span class="state ${state}">${WORDS[state]}</span></h2>
    <p>
      <strong>${percent(lastDay)}</strong> in the last 24 hours, <strong>${percent(last30Days)}</strong> in 30 days:
      ${meaning}.
    </p>
    <ol class="days" aria-label="The last 30 days, the oldest first">
      ${days.map(day)}
    </ol>
  </section>`;
}

function day({ date, share }: Component['days'][number]): Html {
  const text = share === null ? `${date}: nothing came` : `${date}: ${percent(share)}`;
  return html`<li class="${kindOf(share)}" title="${text}"><span>${text}</span></li>`;
}

function kindOf(share: number | null): string {
  if (share === null) return 'none';
  if (share < BAD_DAY) return 'bad';
  return share < GOOD_DAY ? 'fair' : 'good';
}

/** Rounded down: what was not all is never shown as all. */
function percent(share: number | null): string {
  return share === null ? '–' : `${(Math.floor(share * 10_000) / 100).toFixed(2)} %`;
}

function footer(asOf: Date): Html {
  return html`<footer>
    <p>
      As of <time datetime="${asOf.toISOString()}">${asOf.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>. Days
      are UTC. The same as JSON: <a href="/platform/v1/status">/platform/v1/status</a>.
    </p>
  </footer>`;
}
