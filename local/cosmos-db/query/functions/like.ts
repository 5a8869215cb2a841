/** LIKE: `%` any text, `_` one character, `[a-f]` and `[^a-f]` one of a set. */

const CACHE_SIZE = 64;
const MAX_CACHED_LENGTH = 1024;
const cache = new Map<string, (text: string) => boolean>();

function quote(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}

function translateSet(pattern: string, start: number): { readonly source: string; readonly end: number } | undefined {
  const close = pattern.indexOf(']', start + 1);
  if (close < 0) return undefined;
  const inner = pattern.slice(start + 1, close);
  const negated = inner.startsWith('^');
  const members = (negated ? inner.slice(1) : inner).replace(/[\\\]^[]/g, '\\$&');
  return { source: `[${negated ? '^' : ''}${members}]`, end: close };
}

function translate(pattern: string, escape: string | undefined): string {
  let source = '';
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern.charAt(at);
    const set = character === '[' ? translateSet(pattern, at) : undefined;
    if (character === escape && at + 1 < pattern.length) source += quote(pattern.charAt((at += 1)));
    else if (set !== undefined) {
      source += set.source;
      at = set.end;
    } else if (character === '%') source += '[\\s\\S]*?';
    else if (character === '_') source += '[\\s\\S]';
    else source += quote(character);
  }
  return source;
}

/** A test of texts against a LIKE pattern. */
export function likePattern(pattern: string, escape: string | undefined): (text: string) => boolean {
  const key = `${escape ?? ''}\0${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const expression = new RegExp(`^${translate(pattern, escape)}$`);
  const test = (text: string): boolean => expression.test(text);
  if (key.length > MAX_CACHED_LENGTH) return test;
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(key, test);
  return test;
}
