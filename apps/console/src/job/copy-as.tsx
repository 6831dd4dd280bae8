import type { ReactNode } from 'react';
import { Tabs } from '@base-ui/react/tabs';
import { useQuery } from '@tanstack/react-query';
import { jobWorkflowQuery, type JobPlace } from '../api/jobs';
import { graphTextOf } from '../graph';
import { Button } from '../ui/controls/button';
import { CodeBlock } from '../ui/display/code-block';
import { Icon } from '../ui/controls/icon';
import { Modal } from '../ui/controls/modal';
import { saveText } from '../ui/save-text';
import { snippetsOf } from './snippets';
import './copy-as.css';

/** The same job from a program: its graph as a file, and what sends it. */
export function CopyAs({ place, onClose }: { place: JobPlace; onClose: () => void }): ReactNode {
  const workflow = useQuery(jobWorkflowQuery(place));
  const snippets = snippetsOf(window.location.origin, place.deployment);
  return (
    <Modal title="Run this graph from a program" open onClose={onClose}>
      <div className="copy-step">
        <p>Save the graph beside your program. It is the text that was submitted: no digit of a seed is lost.</p>
        <Button
          icon={<Icon name="download" />}
          disabled={workflow.data === undefined}
          onClick={() => saveText('graph.json', graphTextOf(workflow.data ?? ''))}
        >
          graph.json
        </Button>
      </div>
      <Tabs.Root defaultValue={snippets[0]?.name}>
        <Tabs.List className="tabs">
          {snippets.map(({ name }) => (
            <Tabs.Tab key={name} value={name} className="tab">
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ name, file, text }) => (
          <Tabs.Panel key={name} value={name} className="tab-panel">
            <CodeBlock label={file} text={text} />
          </Tabs.Panel>
        ))}
      </Tabs.Root>
    </Modal>
  );
}
