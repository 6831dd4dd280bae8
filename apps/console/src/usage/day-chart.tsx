import type { ReactNode } from 'react';
import type { UsageReport } from '../api/credits';
import { daysOf, formatDay, formatMeasure, type Measure } from './usage-rows';

const HEIGHT = 100;
/** Of a day's width of 1. */
const BAR_WIDTH = 0.7;
/** Of the height: a day with any use is seen. */
const LEAST = 1.5;

/** A bar for each day. The table beside it says the same to those who do not see it. */
export function DayChart({ report, measure }: { report: UsageReport; measure: Measure }): ReactNode {
  const days = daysOf(report);
  const most = days.reduce((top, day) => (day[measure] > top[measure] ? day : top), {
    day: '',
    jobs: 0,
    billable_ms: 0,
    charged_micros: 0,
  });
  const heightOf = (value: number): number => (value === 0 ? 0 : Math.max(LEAST, (value / most[measure]) * HEIGHT));
  return (
    <figure className="day-chart">
      <figcaption className="small soft number">Most on a day: {formatMeasure(most, measure)}</figcaption>
      <svg
        viewBox={`0 0 ${days.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Usage of ${days.length} days. The table below has its figures.`}
      >
        {days.map((use, index) => (
          <rect
            key={use.day}
            x={index + (1 - BAR_WIDTH) / 2}
            y={HEIGHT - heightOf(use[measure])}
            width={BAR_WIDTH}
            height={heightOf(use[measure])}
          >
            <title>{`${formatDay(use.day)}: ${formatMeasure(use, measure)}`}</title>
          </rect>
        ))}
      </svg>
      <p className="day-axis small faint" aria-hidden="true">
        <span>{formatDay(report.from)}</span>
        <span>{formatDay(report.to)}, UTC</span>
      </p>
    </figure>
  );
}
