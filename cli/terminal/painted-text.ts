/** Text with colours, measured by what a terminal shows. */

// eslint-disable-next-line no-control-regex -- colours begin with the escape character
const pieces = /\u001B\[[0-9;]*m|[\s\S]/gu;
const reset = '\u001B[0m';
/** Characters that take two columns: East Asian scripts and pictures. */
const wide = /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]|\p{Emoji_Presentation}/u;

/** The columns that a text takes. */
export function visibleWidth(text: string): number {
  return piecesOf(text).reduce((sum, piece) => sum + widthOf(piece), 0);
}

/** Cuts a text to a number of columns, with an ellipsis in place of what is cut. */
export function cutPainted(text: string, width: number): string {
  if (visibleWidth(text) <= width) return text;
  let used = 0;
  let kept = '';
  for (const piece of piecesOf(text)) {
    used += widthOf(piece);
    if (used > width - 1) break;
    kept += piece;
  }
  return kept.includes('\u001B') ? `${kept}…${reset}` : `${kept}…`;
}

function piecesOf(text: string): readonly string[] {
  return text.match(pieces) ?? [];
}

function widthOf(piece: string): number {
  if (piece.startsWith('\u001B')) return 0;
  return wide.test(piece) ? 2 : 1;
}
