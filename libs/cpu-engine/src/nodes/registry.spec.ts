import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NodeCatalogueSchema, type InputSpec } from '@millrace/contracts';
import { CPU_CATALOGUE } from './registry';

/** A class as a real ComfyUI 0.3.64 describes it. */
interface FieldClass {
  input: Record<'required' | 'optional', Record<string, [unknown, Record<string, unknown>?]> | undefined>;
  input_order: Record<'required' | 'optional', string[] | undefined>;
  output: string[];
  output_is_list: boolean[];
  output_name: string[];
  display_name: string | null;
  category: string;
  output_node: boolean;
}

/** Whole numbers beyond the doubles become text first, as our bounds are. */
function readFieldClasses(): Record<string, FieldClass> {
  const text = readFileSync(join(__dirname, '../../../engines/fixtures/object_info.json'), 'utf8');
  return JSON.parse(text.replace(/(?<=: ?)(-?\d{16,})(?=[,}])/g, '"$1"')) as Record<string, FieldClass>;
}

const FIELD = readFieldClasses();
const SHARED = Object.keys(CPU_CATALOGUE).filter((name) => name in FIELD);
const OURS = Object.keys(CPU_CATALOGUE).filter((name) => !(name in FIELD));

function specOf([type, extra = {}]: [unknown, Record<string, unknown>?], required: boolean): InputSpec {
  const options = (Array.isArray(type) ? type : extra['options']) as string[] | undefined;
  const isFile = extra['image_upload'] === true;
  return {
    type: Array.isArray(type) ? 'COMBO' : String(type),
    required,
    ...(isFile ? { file: 'image' as const } : options && { options }),
    ...('min' in extra && { min: String(extra['min']) }),
    ...('max' in extra && { max: String(extra['max']) }),
    ...('default' in extra && { default: extra['default'] }),
    ...('multiline' in extra && { multiline: extra['multiline'] === true }),
  };
}

describe('the catalogue of the CPU engine', () => {
  it('is one by the contract', () => {
    expect(NodeCatalogueSchema.parse(CPU_CATALOGUE)).toEqual(CPU_CATALOGUE);
  });

  it('adds one class of its own to those of the field', () => {
    expect(OURS).toEqual(['MillraceReactionDiffusion']);
    expect(SHARED.length).toBeGreaterThanOrEqual(60);
  });

  it.each(SHARED)('declares %s as the field does', (name) => {
    const theirs = FIELD[name] as FieldClass;
    const ours = CPU_CATALOGUE[name];
    const inputs = (['required', 'optional'] as const).flatMap((kind) =>
      (theirs.input_order[kind] ?? []).map((input) => {
        const declared = theirs.input[kind]?.[input] as [unknown, Record<string, unknown>?];
        return [input, specOf(declared, kind === 'required')];
      }),
    );
    expect(Object.entries(ours?.inputs ?? {})).toEqual(inputs);
    expect(ours?.outputs).toEqual(
      theirs.output.map((type, slot) => ({ type, name: theirs.output_name[slot], list: theirs.output_is_list[slot] })),
    );
    expect(ours).toMatchObject({
      displayName: theirs.display_name ?? name,
      category: theirs.category,
      outputNode: theirs.output_node,
      description: expect.stringMatching(/^[A-Z].*\.$/) as string,
    });
  });
});
