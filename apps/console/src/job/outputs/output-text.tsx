import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Output } from '@millrace/contracts';
import './output-text.css';

/** What is read of a text; the rest is in the download. */
const SHOWN_BYTES = 65_536;

/** The beginning of a stored text, as text. */
export function OutputText({ output }: { output: Pick<Output, 'id' | 'url' | 'size_bytes'> }): ReactNode {
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
