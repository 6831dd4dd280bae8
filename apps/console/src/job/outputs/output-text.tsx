import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Output } from '@millrace/contracts';

/** What is read of a text; the rest is in the download. */
const SHOWN_BYTES = 65_536;

/** The beginning of a text output, as text. */
export function OutputText({ output }: { output: Output }): ReactNode {
  const text = useQuery({
    queryKey: ['output-text', output.id],
    queryFn: async ({ signal }) => {
      const response = await fetch(output.url, { headers: { Range: `bytes=0-${SHOWN_BYTES - 1}` }, signal });
      if (!response.ok) throw new Error(`The text could not be read (${response.status}).`);
      return response.text();
    },
    staleTime: Infinity,
    retry: false,
  });
  if (text.isError) return <p className="output-text soft small">The text cannot be shown here. Download it.</p>;
  return (
    <pre className="output-text" tabIndex={0}>
      {text.data ?? ' '}
      {output.size_bytes > SHOWN_BYTES && '\n…'}
    </pre>
  );
}
