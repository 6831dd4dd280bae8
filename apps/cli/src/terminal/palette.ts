import { styleText } from 'node:util';
import type { Host, Output } from '../process';

export type Style = (text: string) => string;

/** The styles of this program, by meaning. Their input must be sanitized already (`plainLine`). */
export interface Palette {
  strong: Style;
  faint: Style;
  accent: Style;
  good: Style;
  warn: Style;
  bad: Style;
}

const asIs: Style = (text) => text;

/** Styles for a stream: none off a terminal, on a dumb one, or under NO_COLOR (no-color.org). */
export function paletteFor(stream: Output, env: Host['env']): Palette {
  const coloured = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  if (!coloured) return { strong: asIs, faint: asIs, accent: asIs, good: asIs, warn: asIs, bad: asIs };
  return {
    strong: styled('bold'),
    faint: styled('dim'),
    accent: styled('cyan'),
    good: styled('green'),
    warn: styled('yellow'),
    bad: styled('red'),
  };
}

function styled(format: Parameters<typeof styleText>[0]): Style {
  return (text) => styleText(format, text, { validateStream: false });
}
