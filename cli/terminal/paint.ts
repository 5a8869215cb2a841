/** Colours, on a terminal only. */
import { styleText } from 'node:util';

/** What a colour stands for. */
export type Style = 'good' | 'bad' | 'busy' | 'dim' | 'strong';

const formats = {
  good: 'green',
  bad: 'red',
  busy: 'yellow',
  dim: 'gray',
  strong: 'bold',
} as const satisfies Record<Style, Parameters<typeof styleText>[0]>;

/** Paints a text in a style. */
export type Paint = (style: Style, text: string) => string;

/** Colours the text. */
export const inColour: Paint = (style, text) => styleText(formats[style], text, { validateStream: false });

/** Leaves the text as it is. */
export const withoutColour: Paint = (_style, text) => text;
