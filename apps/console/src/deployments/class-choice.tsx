import { useId, type ReactNode } from 'react';
import type { EngineClass } from '../api/engine-classes';
import { formatDuration, formatPrice } from '../ui/format';

interface ClassChoiceProps {
  classes: EngineClass[];
  chosen: string;
  onChoose: (name: string) => void;
}

/** What a deployment runs on: each class with its price first. */
export function ClassChoice({ classes, chosen, onChoose }: ClassChoiceProps): ReactNode {
  const group = useId();
  return (
    <fieldset className="class-choice">
      <legend>Engine class</legend>
      {classes.map((offer) => (
        <label key={offer.name} data-chosen={offer.name === chosen}>
          <input
            type="radio"
            name={group}
            value={offer.name}
            checked={offer.name === chosen}
            onChange={() => onChoose(offer.name)}
          />
          <span>
            <span className="class-price number">{formatPrice(offer.price_micros_per_second)}</span>
            <strong>{offer.title}</strong>
            {offer.description !== '' && <span className="soft small">{offer.description}</span>}
            <span className="soft small">{factsOf(offer)}</span>
          </span>
        </label>
      ))}
      <p className="small faint">Charged is the engine time of jobs.</p>
    </fieldset>
  );
}

function factsOf({ gpu, memory, start_seconds }: EngineClass): string {
  return [
    gpu === null ? 'No GPU' : `${gpu.count} × ${gpu.kind}`,
    ...(memory === null ? [] : [memory]),
    `ready within ${formatDuration(start_seconds * 1_000)}`,
  ].join(' · ');
}
