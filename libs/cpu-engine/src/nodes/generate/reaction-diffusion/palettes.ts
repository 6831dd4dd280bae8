/** A colour as red, green and blue in 0..1, as displayed. */
export type Colour = readonly [number, number, number];

/** Two runs of colours, each from the ground to the crest, that pass into each other over the picture. */
export interface ColourScheme {
  first: readonly Colour[];
  second: readonly Colour[];
  /** Of the gloss on the crests. */
  light: Colour;
}

const SCHEMES = {
  ember: {
    first: run('2a1033 5b1a4a a02a52 dd5146 f7994d ffe2a1'),
    second: run('101c45 2c3278 6b3f94 b8508e ee7d73 ffd2a8'),
    light: colour('fff1d6'),
  },
  lagoon: {
    first: run('06283d 0b5566 148f8b 5cc7a4 b7ecc0 f7ffe4'),
    second: run('141450 25328f 3565c4 4fa3d9 97dcea f2fdff'),
    light: colour('e9fbff'),
  },
  moss: {
    first: run('17260f 35501a 6a8730 a9bb52 dfdf8f fffbd8'),
    second: run('2b1d10 5a3b1b 93672f c99a52 eccd8d fff5d6'),
    light: colour('fffbe0'),
  },
  orchid: {
    first: run('2c0f45 5f1d7a a1389a df6aa6 f9aec0 fff0ee'),
    second: run('10214f 25459a 5273cf 9296e6 cfc0f5 fbf3ff'),
    light: colour('fff0fb'),
  },
  porcelain: {
    first: run('1d3f7d 3f6bb0 87abd6 c6daec eef2f0 fffdf6'),
    second: run('123a5e 2c7292 6fb0bd b5dbd8 e6f2ea fefff8'),
    light: colour('ffffff'),
  },
} satisfies Record<string, ColourScheme>;

export type PaletteName = keyof typeof SCHEMES;
export const PALETTE_NAMES = Object.keys(SCHEMES) as PaletteName[];

export function colourScheme(name: PaletteName): ColourScheme {
  return SCHEMES[name];
}

/** Colours in hexadecimal. */
function run(colours: string): Colour[] {
  return colours.split(' ').map(colour);
}

function colour(hex: string): Colour {
  const value = parseInt(hex, 16);
  return [(value >> 16) / 255, ((value >> 8) & 0xff) / 255, (value & 0xff) / 255];
}
