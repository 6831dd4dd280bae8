import { useState, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  EXPORT_DELIVERIES,
  enableExports,
  exportDaysQuery,
  exportDeliveriesQuery,
  exportDestinationQuery,
  exportFile,
  removeExportDestination,
  testExportDestination,
  type ExportDelivery,
  type ExportDestination,
} from '../api/exports';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Sign } from '../ui/display/status';
import { notify } from '../ui/display/notices';
import { formatExactCredits } from '../ui/format';
import { ExportDestinationDialog } from './export-destination-dialog';

/** Files of each day for finance: to download, and where they are written by themselves. */
export function ExportsPanel(): ReactNode {
  const [setting, setSetting] = useState(false);
  const mayWrite = useSession().may('keys:admin');
  const days = useQuery(exportDaysQuery);
  const destination = useQuery(exportDestinationQuery);
  const place = destination.data ?? null;
  const since = days.data?.at(-1)?.day;
  const deliveries = useQuery({ ...exportDeliveriesQuery(since), enabled: place !== null && days.isSuccess });
  const error = days.error ?? destination.error ?? deliveries.error;
  return (
    <section className="panel" aria-labelledby="exports">
      <div className="panel-head">
        <h2 id="exports">Daily exports</h2>
        {mayWrite && destination.isSuccess && (
          <Button onClick={() => setSetting(true)}>
            {place === null ? 'Write them to a bucket' : 'Change the bucket'}
          </Button>
        )}
      </div>
      {error !== null && <ErrorNote error={error} onRetry={() => days.refetch()} />}
      {place !== null && <Destination destination={place} deliveries={deliveries.data ?? []} mayWrite={mayWrite} />}
      <p className="table-note soft">
        Usage and ledger of each day as CSV, in the columns of FOCUS:{' '}
        <Link to="/docs/$" params={{ _splat: 'exports' }}>
          exports for finance
        </Link>
        .
      </p>
      {days.data !== undefined && (
        <div className="table-box" tabIndex={0} role="region" aria-label="Days">
          <table className="figures">
            <thead>
              <tr>
                <th scope="col" className="left">
                  Day (UTC)
                </th>
                <th scope="col">Jobs</th>
                <th scope="col">Credits</th>
                <th scope="col" className="left">
                  Files
                </th>
                <th scope="col" className="left">
                  Delivery
                </th>
              </tr>
            </thead>
            <tbody>
              {days.data.map(({ day, usage }) => (
                <tr key={day}>
                  <th scope="row" className="left">
                    {day}
                  </th>
                  <td>{usage.rows}</td>
                  <td>{formatExactCredits(usage.charged_micros)}</td>
                  <td className="left export-files">
                    <a href={exportFile(day, 'usage')} aria-label={`Usage of ${day}`} download>
                      usage
                    </a>{' '}
                    <a href={exportFile(day, 'ledger')} aria-label={`Ledger of ${day}`} download>
                      ledger
                    </a>
                  </td>
                  <td className="left">
                    <DeliverySign delivery={deliveries.data?.find((made) => made.day === day)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {setting && <ExportDestinationDialog onClose={() => setSetting(false)} />}
    </section>
  );
}

interface DestinationProps {
  destination: ExportDestination;
  /** Newest first. */
  deliveries: readonly ExportDelivery[];
  mayWrite: boolean;
}

function Destination({ destination, deliveries, mayWrite }: DestinationProps): ReactNode {
  const client = useQueryClient();
  const refresh = async (): Promise<void> => {
    await client.invalidateQueries({ queryKey: exportDestinationQuery.queryKey });
    await client.invalidateQueries({ queryKey: EXPORT_DELIVERIES });
  };
  const test = useMutation({ mutationFn: testExportDestination, onSuccess: refresh });
  const enable = useMutation({ mutationFn: enableExports, onSuccess: refresh });
  const remove = useMutation({
    mutationFn: removeExportDestination,
    onSuccess: async () => {
      notify('Exports are no longer written');
      await refresh();
    },
  });
  const tested = deliveries.find(({ day }) => day === null);
  const { bucket, prefix, enabled, disabled_reason: reason, failing_since: failing } = destination;
  const error = test.error ?? enable.error ?? remove.error;
  return (
    <div className="export-destination">
      <span className="mono clip">
        {bucket === null ? `the service's bucket, ${prefix}` : `s3://${bucket}/${prefix}`}
      </span>
      {!enabled && (
        <Sign tone={reason === 'failing' ? 'bad' : 'rest'} icon={reason === 'failing' ? 'warning' : 'stop'}>
          {reason === 'failing' ? 'Disabled: failing' : 'Disabled'}
        </Sign>
      )}
      {enabled && (
        <Sign tone={failing === null ? 'good' : 'warn'} icon={failing === null ? 'check' : 'warning'}>
          {failing === null ? 'Enabled' : 'Failing'}
        </Sign>
      )}
      {mayWrite && (
        <>
          <Button busy={test.isPending} onClick={() => test.mutate()}>
            Test
          </Button>
          <Button busy={enable.isPending} onClick={() => enable.mutate(!enabled)}>
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            Remove
          </Button>
        </>
      )}
      {tested !== undefined && (
        <span className="small soft export-tested" role="status">
          {testText(tested)}
        </span>
      )}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}

function testText({ state, attempts }: ExportDelivery): string {
  if (state === 'pending') return 'A test is on its way.';
  return state === 'delivered' ? 'The last test was written.' : `The last test failed. ${attempts.at(-1)?.error ?? ''}`;
}

function DeliverySign({ delivery }: { delivery: ExportDelivery | undefined }): ReactNode {
  if (delivery === undefined) return <span className="faint">–</span>;
  const { state, attempts } = delivery;
  if (state === 'delivered') return <span>written</span>;
  return <span title={attempts.at(-1)?.error ?? undefined}>{state === 'pending' ? 'waits' : 'given up'}</span>;
}
