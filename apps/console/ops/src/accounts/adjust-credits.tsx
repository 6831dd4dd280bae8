import { useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { isUnanswered, sendOnce } from '../../../src/api/idempotency-key';
import { Button } from '../../../src/ui/controls/button';
import { Field } from '../../../src/ui/controls/field';
import { Modal } from '../../../src/ui/controls/modal';
import { Caution } from '../../../src/ui/display/caution';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { notify } from '../../../src/ui/display/notices';
import { faultOfSignedAmount, signedAmountOf } from '../../../src/ui/amount-text';
import { formatCredits } from '../../../src/ui/format';
import { adjustCredits, balanceQuery } from '../api/accounts';

/** Grants credits, or takes some back, with a reason for the ledger. Sending it twice does it once. */
export function AdjustCredits({ accountId, onClose }: { accountId: string; onClose: () => void }): ReactNode {
  const [credits, setCredits] = useState('');
  const [reason, setReason] = useState('');
  const act = `adjust the credits of ${accountId}`;
  const client = useQueryClient();
  const adjust = useMutation({
    mutationFn: (amount: number) => {
      const adjustment = { amount_micros: amount, reason: reason.trim() };
      return sendOnce(act, (key) => adjustCredits(accountId, adjustment, key));
    },
    onSuccess: (balance) => {
      client.setQueryData(balanceQuery(accountId).queryKey, balance);
      notify(`The account has ${formatCredits(balance.available_micros)} credits available`);
      onClose();
    },
  });
  const micros = signedAmountOf(credits);
  const isSure = micros !== null && !Number.isNaN(micros);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isSure) adjust.mutate(micros);
  };
  return (
    <Modal
      title="Grant credits, or take some back"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Do nothing</Button>
          <Button type="submit" form="adjust" kind="primary" busy={adjust.isPending} disabled={!isSure}>
            {credits.trim().startsWith('-') ? 'Take the credits back' : 'Grant the credits'}
          </Button>
        </>
      }
    >
      <form id="adjust" className="panel-body" onSubmit={submit}>
        <Field
          label="Credits"
          note="Below zero takes some back. Spent and held credits are never taken."
          error={faultOfSignedAmount(credits)}
        >
          {(ids) => (
            <input
              {...ids}
              className="input number"
              inputMode="text"
              required
              value={credits}
              onChange={(event) => setCredits(event.target.value)}
            />
          )}
        </Field>
        <Field label="Reason" note="It stands in the account's ledger and in the audit log.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              required
              maxLength={200}
              pattern=".*\S.*"
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
      </form>
      {adjust.isError && <ErrorNote error={adjust.error} title="It was refused" />}
      {isUnanswered(act) && !adjust.isPending && (
        <Caution>
          The last adjustment of this account has no answer yet. Compare the available credits. The same credits and
          reason, sent again, count once; others are refused once if the last adjustment was made.
        </Caution>
      )}
    </Modal>
  );
}
