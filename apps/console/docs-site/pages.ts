import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A page: its file below docs/ without `.md`, which is also its address, and its name in the navigation. */
export interface PageName {
  slug: string;
  label: string;
}

export interface PageGroup {
  title: string;
  pages: PageName[];
}

const DECISIONS = 'decisions';

const WRITTEN: readonly { title: string; pages: Record<string, string> }[] = [
  {
    title: 'Using it',
    pages: {
      'api-guide': 'The API in ten minutes',
      batches: 'Batches',
      clients: 'The official clients',
      cli: 'The command line',
      errors: 'Errors',
      retries: 'Retries',
      reuse: 'Reuse',
      models: 'Models',
      webhooks: 'Webhooks',
      mcp: 'The MCP server',
      credits: 'Credits',
      spend: 'Spend caps',
      exports: 'Exports for finance',
      partners: 'Partners',
      members: 'Members',
      erasure: 'Erasure and export',
      deployments: 'Deployments',
    },
  },
  {
    title: 'Running it',
    pages: {
      'self-hosting': 'Self-hosting',
      operations: 'Operations',
      alerts: 'Alerts',
      slo: 'Objectives',
      'remote-workers': 'Workers outside the cluster',
      'cluster-test': 'The test on a real cluster',
      settings: 'Settings',
      security: 'Security',
      'threat-model': 'Threat model',
      questionnaire: 'Security questionnaire',
      reliability: 'Reliability',
      scale: 'Scale',
    },
  },
  {
    title: 'How it works',
    pages: {
      architecture: 'Architecture',
      glossary: 'Glossary',
      contract: 'The contract',
      'wire-supplement': 'The wire supplement',
      'contract-coverage': 'Tests of the contract',
    },
  },
];

/** The site: every page below docs/, in the order in which they are read. */
export function pageGroups(docs: string): PageGroup[] {
  const groups = WRITTEN.map(({ title, pages }) => ({
    title,
    pages: Object.entries(pages).map(([slug, label]) => ({ slug, label })),
  }));
  return [...groups, { title: 'Decisions', pages: decisions(docs) }];
}

/** The list of decisions, then each with the title that it has. */
function decisions(docs: string): PageName[] {
  const files = readdirSync(join(docs, DECISIONS)).filter((name) => /^\d.*\.md$/.test(name));
  return [
    { slug: `${DECISIONS}/README`, label: 'All decisions' },
    ...files.sort().map((name) => {
      const title = /^# (.+)$/m.exec(readFileSync(join(docs, DECISIONS, name), 'utf8'))?.[1];
      if (title === undefined) throw new Error(`docs/${DECISIONS}/${name} has no title.`);
      return { slug: `${DECISIONS}/${name.replace(/\.md$/, '')}`, label: title };
    }),
  ];
}
