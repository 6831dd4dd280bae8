import type pg from 'pg';
import type { SmtpSink } from '../../smtp-sink';
import type { SpendHistory } from '../load';
import { verdictOf, type Verdict } from '../verdict-of';

interface UseRow {
  account_id: string;
  label: string;
  value: string;
  cap: number;
  charged: number;
  /** The highest level of today that was warned of, in percent. */
  warned: number;
}

interface WarningRow {
  account_id: string;
  scope: string;
  value: string | null;
  percent: number;
  day: string;
}

const LEVEL = /^- (\d+) percent of the daily cap of the account, [^(]*\(([\d-]+), UTC\)/gm;

/** Wait until every warning is mailed and every mail is sent: what would come later is made due. */
export async function drainMails(client: pg.Client, limitMs: number): Promise<void> {
  const until = Date.now() + limitMs;
  while (Date.now() < until) {
    await client.query(`UPDATE balances SET spend_mail_at = now() - interval '1 day' WHERE spend_mail_at IS NOT NULL`);
    const { rowCount: mails } = await client.query('UPDATE mail_messages SET due_at = now()');
    const { rows } = await client.query(
      `SELECT FROM label_use WHERE starts_with(label, '@') AND (day_mail > 0 OR month_mail > 0) LIMIT 1`,
    );
    if (mails === 0 && rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  }
}

interface SumRow {
  account_id: string;
  label: string;
  value: string;
  day_micros: string;
  month_micros: string;
  charged: string;
  /** Whether all jobs ended on the day that the counter is of; null where it is of none. */
  is_of_day: boolean | null;
}

/**
 * What caps count as charged is what the records of usage have, of accounts whose caps were there before their first job. Only of those all
 * of whose jobs ended on the day that the counter is of: one that ends around midnight counts where the counter is by then. A run around
 * midnight may leave none of these, which is no failure of it.
 */
export async function spendSumsVerdict(
  client: Pick<pg.Client, 'query'>,
  accounts: readonly string[],
): Promise<Verdict> {
  const { rows } = await client.query<SumRow>(
    `SELECT u.account_id, u.label, u.value, u.day_micros::text, u.month_micros::text, r.charged::text, r.is_of_day
     FROM label_use u CROSS JOIN LATERAL (
       SELECT sum(charged_micros) AS charged, bool_and((finished_at AT TIME ZONE 'UTC')::date = u.day) AS is_of_day FROM usage_records
       WHERE account_id = u.account_id AND (u.label = '@account' OR labels ->> u.label = u.value)) r
     WHERE u.account_id = ANY ($1::uuid[]) AND r.charged > 0`,
    [accounts],
  );
  const compared = rows.filter(({ is_of_day: isOfDay }) => isOfDay !== false);
  const broken = compared.filter((row) => row.day_micros !== row.charged || row.month_micros !== row.charged);
  return verdictOf(
    'caps count what was charged',
    rows.length === 0 ? 0 : compared.length || null,
    broken.map((row) => ({
      subject: row.account_id,
      detail: `${row.label}=${row.value}: ${row.day_micros} today and ${row.month_micros} this month, usage has ${row.charged}`,
    })),
  );
}

/** What must hold of accounts with caps that stop, and of what was mailed. */
export async function spendVerdicts(
  client: pg.Client,
  { spenders, invited }: SpendHistory,
  { mails }: Pick<SmtpSink, 'mails'>,
): Promise<Verdict[]> {
  const accounts = spenders.map(({ accountId }) => accountId);
  const { rows: uses } = await client.query<UseRow>(
    `SELECT u.account_id, u.label, u.value, r.daily_micros::float8 AS cap,
       CASE WHEN u.day = u.warned_on THEN u.day_micros ELSE 0 END::float8 AS charged, u.day_warned AS warned
     FROM label_use u JOIN label_rules r ON r.account_id = u.account_id AND r.label = u.label
     WHERE u.account_id = ANY ($1::uuid[])`,
    [accounts],
  );
  const { rows: warnings } = await client.query<WarningRow>(
    `SELECT e.account_id, m.data ->> 'scope' AS scope, m.data ->> 'value' AS value, (m.data ->> 'percent')::int AS percent,
       to_char(m.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
     FROM webhook_messages m JOIN webhook_endpoints e ON e.id = m.endpoint_id
     WHERE m.type = 'spend.warning' AND e.account_id = ANY ($1::uuid[])`,
    [accounts],
  );
  const warned = uses.filter((use) => use.warned > 0);
  const recorded = new Set(warnings.map(({ account_id: id, value, percent }) => `${id} ${value ?? ''} ${percent}`));
  return [
    await spendSumsVerdict(client, accounts),
    verdictOf(
      'no more is charged than a cap that stops',
      uses.length,
      uses
        .filter(({ charged, cap }) => charged > cap)
        .map((use) => ({ subject: use.account_id, detail: `${use.label}=${use.value}: ${use.charged} of ${use.cap}` })),
    ),
    verdictOf('spend.warning is a message, once for each level', warnings.length, [
      ...twice(warnings.map((one) => `${one.account_id} ${one.scope} ${one.value ?? ''} ${one.percent} ${one.day}`)),
      ...warned
        .filter((use) => !recorded.has(`${use.account_id} ${use.label === '@account' ? '' : use.value} ${use.warned}`))
        .map((use) => ({ subject: use.account_id, detail: `${use.label}=${use.value}: no warning of ${use.warned}` })),
      ...uses
        .filter((use) => use.charged * 2 >= use.cap && use.warned < 50)
        .map((use) => ({
          subject: use.account_id,
          detail: `${use.label}=${use.value}: half is used, without warning`,
        })),
    ]),
    warningMails(spenders, warned, mails),
    verdictOf(
      'an invitation is one mail',
      invited.size,
      [...invited].flatMap((email) => {
        const count = new Set(mails.filter(({ to }) => to.includes(email)).map(idOf)).size;
        return count === 1 ? [] : [{ subject: email, detail: `was sent ${count} mails` }];
      }),
    ),
  ];
}

/** Each level at most once, and the highest that the account came to; one mail may have several. */
function warningMails(
  spenders: SpendHistory['spenders'],
  warned: readonly UseRow[],
  mails: SmtpSink['mails'],
): Verdict {
  let checked = 0;
  const broken = spenders.flatMap(({ accountId, email }) => {
    // A mail that is sent again has the same id.
    const sent = new Map(mails.filter(({ to }) => to.includes(email)).map((mail) => [idOf(mail), mail.text]));
    const levels = [...sent.values()].flatMap((text) => [...text.replaceAll('=\r\n', '').matchAll(LEVEL)]);
    checked += levels.length;
    const highest = warned.find((use) => use.account_id === accountId && use.label === '@account')?.warned;
    const isMissing = highest !== undefined && !levels.some(([, percent]) => Number(percent) === highest);
    return [
      ...twice(levels.map(([, percent, day]) => `${accountId} ${percent} ${day}`)),
      ...(isMissing ? [{ subject: accountId, detail: `no mail of ${highest} percent` }] : []),
    ];
  });
  return verdictOf('a warning of a cap is mailed, once for each level', checked, broken);
}

function twice(keys: readonly string[]): { subject: string; detail: string }[] {
  const more = keys.filter((key, index) => keys.indexOf(key) !== index);
  return more.map((subject) => ({ subject, detail: 'is there more than once' }));
}

function idOf({ text }: { text: string }): string {
  return /^message-id: (\S+)/im.exec(text)?.[1] ?? '';
}
