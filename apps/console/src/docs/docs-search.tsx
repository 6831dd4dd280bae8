import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { ErrorNote } from '../ui/display/error-note';
import { Icon } from '../ui/controls/icon';
import { loadSearch } from './load-search';

const SHOWN = 8;

/** A search over all pages. Its index is loaded when somebody begins to search. */
export function DocsSearch(): ReactNode {
  const { history } = useRouter();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [wanted, setWanted] = useState(false);
  const search = useQuery({
    queryKey: ['docs-search'],
    queryFn: loadSearch,
    staleTime: Infinity,
    retry: false,
    enabled: wanted,
  });
  const found = (text.trim() === '' ? undefined : search.data?.find(text))?.slice(0, SHOWN) ?? [];
  const current = Math.min(at, found.length - 1);
  const open = (id: string | undefined): void => {
    if (id === undefined) return;
    setText('');
    history.push(`/console/docs/${id}`);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') open(found[current]?.id);
    else if (event.key === 'Escape') setText('');
    else if (event.key === 'ArrowDown' && found.length > 0) setAt((current + 1) % found.length);
    else if (event.key === 'ArrowUp' && found.length > 0) setAt((current + found.length - 1) % found.length);
    else return;
    event.preventDefault();
  };
  const isOpen = text.trim() !== '' && search.isSuccess;
  return (
    <div className="docs-search" role="search">
      <label>
        <Icon name="search" />
        <span className="unseen">Search the docs</span>
        <input
          className="input"
          role="combobox"
          aria-expanded={isOpen}
          aria-controls="docs-found"
          aria-activedescendant={isOpen && found.length > 0 ? `docs-found-${current}` : undefined}
          autoComplete="off"
          placeholder="Search the docs"
          value={text}
          onFocus={() => setWanted(true)}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      {search.isError && <ErrorNote error={search.error} onRetry={() => search.refetch()} />}
      <ul id="docs-found" role="listbox" aria-label="Found in the docs" hidden={!isOpen}>
        {found.map(({ id, title, page, start }, index) => (
          <li
            key={id}
            id={`docs-found-${index}`}
            role="option"
            aria-selected={index === current}
            onPointerMove={() => setAt(index)}
            onClick={() => open(id)}
          >
            <strong>{title}</strong>
            <span className="small soft"> · {page}</span>
            <p className="small soft clip">{start}</p>
          </li>
        ))}
      </ul>
      {isOpen && found.length === 0 && (
        <p className="docs-found-none small soft">Nothing in the docs has these words.</p>
      )}
    </div>
  );
}
