import type { ReactNode } from 'react';
import { Icon } from '../ui/controls/icon';

/** How to export a graph that can run: what the editor saves is its drawing. */
export function UiFormatNote(): ReactNode {
  return (
    <div className="note" role="alert">
      <Icon name="warning" />
      <div>
        <strong>This file is the editor’s own format</strong>
        <p>It holds where nodes are drawn, not what the engine runs. Export the graph for the API:</p>
        <ol>
          <li>Open the file in ComfyUI.</li>
          <li>
            Choose <b>Workflow › Export (API)</b>. In older versions: turn on <b>Dev mode</b> in the settings, then{' '}
            <b>Save (API Format)</b>.
          </li>
          <li>Drop the new file here.</li>
        </ol>
      </div>
    </div>
  );
}
