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

type Edits = Partial<Record<AccountLimitField, string>>;

/** Changes the limits; what is left empty is the service's default. What is not changed is not sent: another operator may have changed it meanwhile. */
export function ChangeLimits({ account, onClose }: { account: Account; onClose: () => void }): ReactNode {
  const [edits, setEdits] = useState<Edits>({});
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => changeAccount(account.id, changesOf(edits)),
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
                value={edits[field] ?? account[field] ?? ''}
                onChange={(event) => setEdits({ ...edits, [field]: event.target.value })}
              />
            )}
          </Field>
        ))}
      </form>
      {change.isError && <ErrorNote error={change.error} title="It was refused" />}
    </Modal>
  );
}

function changesOf(edits: Edits): AccountChanges {
  return Object.fromEntries(Object.entries(edits).map(([field, text]) => [field, text === '' ? null : Number(text)]));
}
