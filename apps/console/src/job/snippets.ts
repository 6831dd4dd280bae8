import { surfaceOf } from '../api/client';

interface Snippet {
  name: string;
  file: string;
  text: string;
}

/** How to run `graph.json` on this service: by curl, both official clients, and the command line. */
export function snippetsOf(origin: string, deployment: string | undefined): Snippet[] {
  const base = `${origin}${surfaceOf(deployment)}`;
  const key = 'export MILLRACE_API_KEY=mr_live_...   # your key';
  return [
    {
      name: 'curl',
      file: 'Terminal',
      text: `${key}

(printf '{"workflow": '; cat graph.json; printf '}') |
  curl -s ${base}/api/v2/jobs \\
    -H "Authorization: Bearer $MILLRACE_API_KEY" \\
    -H 'Content-Type: application/json' \\
    -H "Idempotency-Key: $(uuidgen)" \\
    --data-binary @-`,
    },
    {
      name: 'TypeScript',
      file: 'npm install @comfyorg/sdk',
      text: `import { Comfy } from '@comfyorg/sdk';

// COMFY_BASE_URL=${base}
const client = new Comfy({ apiKey: process.env.MILLRACE_API_KEY });
const workflow = await client.workflows.fromFile('graph.json');
const job = await client.run(workflow);
for (const output of job.outputs) await output.toFile(output.name);`,
    },
    {
      name: 'Python',
      file: 'pip install comfy-sdk',
      text: `import os
from comfy_sdk import Comfy

# COMFY_BASE_URL=${base}
client = Comfy(api_key=os.environ["MILLRACE_API_KEY"])
job = client.run(client.workflows.from_file("graph.json"))`,
    },
    {
      name: 'CLI',
      file: 'Terminal',
      text: `export MILLRACE_URL=${base}
${key}

millrace run graph.json --out ./out`,
    },
  ];
}
