import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';

/** The languages of our pages: the word behind the fence, what the reader sees, and its grammar. */
const LANGUAGES = {
  sh: { label: 'Terminal', grammar: bash },
  json: { label: 'JSON', grammar: json },
  nginx: { label: 'nginx', grammar: nginx },
  python: { label: 'Python', grammar: python },
  sql: { label: 'SQL', grammar: sql },
  ts: { label: 'TypeScript', grammar: typescript },
  yaml: { label: 'YAML', grammar: yaml },
} as const;

for (const [name, { grammar }] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, grammar);

/** What stands over a block of this language. */
export function labelOf(language: string): string {
  if (language in LANGUAGES) return LANGUAGES[language as keyof typeof LANGUAGES].label;
  return language === 'output' ? 'Output' : 'Text';
}

/** Code as HTML, its parts marked by classes. Null for text. */
export function highlighted(code: string, language: string): string | null {
  return language in LANGUAGES ? highlighter.highlight(code, { language }).value : null;
}
