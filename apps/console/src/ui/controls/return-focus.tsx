import { useEffect, useState } from 'react';

/**
 * Inside of a dialog: when it has gone, the focus goes back to where it was, or to the content where that has gone, too. A dialog that is
 * taken out of the page to close it leaves the focus nowhere.
 */
export function ReturnFocus(): null {
  const [from] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (document.activeElement !== document.body) return;
      const to = from instanceof HTMLElement && from.isConnected ? from : document.getElementById('main');
      to?.focus({ preventScroll: true });
    },
    [from],
  );
  return null;
}
