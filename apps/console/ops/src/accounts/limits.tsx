import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ACCOUNT_LIMITS, type AccountLimitField } from '@millrace/contracts';
import { Button } from '../../../src/ui/controls/button';
import { Field } from '../../../src/ui/controls/field';
import { Modal } from '../../../src/ui/controls/modal';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { Fact, Facts } from '../../../src/ui/display/facts';
import { notify } from '../../../src/ui/display/notices';
import { capital } from '../../../src/ui/format';
import { accountQuery, changeAccount, type Account, type AccountChanges } from '../api/accounts';

const labelOf = (field: AccountLimitField): string => capital(field.replaceAll('_', ' '));

/** The account's own limits; all others are the service's. */
export function LimitFacts({ account }: { account: Account }): ReactNode {
  return (
    <Facts>
      {ACCOUNT_LIMITS.map(({ field }) => (
        <Fact key={field} name={labelOf(field)}>
          {account[field]?.toLocaleString() ?? <span className="faint">Default</span>}
        </Fact>
      ))}
    </Facts>
  );
}

type Draft = Record<AccountLimitField, string>;

/** Changes the limits; what is left empty is the service's default. */
export function ChangeLimits({ account, onClose }: { account: Account; onClose: () => void }): ReactNode {
  const [draft, setDraft] = useState<Draft>(() => draftOf(account));
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => changeAccount(account.id, changesOf(account, draft)),
    onSuccess: (changed) => {
      client.setQueryData(accountQuery(account.id).queryKey, changed);
      notify('The limits are changed');
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Modal
      title={`Limits of “${account.name}”`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Do nothing</Button>
          <Button type="submit" form="limits-form" kind="primary" busy={change.isPending}>
            Change the limits
          </Button>
        </>
      }
    >
      <form id="limits-form" className="panel-body" onSubmit={submit}>
        {ACCOUNT_LIMITS.map(({ field, least, most, description }) => (
          <Field key={field} label={labelOf(field)} note={description}>
            {(ids) => (
              <input
                {...ids}
                className="input number"
                type="number"
                min={least}
                max={most}
                step={1}
                placeholder="Default"
                value={draft[field]}
                onChange={(event) => setDraft({ ...draft, [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </form>
      {change.isError && <ErrorNote error={change.error} title="It was refused" />}
    </Modal>
  );
}

function draftOf(account: Account): Draft {
  return Object.fromEntries(ACCOUNT_LIMITS.map(({ field }) => [field, String(account[field] ?? '')])) as Draft;
}

/** Only what differs, so that what another operator changed meanwhile stays. */
function changesOf(account: Account, draft: Draft): AccountChanges {
  const valueOf = (field: AccountLimitField): number | null => (draft[field] === '' ? null : Number(draft[field]));
  const changed = ACCOUNT_LIMITS.filter(({ field }) => valueOf(field) !== account[field]);
  return Object.fromEntries(changed.map(({ field }) => [field, valueOf(field)]));
}
